#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

/// Where something is not zero, by dimension. What the columns hold is known of what they share.
TensorList columns_of_nonzero(Context& c, const Tensor& self) {
  const Tensor wide = self.dim() == 0 ? unsqueeze(self, 0) : self;
  return unbind(c, nonzero(c, wide), 1);
}

OpResult nonzero_of(Arguments& a) {
  if (a.flag(1)) return OpResult::tuple(columns_of_nonzero(a.context(), a.tensor(0)));
  return OpResult(nonzero(a.context(), a.tensor(0)));
}

}  // namespace tidemark::ops
