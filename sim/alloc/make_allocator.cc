#include "sim/alloc/make_allocator.h"

#include "sim/alloc/async_allocator.h"
#include "sim/alloc/caching_allocator.h"
#include "sim/alloc/direct_allocator.h"
#include "sim/alloc/ideal_allocator.h"
#include "sim/alloc/knob_values.h"
#include "sim/base/check.h"

namespace tidemark {

std::unique_ptr<Allocator> make_allocator(const AllocatorSettings& settings, DeviceMemory& device,
                                          EventClock& clock,
                                          std::optional<double> memory_fraction) {
  // The allocators without a cache floor the limit, as the asynchronous backend does
  // (docs/rules/allocator.md#17).
  const auto limit = [&](double fraction) {
    return static_cast<Bytes>(fraction * static_cast<double>(device.total_bytes()));
  };
  switch (settings.backend) {
    case Backend::kNative: {
      auto allocator = std::make_unique<CachingAllocator>(settings, device, clock);
      if (memory_fraction) allocator->set_memory_fraction(*memory_fraction);
      return allocator;
    }
    case Backend::kCudaMallocAsync:
      return std::make_unique<AsyncAllocator>(
          settings.version, device, clock,
          memory_fraction ? limit(*memory_fraction) : kUnlimitedBytes);
    case Backend::kNaive:
    case Backend::kIdeal: {
      const double fraction = memory_fraction.value_or(settings.knobs->per_process_memory_fraction);
      const Bytes bytes = fraction < 1 ? limit(fraction) : kUnlimitedBytes;
      if (settings.backend == Backend::kNaive)
        return std::make_unique<DirectAllocator>(device, clock, bytes);
      return std::make_unique<IdealAllocator>(device, clock, bytes);
    }
  }
  TIDEMARK_CHECK(false, "a backend without an allocator");
}

}  // namespace tidemark
