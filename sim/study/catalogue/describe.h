#pragma once

#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/run/scenario.h"
#include "sim/torch/modules/model_watch.h"

namespace tidemark {

/// A module with the memory that it asks for in its model's first call and the backward after it,
/// its submodules included. Bytes as requested.
struct Layer {
  torch::WatchedModule module;
  Bytes saved_bytes = 0;             ///< made in it, and kept for backward when the call ends
  Bytes temporaries_peak_bytes = 0;  ///< the most at once of what is neither kept nor given to keep
  Bytes workspace_bytes = 0;         ///< of libraries, first needed in it
};

struct ModelDescription {
  std::vector<Layer> layers;  ///< the model itself first, then its modules as they were registered
  bool is_called = false;     ///< false: the code only made it, and no memory is known
};

/// Runs a scenario and describes every model that its code calls.
/// Errors: as run().
std::vector<ModelDescription> describe_models(const Scenario& scenario);

/// A model in a Python file, and how to call it.
struct ModelFile {
  std::string path;
  std::string type;                    ///< class or function: an expression of the file's names
  std::vector<std::string> arguments;  ///< "width=512", or a positional one
  std::vector<std::string> inputs;     ///< "64,3,32,32", "8,128:long"; none: it is not called
  std::string device = "h100-sxm-80gb";
};

/// The text of a scenario that makes the model, calls it once and runs backward from its outputs.
/// Errors: InputError for an input that is no shape.
std::shared_ptr<const SourceText> scenario_of_model(const ModelFile& model);
/// Problems of that scenario's own text, which nobody wrote: named by the options that it was made
/// of in place of their lines in it. Others stay as they are.
std::vector<Problem> named_by_options(std::vector<Problem> problems);

/// A model of the zoo (configs/models) with the arguments that it is made with unless told.
struct ZooModel {
  std::string name;       ///< "resnet18"
  std::string arguments;  ///< "image=224, classes=1000"
  ModelDescription model;
};

/// Every model of the zoo that is part of the program, by family.
std::vector<ZooModel> describe_zoo();

}  // namespace tidemark
