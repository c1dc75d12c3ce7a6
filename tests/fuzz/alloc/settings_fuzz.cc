// The reader of PYTORCH_ALLOC_CONF: any text is read or refused, what was read lies in its ranges,
// and the allocator works with it. The first byte chooses the release.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"
#include "sim/alloc/knob_values.h"
#include "sim/alloc/make_allocator.h"
#include "sim/alloc/settings_parser.h"

namespace {

using namespace tidemark;

void demand(bool condition) {
  if (!condition) std::abort();
}

void check_ranges(const AllocatorSettings& settings) {
  demand(settings.knobs->large_segment_bytes > 10 * kMiB);
  demand(settings.knobs->max_split_bytes >= settings.knobs->large_segment_bytes);
  demand(settings.knobs->max_non_split_rounding_bytes >= settings.knobs->large_segment_bytes);
  demand(settings.knobs->garbage_collection_threshold >= 0 &&
         settings.knobs->garbage_collection_threshold < 1);
  demand(settings.knobs->per_process_memory_fraction >= 0 &&
         settings.knobs->per_process_memory_fraction <= 1);
  for (const std::uint32_t divisions : settings.knobs->roundup_power2_divisions) {
    demand((divisions & (divisions - 1)) == 0);
  }
}

void use(const AllocatorSettings& settings) {
  DeviceMemory memory({4 * kGiB, 0, 0, 0});
  TraceClock clock;
  const auto allocator = make_allocator(settings, memory, clock);
  RequestId id = 0;
  for (const Bytes bytes : {Bytes{1}, Bytes{700}, kMiB + 1, 30 * kMiB, 3 * kGiB, 3 * kGiB}) {
    allocator->allocate(id++, bytes, 0, 0);
  }
  for (RequestId each = 0; each < id; ++each) allocator->free(each);
  allocator->empty_cache();
  demand(allocator->sample().reserved == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr unsigned kReleases = kNewestVersion.minor - kOldestVersion.minor + 1;
  const Version version{2, static_cast<std::uint8_t>(kOldestVersion.minor + data[0] % kReleases)};
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    const AllocatorSettings settings = parse_settings("input", text, version).settings;
    demand(parse_settings("input", text, version).settings == settings);
    check_ranges(settings);
    use(settings);
  } catch (const InputError& error) {
    demand(!error.problems().empty());
  }
  return 0;
}
