#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// `text` with so many blanks before each line that is not empty. Ends with a line's end.
std::string indented(std::string_view text, std::size_t by);

/// 1.0e-05: as YAML and Python both read it.
std::string real_literal(double value);

/// A model of a scenario that is being made: its code, and how it is called.
struct ModelText {
  std::string text;       ///< Python
  std::string type;       ///< what makes the model: a name of the text
  std::string arguments;  ///< "a: 1, b: true": a YAML map without its braces
};

/// The scenario's `model`: its code is in `file`, or stands in it where `file` is empty.
std::string model_key(const ModelText& model, const std::string& file);

/// How many parameters the model has. `name` is for messages. Errors: InputError of the model's
/// code.
std::uint64_t parameters_of(const ModelText& model, const std::string& name,
                            const std::vector<std::string>& packages);

}  // namespace tidemark
