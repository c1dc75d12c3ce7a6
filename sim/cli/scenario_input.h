#pragma once

#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/run/overrides.h"

namespace tidemark::cli {

/// The values of --set. Errors: InputError with all that have no '='.
std::vector<Override> parse_overrides(const std::vector<std::string>& texts);

/// A problem's text with "warning" in place of "error".
std::string render_warning(const Problem& warning);

}  // namespace tidemark::cli
