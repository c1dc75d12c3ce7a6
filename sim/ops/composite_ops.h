#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// torch.diagonal below autograd.
Tensor diagonal_view(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
/// torch.diagonal: a view, its own dimension the last. Errors: OpError with PyTorch's words.
Tensor diagonal(Context& c, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                std::int64_t dim2);

}  // namespace tidemark::ops
