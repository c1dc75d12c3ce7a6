#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "sim/run/run_result.h"
#include "sim/study/trial/trial.h"

namespace tidemark::python {

/// A run with what its reports need. `result` does not change once it is made: arrays in Python are
/// views of it.
struct Run {
  ScenarioSource source;
  RunResult result;
  std::vector<std::string> warnings;  ///< of reading the scenario
};

// What each file adds to the module. The functions give documents as the command line prints them
// (JSON, text) and columns as arrays; sim/python/tidemark makes Python's objects of them. They
// release the interpreter's lock while they work.
void bind_runs(nanobind::module_& module);
void bind_recordings(nanobind::module_& module);
void bind_studies(nanobind::module_& module);
void bind_program(nanobind::module_& module);

}  // namespace tidemark::python
