#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/format/snapshot.h"

namespace tidemark {

/// What a block is for: as the recording says, or as it seems from the stack that made it, since
/// PyTorch's snapshots do not say.
enum class Purpose : std::uint8_t {
  kUnknown,
  kForward,
  kBackward,
  kOptimizer,
  kParameters,
  kInputs,
  // Only where the recording says so (`run --snapshot`): the categories of a run.
  kActivations,
  kGradients,
  kOptimizerState,
  kWorkspace,
  kTemporaries,
  kKvCache,
};
inline constexpr std::array<std::string_view, 12> kPurposeNames{
    "unknown",     "forward",   "backward",        "optimizer", "parameters",  "inputs",
    "activations", "gradients", "optimizer state", "workspace", "temporaries", "kv cache"};
/// The rule in one line a purpose, in the order in which they are tried.
std::string_view purpose_rule();
Purpose purpose_of(const Snapshot& snapshot, StackId stack, TextId user_metadata);

/// The phase in an event's user_metadata: "forward 0 [activations]" without the category.
std::string_view phase_in_metadata(std::string_view user_metadata);

}  // namespace tidemark
