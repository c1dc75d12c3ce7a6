#pragma once

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// Adds what C++ has of torch to the modules of the library (sim/library/torch): torch._C whole,
/// operators, dtypes and classes.
void add_modules(Session& session);

}  // namespace tidemark::torch
