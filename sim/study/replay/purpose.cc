#include "sim/study/replay/purpose.h"

#include <algorithm>

namespace tidemark {

namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// "forward 0 [activations]": the category, where one is named.
Purpose by_category(std::string_view metadata) {
  const std::size_t phase_end = phase_in_metadata(metadata).size();
  if (phase_end == metadata.size()) return Purpose::kUnknown;
  std::string_view category = metadata.substr(metadata.find('[', phase_end) + 1);
  category.remove_suffix(1);
  const auto named = std::ranges::find(kPurposeNames, category);
  return named == kPurposeNames.end()
             ? Purpose::kUnknown
             : static_cast<Purpose>(std::distance(kPurposeNames.begin(), named));
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

std::string_view phase_in_metadata(std::string_view user_metadata) {
  if (!user_metadata.ends_with(']')) return user_metadata;
  const std::size_t bracket = user_metadata.rfind('[');
  if (bracket == std::string_view::npos) return user_metadata;
  const std::string_view phase = user_metadata.substr(0, bracket);
  return phase.ends_with(' ') ? phase.substr(0, phase.size() - 1) : phase;
}

std::string_view purpose_rule() {
  return "a category that the recording names; else a phase name that says so; else a frame in a "
         "file of an optimizer: optimizer; else of the autograd engine or a node: backward; else "
         "Module.to or a constructor outside forward: parameters; else named forward: forward; "
         "else of a data loader: inputs";
}

Purpose purpose_of(const Snapshot& snapshot, StackId stack, TextId user_metadata) {
  const std::string_view metadata = snapshot.texts[user_metadata];
  if (const Purpose named = by_category(metadata); named != Purpose::kUnknown) return named;
  if (const Purpose told = by_phase(metadata); told != Purpose::kUnknown) return told;
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
