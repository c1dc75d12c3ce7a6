#pragma once

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// Classes that inherit from torch.Tensor: __new__, as_subclass, _make_subclass, and the
/// __torch_function__ that hands an operator's results over to the class of its arguments.
/// Requires: session.tensor_class and session.parameter_class are there.
/// Source: torch/_tensor.py; docs/rules/autograd.md
void add_subclasses(Session& session);

}  // namespace tidemark::torch
