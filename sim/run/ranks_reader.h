#pragma once

#include <vector>

#include "sim/base/problem.h"
#include "sim/run/scenario.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {

/// Reads `ranks`: the job, which of its ranks are wanted, and the GPUs that one of them sees.
/// Problems go to `problems`. Source: docs/scenario.md.
void read_ranks(yaml::Fields& fields, Scenario& scenario, std::vector<Problem>& problems);

}  // namespace tidemark
