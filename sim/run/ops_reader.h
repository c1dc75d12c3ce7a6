#pragma once

#include <vector>

#include "sim/base/problem.h"
#include "sim/torch/tensors/custom_op_spec.h"
#include "sim/yaml/yaml.h"

namespace tidemark {

/// Reads the `ops:` of a scenario. Source: docs/scenario.md, "Custom ops".
/// Errors: appended to `problems`; the result is fit for use only when there were none.
std::vector<torch::CustomOpSpec> read_ops(const yaml::Node& node, std::vector<Problem>& problems);

}  // namespace tidemark
