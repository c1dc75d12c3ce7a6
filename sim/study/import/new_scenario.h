#pragma once

#include <string>
#include <vector>

namespace tidemark {

/// What a first scenario is to be of: a model of the zoo, or one in a file of the user's. Texts as
/// they are given on a command line.
struct NewScenario {
  std::string path;   ///< where the scenario will lie; its model's file is beside it
  std::string model;  ///< of the zoo; empty: `file`
  std::string file;   ///< a Python file, relative to where the program runs
  std::string type;   ///< the class or function of the file that makes the model
  std::vector<std::string> arguments;  ///< "width=512"
  std::vector<std::string> inputs;  ///< without the batch: "3,32,32", "128:long"; of a file's model
  std::string target;  ///< the same; "": one class for each sample; "input": the first input
  std::string loss = "cross_entropy";  ///< of a file's model
  std::string device = "h100-sxm-80gb";
  std::string batch = "32";
  std::string steps = "3";  ///< empty: as many as a list of batches has
  std::string optimizer = "AdamW(lr=1e-3)";
  std::string precision = "fp32";
};

struct NewScenarioTexts {
  std::string scenario;  ///< YAML, with comments
  /// Where `model` goes: beside the scenario; empty: the file is the user's own.
  std::string model_file;
  std::string model;  ///< the zoo's code in one file
};

/// Writes a scenario, and runs it once to be sure of it. Errors: InputError with all problems,
/// those of an option named by it (`--batch`), those of the model's code by their place; IoError
/// where `file` cannot be read. Cost: that of the run.
NewScenarioTexts new_scenario(const NewScenario& wanted);

/// A module of the zoo ("gpt2") with all that it imports of the zoo, as one file.
std::string zoo_module_alone(const std::string& module);

}  // namespace tidemark
