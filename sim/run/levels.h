#pragma once

#include <cstdint>

#include "sim/base/check.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// Whether the events of an allocator with `settings` tell its amounts by themselves: each names
/// its block's size, and a free block is what lies between active ones in a segment. That is
/// PyTorch's own allocator without expandable segments; others take a sample after each event.
bool events_tell_levels(const AllocatorSettings& settings);

/// The amounts right after each event, followed by the events alone: all of a MemorySample but
/// inactive_split and largest_free, which stay 0. Source: docs/rules/snapshots.md#2.
class EventLevels {
 public:
  /// Requires: a kAlloc or a free names its block's size.
  void follow(const Event& event) {
    const Bytes taken = event.units * kMinBlockBytes;
    switch (event.action) {
      case Action::kSegmentAlloc:
        now_.reserved += event.bytes;
        break;
      case Action::kSegmentFree:
        now_.reserved -= event.bytes;
        break;
      case Action::kAlloc:
        now_.active += taken;
        now_.allocated += taken;
        now_.requested += event.bytes;
        break;
      case Action::kFreeRequested:
        now_.allocated -= taken;
        break;
      case Action::kFreeCompleted:
        now_.active -= taken;
        now_.requested -= event.bytes;
        break;
      default:
        break;
    }
  }
  [[nodiscard]] const MemorySample& now() const { return now_; }

 private:
  MemorySample now_;
};

/// Calls `visit(event, sample)` for each event in order. Of a run without samples `sample` is what
/// EventLevels gives. Cost: linear.
template <class Visit>
void visit_levels(const DeviceResult& device, const Visit& visit) {
  const auto count = static_cast<std::uint32_t>(device.events.size());
  if (!device.samples.empty()) {
    TIDEMARK_CHECK(device.samples.size() == count, "a sample an event");
    for (std::uint32_t at = 0; at < count; ++at) visit(at, device.samples[at]);
    return;
  }
  EventLevels levels;
  for (std::uint32_t at = 0; at < count; ++at) {
    levels.follow(device.events[at]);
    visit(at, levels.now());
  }
}

/// All amounts right after `event`. Of a run without samples they are worked out from the events up
/// to it. Requires: `event` < device.events.size(), less than 2^31; without samples, it is no
/// kSegmentAlloc, whose memory no block has yet. Cost: constant with samples, else linear in the
/// events up to it.
MemorySample sample_after(const DeviceResult& device, std::uint32_t event);

/// The size of the block that the kAlloc `event` gave out. Cost: constant.
Bytes block_bytes_of(const DeviceResult& device, std::uint32_t event);

}  // namespace tidemark
