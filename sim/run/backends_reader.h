#pragma once

#include <vector>

#include "sim/base/problem.h"
#include "sim/ops/context.h"
#include "sim/yaml/yaml.h"

namespace tidemark {

/// Reads the `backends:` of a scenario; what it does not name stays as it is in `backends`. Source:
/// docs/scenario.md, "backends". Errors: appended to `problems`.
void read_backends(const yaml::Node& node, ops::Backends& backends, std::vector<Problem>& problems);

}  // namespace tidemark
