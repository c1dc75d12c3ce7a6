#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/trial/trial.h"

namespace tidemark {

/// A number of a scenario that can be varied.
struct Quantity {
  std::string path;        ///< as --set has it: "params.batch_size", "train.batch"
  std::int64_t value = 0;  ///< what it is now
};

/// The quantity that a word means: "batch", "length" and "layers" by the names that scenarios give
/// them, the name of a parameter (of a script: of a constant at its left margin), or the path of an
/// integer; a key that is not there counts as 1. Where `train:` names a parameter it is that
/// parameter. std::nullopt: there is no such integer. Errors: as read_scenario().
std::optional<Quantity> find_quantity(const ScenarioSource& source, std::string_view word);

/// The same for what must be there. Errors: InputError that says why it is not, after `option`
/// ("--over") and the word.
Quantity require_quantity(const ScenarioSource& source, std::string_view option,
                          std::string_view word);

/// The words that find_quantity() may know, each once: "batch", "length", "layers" and "device"
/// first, then the names of parameters or constants. Errors: as read_scenario().
std::vector<std::string> quantity_words(const ScenarioSource& source);

/// The names of parameters or constants alone. Errors: as read_scenario().
std::vector<std::string> own_quantity_words(const ScenarioSource& source);

/// The names that a word may have: those of "batch", "length" and "layers"; else the word itself.
std::vector<std::string_view> names_of_quantity(std::string_view word);

/// What a plain text is in this scenario: a number, or a parameter that is one.
std::optional<std::int64_t> integer_of(const Scenario& scenario, const std::string& text);

}  // namespace tidemark
