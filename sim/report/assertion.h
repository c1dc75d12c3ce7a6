#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/run_result.h"

namespace tidemark {

/// A claim about a run's result, as continuous integration makes it: "peak_reserved < 70GiB".
struct Assertion {
  std::string text;           ///< as it was given
  std::size_t figure;         ///< index into assertion_figures()
  std::string_view relation;  ///< one of < <= > >= == !=
  std::uint64_t bound = 0;
};

/// What a claim can be about, in the order of help.
std::vector<std::string_view> assertion_figures();

/// Reads "FIGURE RELATION NUMBER"; blanks may be left out. Amounts of memory take units ("70GiB",
/// "512 MiB"), counts take none. Errors: InputError, with the nearest figure's name.
Assertion parse_assertion(std::string_view text);

/// One line for each claim that is false on some device, what was found in it; empty when all hold.
/// Cost: linear in claims and devices.
std::vector<std::string> failed_assertions(const std::vector<Assertion>& assertions,
                                           const RunResult& result);

}  // namespace tidemark
