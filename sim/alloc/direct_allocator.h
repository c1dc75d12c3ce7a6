#pragma once

#include <map>

#include "sim/alloc/simple_allocator.h"

namespace tidemark {

/// `backend:naive`: no cache. Every request is a cudaMalloc of its own, rounded up to the driver's
/// 2 MiB, and every free a cudaFree, which waits for the device; so a block is never pending. What
/// a program pays without a caching allocator. Cost: a device call an instruction; O(log n) in the
/// live requests.
struct DirectBlock {
  std::uint64_t address = 0;
  Bytes requested = 0;
  Bytes bytes = 0;
  StreamId stream = 0;
};
class DirectAllocator final : public SimpleAllocator<DirectAllocator, DirectBlock> {
 public:
  /// Requires: `device` and `clock` outlive the allocator. `limit_bytes`: of what may be held;
  /// kUnlimitedBytes: none.
  DirectAllocator(DeviceMemory& device, EventClock& clock, Bytes limit_bytes)
      : SimpleAllocator(device, clock), limit_bytes_(limit_bytes) {}

  bool allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) override;
  void free(RequestId id) override;
  void record_stream(RequestId /*id*/, StreamId /*stream*/) override {}
  void empty_cache() override {}
  void reset_peak() override;
  [[nodiscard]] AllocatorStatistics statistics() const override { return statistics_; }
  [[nodiscard]] std::vector<SegmentInfo> segments() const override;
  [[nodiscard]] MemorySample sample() const override;

 private:
  void change(StatArray& array, const DirectBlock& block, std::int64_t amount);
  Bytes limit_bytes_;
  AllocatorStatistics statistics_;
  std::map<std::uint64_t, RequestId> by_address_;
};

}  // namespace tidemark
