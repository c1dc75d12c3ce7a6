#include "sim/study/purpose.h"

namespace tidemark {

namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Purpose by_phase(std::string_view phase) {
  if (phase.starts_with("optimizer")) return Purpose::kOptimizer;
  if (phase.starts_with("backward")) return Purpose::kBackward;
  if (phase.starts_with("forward")) return Purpose::kForward;
  if (phase.starts_with("model")) return Purpose::kParameters;
  if (phase.starts_with("inputs")) return Purpose::kInputs;
  return Purpose::kUnknown;
}

}  // namespace

std::string_view purpose_rule() {
  return "a phase name that says so; else a frame in a file of an optimizer: optimizer; else of "
         "the autograd engine or a "
         "node: backward; else Module.to or a constructor outside forward: parameters; else named "
         "forward: forward; else of "
         "a data loader: inputs";
}

Purpose purpose_of(const Snapshot& snapshot, StackId stack, TextId user_metadata) {
  if (const Purpose told = by_phase(snapshot.texts[user_metadata]); told != Purpose::kUnknown)
    return told;
  bool optimizer = false;
  bool backward = false;
  bool forward = false;
  bool parameters = false;
  bool inputs = false;
  for (const std::uint32_t index : snapshot.stack(stack)) {
    const std::string_view name = snapshot.texts[snapshot.frames[index].name];
    const std::string_view file = snapshot.texts[snapshot.frames[index].filename];
    optimizer = optimizer || holds(file, "torch/optim/") || file.ends_with("optimizer.py") ||
                holds(file, "optimizers/");
    backward = backward || holds(name, "torch::autograd::Engine") ||
               holds(name, "_engine_run_backward") || holds(name, "Backward0");
    forward = forward || name == "forward" || name == "_call_impl";
    parameters = parameters || name == "_apply" || name == "__init__";
    inputs =
        inputs || holds(file, "dataloader") || holds(name, "pin_memory") || holds(name, "collate");
  }
  if (optimizer) return Purpose::kOptimizer;
  if (backward) return Purpose::kBackward;
  if (parameters && !forward) return Purpose::kParameters;
  if (forward) return Purpose::kForward;
  return inputs ? Purpose::kInputs : Purpose::kUnknown;
}

}  // namespace tidemark
