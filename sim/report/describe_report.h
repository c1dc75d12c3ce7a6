#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/text.h"
#include "sim/study/catalogue/describe.h"

namespace tidemark {

/// The layer table of every model, down to `depth` levels below the model, and its totals.
std::string describe_text(const std::vector<ModelDescription>& models, std::uint32_t depth,
                          const TextStyle& style);
/// All levels. Schema: docs/formats/json.md, "describe".
std::string describe_json(const std::vector<ModelDescription>& models);
/// One row a module.
std::string describe_csv(const std::vector<ModelDescription>& models);

}  // namespace tidemark
