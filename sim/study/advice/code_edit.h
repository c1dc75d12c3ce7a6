#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/run/overrides.h"
#include "sim/run/scenario.h"

namespace tidemark {

/// Whether the scenario has a loop of the user's own that an override can replace: not `train:`,
/// not a script.
bool has_own_loop(const Scenario& scenario);

/// The loop's text with [begin, end) replaced. Requires: has_own_loop().
Override loop_with(const Scenario& scenario, std::size_t begin, std::size_t end,
                   std::string_view replacement);

/// Where the bracket that opens at `open` closes; npos: nowhere.
std::size_t closing_bracket(std::string_view text, std::size_t open);

/// A letter, a digit or '_'.
bool is_word_character(char c);

}  // namespace tidemark
