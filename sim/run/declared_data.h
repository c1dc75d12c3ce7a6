#pragma once

#include "sim/run/scenario.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {

/// Reads `data`: what a script's folders and loaders hold. The library takes it as a literal, among
/// the script's environment (sim/library/python/_declared.py). Errors: a problem, without a script.
void read_declared_data(yaml::Fields& fields, Scenario& scenario);

}  // namespace tidemark
