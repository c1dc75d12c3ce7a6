#pragma once

#include <string>
#include <string_view>

namespace tidemark::yaml {

/// A text in double quotes, escaped so that YAML and the model language both read it back.
std::string quoted(std::string_view text);

}  // namespace tidemark::yaml
