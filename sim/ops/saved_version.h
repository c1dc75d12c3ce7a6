#pragma once

#include "sim/ops/node.h"

namespace tidemark::ops {

/// What was saved must be what it was: written in place since, it is of no use. What hooks packed
/// is theirs, and not looked at. Errors: OpError, PyTorch's message.
void check_version(const Node& node, const SavedTensor& saved);

}  // namespace tidemark::ops
