#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/format/snapshot.h"

namespace tidemark {

/// What a block seems to be for, told from the stack that made it: snapshots do not say.
enum class Purpose : std::uint8_t {
  kUnknown,
  kForward,
  kBackward,
  kOptimizer,
  kParameters,
  kInputs
};
inline constexpr std::array<std::string_view, 6> kPurposeNames{
    "unknown", "forward", "backward", "optimizer", "parameters", "inputs"};
/// The rule in one line a purpose, in the order in which they are tried.
std::string_view purpose_rule();
Purpose purpose_of(const Snapshot& snapshot, StackId stack, TextId user_metadata);

}  // namespace tidemark
