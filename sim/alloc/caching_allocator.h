#pragma once

#include <memory>
#include <optional>

#include "sim/alloc/allocator.h"
#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"
#include "sim/alloc/settings.h"

namespace tidemark {

/// PyTorch's native caching allocator of one device, exact for every setting and version that AllocatorSettings names.
class CachingAllocator final : public Allocator {
 public:
  /// Requires: settings.backend is native; `device` and `clock` outlive the allocator.
  CachingAllocator(const AllocatorSettings& settings, DeviceMemory& device, EventClock& clock);
  ~CachingAllocator() override;

  bool allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) override;
  void free(RequestId id) override;
  void record_stream(RequestId id, StreamId stream) override;
  void empty_cache() override;
  void reset_peak() override;
  void reset_accumulated();
  std::size_t execute(std::span<const Instruction> chunk) override;
  [[nodiscard]] AllocatorStatistics statistics() const override;
  [[nodiscard]] std::vector<SegmentInfo> segments() const override;
  [[nodiscard]] MemorySample sample() const override;

  /// torch.cuda.set_per_process_memory_fraction(). Range: [0, 1].
  void set_memory_fraction(double fraction);
};

}  // namespace tidemark
