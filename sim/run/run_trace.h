#pragma once

#include "sim/format/request_trace.h"
#include "sim/run/run_result.h"
#include "sim/run/simulator.h"

namespace tidemark {

/// What a request trace does on one device, as run() tells it of a scenario. A refused request's ID
/// is dead from there on and the trace goes on (docs/formats/tmt.md), so that none ends by it.
/// Errors: as Simulator. Cost: that of the allocator, linear in the requests.
RunResult run_trace(RequestTrace trace, const SimulatedDevice& device,
                    const SimulatorOptions& options);

}  // namespace tidemark
