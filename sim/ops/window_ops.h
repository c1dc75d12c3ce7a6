#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// x.squeeze_(dim): the tensor itself loses the dimension where its size is 1.
Tensor squeeze_(Context& c, const Tensor& self, std::int64_t dim);

}  // namespace tidemark::ops
