#pragma once

#include "sim/run/run_result.h"

namespace tidemark {

/// The first moment at which `field` was highest, told as of the moment when the request that
/// brought it about has its block. PeakResult::bytes stays 0: an allocator's own peaks may lie
/// between two events. `keep_live`: with PeakResult::live and by_category. Requires: `device` has
/// its events, with a label each, and its phases; where it has no samples, EventLevels tells
/// `field`. Cost: linear in the events.
PeakResult find_peak(const DeviceResult& device, const Program& program, Bytes MemorySample::*field,
                     bool keep_live);

}  // namespace tidemark
