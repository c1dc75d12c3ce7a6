#include "sim/run/find_peak.h"

#include <algorithm>

namespace tidemark {

PeakResult find_peak(const DeviceResult& device, const Program& program, Bytes MemorySample::*field,
                     bool keep_live) {
  PeakResult peak;
  const std::vector<MemorySample>& samples = device.samples;
  const auto highest =
      std::max_element(samples.begin(), samples.end(),
                       [&](const auto& a, const auto& b) { return a.*field < b.*field; });
  if (highest == samples.end() || (*highest).*field == 0) return peak;
  peak.event = static_cast<std::uint32_t>(highest - samples.begin());
  // A segment is made for a request, which has its block some events later.
  const std::vector<Event>& events = device.events;
  while (peak.event + 1 < events.size() && events[peak.event].action != Action::kAlloc &&
         events[peak.event + 1].instruction == events[peak.event].instruction &&
         samples[peak.event + 1].*field == (*highest).*field) {
    ++peak.event;
  }
  peak.phase = device.phases.empty() ? kNoPhase : phase_of(device, peak.event);
  peak.label = device.labels[peak.event];
  peak.time_ns = device.times_ns.empty() ? 0 : device.times_ns[peak.event];
  peak.sample = samples[peak.event];
  if (!keep_live) return peak;
  peak.live = live_at(device, program, peak.event);
  for (const LiveBlock& block : peak.live)
    peak.by_category[static_cast<std::size_t>(block.category)] += block.block_bytes;
  return peak;
}

}  // namespace tidemark
