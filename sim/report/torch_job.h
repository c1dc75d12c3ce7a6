#pragma once

#include <string>

#include "sim/run/scenario.h"

namespace tidemark {

/// A scenario as validation/torch/run_scenario.py reads it: the program's own texts, in order, and
/// the settings that they run under. `stacks`: record where each request comes from ("all",
/// "python"). Schema: docs/formats/measured.md, "Job".
std::string torch_job_json(const Scenario& scenario, const std::string& name,
                           const std::string& command, const std::string& stacks);

}  // namespace tidemark
