#include "sim/run/find_peak.h"

#include "sim/run/levels.h"

namespace tidemark {

PeakResult find_peak(const DeviceResult& device, const Program& program, Bytes MemorySample::*field,
                     bool keep_live) {
  PeakResult peak;
  const std::vector<Event>& events = device.events;
  Bytes highest = 0;
  visit_levels(device, [&](std::uint32_t at, const MemorySample& sample) {
    const Bytes bytes = sample.*field;
    if (bytes > highest) {
      highest = bytes;
      peak.event = at;
    } else if (bytes == highest && highest != 0 && peak.event + 1 == at &&
               events[peak.event].action != Action::kAlloc &&
               events[at].instruction == events[peak.event].instruction) {
      peak.event = at;  // a segment is made for a request, which has its block some events later
    }
  });
  if (peak.event == kNoEvent) return peak;
  peak.phase = device.phases.empty() ? kNoPhase : phase_of(device, peak.event);
  peak.label = device.labels[peak.event];
  peak.time_ns = device.times_ns.empty() ? 0 : device.times_ns[peak.event];
  peak.sample = sample_after(device, peak.event);
  if (!keep_live) return peak;
  peak.live = live_at(device, program, peak.event);
  for (const LiveBlock& block : peak.live)
    peak.by_category[static_cast<std::size_t>(block.category)] += block.block_bytes;
  return peak;
}

}  // namespace tidemark
