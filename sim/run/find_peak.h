#pragma once

#include "sim/run/run_result.h"

namespace tidemark {

struct Peaks {
  PeakResult allocated;
  PeakResult reserved;
};

/// The first moments at which the two were highest, told as of the moment when the request that
/// brought it about has its block. PeakResult::bytes stays 0: an allocator's own peaks may lie
/// between two events. `keep_live`: with PeakResult::live and by_category. Requires: `device` has
/// its events, with a label each, and its phases; it has samples, or events_tell_levels(). Cost:
/// linear in the events.
Peaks find_peaks(const DeviceResult& device, const Program& program, bool keep_live);

}  // namespace tidemark
