#pragma once

#include <span>
#include <string_view>

#include "sim/ops/tensor.h"

namespace tidemark::ops {

/// Refuses an operator whose tensors lie on different devices, as PyTorch's wrappers and its
/// TensorIterator do. `inputs`, `others`: as Op's; undefined ones are passed over. Operators that
/// may read from several devices (copies, indexing by host indices) pass. Errors: OpError with
/// PyTorch's words.
void check_same_device(std::string_view op, std::span<const Tensor* const> inputs,
                       std::span<const Tensor* const> others);

/// The same of an operator on a list of tensors.
void check_list_device(std::string_view op, const TensorList& tensors);

}  // namespace tidemark::ops
