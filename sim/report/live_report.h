#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/report/text.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// The event that a text means: its number, or STEP:PHASE ("2:backward", "model" where a phase has
/// no step) for the last one of a phase. Requires: the run kept its events.
/// Errors: InputError that names `option`, with what is there.
std::uint32_t event_named(const DeviceResult& device, std::string_view text,
                          std::string_view option);

/// Every live byte right after `event`: by category, and by who made it (module path, operator,
/// step, phase), the largest `top` of these; 0: all.
std::string live_text(const RunResult& result, const DeviceResult& device, std::uint32_t event,
                      std::size_t top, const TextStyle& style);

}  // namespace tidemark
