#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/yaml/yaml.h"

namespace tidemark {

/// A named value that the model's arguments, the training loop and the code may use by its name.
struct Parameter {
  std::string name;
  std::string value;                    ///< a literal of the model language
  std::optional<std::int64_t> integer;  ///< its value, where it is one
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// The parameter that a plain scalar names; nullptr: none.
const Parameter* named_parameter(const yaml::Node& node, const std::vector<Parameter>& params);

/// A YAML value as a literal of the model language: null, true, false, numbers, text, lists and
/// maps; a plain scalar that is a parameter's name is that name.
std::string literal_of(const yaml::Node& node, const std::vector<Parameter>& params);

/// A text in double quotes, escaped.
std::string quoted_literal(std::string_view text);

/// Letters, digits and '_', no digit first.
bool is_identifier(std::string_view text);

}  // namespace tidemark
