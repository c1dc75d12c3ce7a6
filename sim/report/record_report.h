#pragma once

#include <string>

#include "sim/format/measured_run.h"
#include "sim/report/text.h"

namespace tidemark {

/// What a recorded program did to the device's memory: does it fit, the peaks with who brought them
/// about, the curve, the out-of-memory message, and what the recording cannot tell.
std::string record_text(const MeasuredRun& run, const std::string& title, const std::string& files,
                        const TextStyle& style);

/// The same for programs. Schema: docs/formats/json.md, "record".
std::string record_json(const MeasuredRun& run, const std::string& title);

}  // namespace tidemark
