#pragma once

#include <string>

#include "sim/torch/tensors/session.h"

/// What the language gets to see of a tensor's numbers.
namespace tidemark::torch {

/// What a run rests on that looks at numbers of torch's default generator before anybody seeded it:
/// PyTorch takes its seed from the operating system. Empty: it has a seed, or nobody looked.
std::string unseeded_note(Session& session);

/// The one number of a tensor, as x.item() gives it. Requires: one element.
lang::Value read_number(Session& session, const ops::Tensor& tensor);
/// x.tolist().
lang::Value read_numbers(Session& session, const ops::Tensor& tensor);

/// A number that nobody knows, of the type that a tensor of `dtype` gives: an Unknown, or zero
/// where everything unknown is to count as zero.
lang::Value unknown_number(Session& session, ops::ScalarType dtype);

}  // namespace tidemark::torch
