#pragma once

#include <string>

#include "sim/run/run_result.h"
#include "sim/run/verdict.h"
#include "sim/timeline/timeline.h"

namespace tidemark {

/// What every format says first of one device.
struct Headline {
  /// Taken past the allocator, context excluded: libraries, other processes; at the end.
  Bytes outside_bytes = 0;
  Bytes device_peak_bytes = 0;  ///< context + outside + peak reserved
  Bytes spare_bytes = 0;        ///< of the device's total, at that moment
};
/// The verdict on a whole run, in a line: "DOES NOT FIT. A refused request ends the run.". Of
/// several GPUs it names the one that decides.
std::string verdict_line(const Verdict& verdict, std::size_t devices);
Headline headline_of(const DeviceResult& device);

Amounts amounts_of(const MemorySample& sample);

/// "step 2, backward: fc: linear>addmm"; parts that are not known are left out. `phase`: index into
/// device.phases or kNoPhase.
std::string moment_text(const DeviceResult& device, const Program& program, std::uint32_t phase,
                        LabelId label);

}  // namespace tidemark
