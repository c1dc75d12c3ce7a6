#pragma once

#include <string_view>

#include "sim/ops/op.h"

namespace tidemark::ops {

/// "Float" of float32, "BFloat16": the type in the names of tensors' classes and in messages.
std::string_view tensor_type_name(ScalarType type);

/// x.view(dtype): the same bytes as elements of another type; autograd does not follow. Elements of
/// another size change the last dimension. Source: ATen's view_dtype.
/// Errors: OpError where sizes, strides or the offset do not allow it.
Tensor view_as_type(const Tensor& self, ScalarType type);

}  // namespace tidemark::ops
