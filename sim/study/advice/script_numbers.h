#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sim/study/trial/trial.h"

namespace tidemark {

/// A number that a search varies, and the scenario with another value of it.
struct Varied {
  std::string shown;       ///< for people: "params.batch_size", "--batch-size", "gen.py:9"
  std::int64_t value = 0;  ///< what it is now
  std::function<ScenarioSource(std::int64_t)> with;
};

/// The number that a word means, of any scenario:
///
/// - a quantity, as find_quantity() has it;
/// - of a script, an option of its own command line: one that it is given, or that its
///   `add_argument` has an integer default for ("batch_size" and "--batch-size" alike);
/// - of a script, an integer that its files write for a name: an argument of a call, an assignment,
///   an entry of a dict, a parameter's default. Equal numbers of one kind are one; the first kind
///   that has any counts;
/// - of a script, FILE:LINE: the one integer of that line.
///
/// Errors: InputError that says why there is none, after `option` ("--over") and the word.
Varied require_varied(const ScenarioSource& source, std::string_view option, std::string_view word);

}  // namespace tidemark
