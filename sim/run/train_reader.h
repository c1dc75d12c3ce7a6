#pragma once

#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/run/literals.h"
#include "sim/run/train_loop.h"
#include "sim/yaml/yaml.h"

namespace tidemark {

/// Reads the `train:` of a scenario. Source: docs/scenario.md, "Train".
/// Errors: appended to `problems`; the result is fit for use only when there were none.
TrainSpec read_train(const yaml::Node& node, const std::vector<Parameter>& params,
                     std::vector<Problem>& problems);

/// Checks that `text`, which stands at `node`, is one expression of the model language.
void check_expression(const yaml::Node& node, const std::string& path,
                      std::vector<Problem>& problems);

}  // namespace tidemark
