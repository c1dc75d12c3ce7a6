#pragma once

#include "sim/torch/tensors/session.h"

/// What the language gets to see of a tensor's numbers.
namespace tidemark::torch {

/// The one number of a tensor, as x.item() gives it. Requires: one element.
lang::Value read_number(Session& session, const ops::Tensor& tensor);
/// x.tolist().
lang::Value read_numbers(Session& session, const ops::Tensor& tensor);

}  // namespace tidemark::torch
