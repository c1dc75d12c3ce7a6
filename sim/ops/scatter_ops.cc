#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/families.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kScatterOpsSource = "docs/rules/indexing.md#2";

/// Where something is not zero, by dimension. What the columns hold is known of what they share.
TensorList columns_of_nonzero(Context& c, const Tensor& self) {
  const Tensor wide = self.dim() == 0 ? unsqueeze(self, 0) : self;
  return unbind(c, nonzero(c, wide), 1);
}

}  // namespace

std::span<const OpDef> indexing_ops() {
  static constexpr OpDef kOps[] = {
      {"nonzero(Tensor input, *, bool as_tuple=False)", "torch method",
       [](Arguments& a) -> OpResult {
         if (a.flag(1)) return OpResult::tuple(columns_of_nonzero(a.context(), a.tensor(0)));
         return OpResult(nonzero(a.context(), a.tensor(0)));
       },
       kScatterOpsSource},
      {"argwhere(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return nonzero(a.context(), a.tensor(0)); },
       kScatterOpsSource},
      {"where(Tensor condition)", "torch",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(columns_of_nonzero(a.context(), a.tensor(0)));
       },
       kScatterOpsSource},
      {"index_put(Tensor input, Tensor[] indices, Tensor values, bool accumulate=False)",
       "torch method",
       [](Arguments& a) -> OpResult {
         return index_put(a.context(), a.tensor(0), a.tensors(1), a.tensor(2), a.flag(3));
       },
       kScatterOpsSource},
      {"index_put_(Tensor input, Tensor[] indices, Tensor values, bool accumulate=False)", "method",
       [](Arguments& a) -> OpResult {
         return index_put_(a.context(), a.tensor(0), a.tensors(1), a.tensor(2), a.flag(3));
       },
       kScatterOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
