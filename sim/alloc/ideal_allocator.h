#pragma once

#include "sim/alloc/simple_allocator.h"

namespace tidemark {

/// `backend:ideal`: the bytes that are live, and nothing beside them. No rounding, no holes, no
/// waiting for streams, no device call: whatever another allocator holds above this is rounding,
/// caching or fragmentation. Addresses only rise and mean nothing.
struct IdealBlock {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  StreamId stream = 0;
};
class IdealAllocator final : public SimpleAllocator<IdealAllocator, IdealBlock> {
 public:
  IdealAllocator(DeviceMemory& device, EventClock& clock, Bytes limit_bytes)
      : SimpleAllocator(device, clock), limit_bytes_(limit_bytes) {}

  bool allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) override;
  void free(RequestId id) override;
  void record_stream(RequestId /*id*/, StreamId /*stream*/) override {}
  void empty_cache() override {}
  void reset_peak() override;
  [[nodiscard]] AllocatorStatistics statistics() const override { return statistics_; }
  [[nodiscard]] std::vector<SegmentInfo> segments() const override { return {}; }
  [[nodiscard]] MemorySample sample() const override;

 private:
  Bytes limit_bytes_;
  std::uint64_t next_address_ = DeviceMemory::kVirtualBase;
  AllocatorStatistics statistics_;
};

}  // namespace tidemark
