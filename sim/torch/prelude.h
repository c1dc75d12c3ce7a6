#pragma once

#include <span>
#include <string_view>

namespace tidemark::torch {

/// The parts of torch that are Python in PyTorch too (modules, optimizers, GradScaler,
/// checkpointing) are written in the model language: prelude/*.py, embedded in the program. A file
/// is run when one of the names it defines is first asked for.
struct PreludeFile {
  std::string_view module;   ///< the module it defines names of: "torch.nn"
  std::string_view name;     ///< shown in messages: "torch/nn/linear.py"
  std::string_view defines;  ///< names, separated by blanks
  std::string_view text;
};

std::span<const PreludeFile> prelude();

}  // namespace tidemark::torch
