#include "sim/run/levels.h"

#include <algorithm>
#include <vector>

#include "sim/alloc/knob_values.h"

namespace tidemark {
namespace {

/// What a stretch of the device's memory is.
struct Stretch {
  std::uint64_t address = 0;
  Bytes bytes = 0;
};

void sort_by_address(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.address < b.address; });
}

/// Free memory between active blocks. Neighbours that are free are one block in every segment.
void add_free_blocks(std::vector<Stretch> segments, std::vector<Stretch> active,
                     MemorySample& sample) {
  sort_by_address(segments);
  sort_by_address(active);
  auto block = active.begin();
  for (const Stretch& segment : segments) {
    const std::uint64_t end = segment.address + segment.bytes;
    std::uint64_t free_from = segment.address;
    const auto first = block;
    Bytes free_bytes = 0;
    const auto add = [&](std::uint64_t until) {
      free_bytes += until - free_from;
      sample.largest_free = std::max<Bytes>(sample.largest_free, until - free_from);
    };
    for (; block != active.end() && block->address < end; ++block) {
      add(block->address);
      free_from = block->address + block->bytes;
    }
    add(end);
    if (block != first) sample.inactive_split += free_bytes;
  }
}

}  // namespace

bool events_tell_levels(const AllocatorSettings& settings) {
  return settings.backend == Backend::kNative && !settings.knobs->expandable_segments;
}

MemorySample sample_after(const DeviceResult& device, std::uint32_t event) {
  if (!device.samples.empty()) return device.samples[event];
  constexpr std::uint32_t kWaits = 0x80000000U;  // its owner has dropped it
  std::vector<Stretch> segments;
  std::vector<std::uint32_t> made_by;  // by request: the kAlloc of an active block, plus 1
  for (std::uint32_t at = 0; at <= event; ++at) {
    const Event& entry = device.events[at];
    if (entry.action == Action::kAlloc) {
      if (entry.id >= made_by.size())
        made_by.resize(std::max<std::size_t>(entry.id + 1, made_by.size() * 2));
      made_by[entry.id] = at + 1;
    } else if (entry.action == Action::kFreeRequested) {
      made_by[entry.id] |= kWaits;
    } else if (entry.action == Action::kFreeCompleted) {
      made_by[entry.id] = 0;
    } else if (entry.action == Action::kSegmentAlloc) {
      segments.push_back({entry.address, entry.bytes});
    } else if (entry.action == Action::kSegmentFree) {
      const auto gone = std::find_if(segments.begin(), segments.end(), [&](const Stretch& each) {
        return each.address == entry.address;
      });
      TIDEMARK_CHECK(gone != segments.end(), "a segment is freed that was never made");
      *gone = segments.back();
      segments.pop_back();
    }
  }
  MemorySample sample;
  for (const Stretch& segment : segments) sample.reserved += segment.bytes;
  std::vector<Stretch> active;
  for (const std::uint32_t made : made_by) {
    if (made == 0) continue;
    const Event& alloc = device.events[(made & ~kWaits) - 1];
    const Bytes taken = alloc.units * kMinBlockBytes;
    active.push_back({alloc.address, taken});
    sample.active += taken;
    sample.requested += alloc.bytes;
    if ((made & kWaits) == 0) sample.allocated += taken;
  }
  add_free_blocks(std::move(segments), std::move(active), sample);
  return sample;
}

Bytes block_bytes_of(const DeviceResult& device, std::uint32_t event) {
  if (device.samples.empty()) return device.events[event].units * kMinBlockBytes;
  return device.samples[event].allocated - (event == 0 ? 0 : device.samples[event - 1].allocated);
}

}  // namespace tidemark
