#include "sim/run/find_peak.h"

#include "sim/run/levels.h"

namespace tidemark {

namespace {

/// The first moment with the highest value so far.
struct Highest {
  Bytes bytes = 0;
  std::uint32_t event = kNoEvent;

  void see(Bytes now, std::uint32_t at, const std::vector<Event>& events) {
    if (now > bytes) {
      bytes = now;
      event = at;
    } else if (now == bytes && event + 1 == at && event != kNoEvent &&
               events[event].action != Action::kAlloc &&
               events[at].instruction == events[event].instruction) {
      event = at;  // a segment is made for a request, which has its block some events later
    }
  }
};

PeakResult peak_at(const DeviceResult& device, const Program& program, std::uint32_t event,
                   bool keep_live) {
  PeakResult peak;
  peak.event = event;
  if (event == kNoEvent) return peak;
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

}  // namespace

Peaks find_peaks(const DeviceResult& device, const Program& program, bool keep_live) {
  Highest allocated;
  Highest reserved;
  visit_levels(device, [&](std::uint32_t at, const MemorySample& sample) {
    allocated.see(sample.allocated, at, device.events);
    reserved.see(sample.reserved, at, device.events);
  });
  return {peak_at(device, program, allocated.event, keep_live),
          peak_at(device, program, reserved.event, keep_live)};
}

}  // namespace tidemark
