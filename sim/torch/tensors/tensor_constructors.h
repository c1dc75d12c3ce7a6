#pragma once

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// What torch.Tensor(...) and torch.nn.Parameter(...) make. Requires: session.tensor_class is
/// there; session.parameter_class is made here.
void add_constructors(Session& session);

}  // namespace tidemark::torch
