#pragma once

#include <string>
#include <string_view>

#include "sim/yaml/yaml_form.h"

namespace tidemark {

/// The JSON Schema (draft 7) of files whose top level is `map`, for editors. It refuses what the
/// reader of the table refuses: unknown keys, values of another type or out of range, missing keys
/// that are always required. Null stands for a key that is not given, as for the reader. Ends in a
/// line break.
std::string json_schema(const yaml::Map& map, std::string_view title);

}  // namespace tidemark
