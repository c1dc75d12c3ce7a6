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

/// Writes into a copy of `self` (or into it) at positions along a dimension.
enum class Write : std::uint8_t { kScatter, kScatterAdd, kIndexAdd, kIndexCopy, kIndexFill };

using Copy = Tensor (*)(Context&, const Tensor&);
/// The copy that a structured kernel writes into.
Tensor dense_copy(Context& c, const Tensor& self) {
  return clone_in(c, self, MemoryFormat::kContiguous);
}

struct WriteRule {
  std::string_view name;
  std::string_view node;
  bool adds;     ///< what was there keeps its gradient
  bool by_rows;  ///< the index is a vector of rows
  Copy copy;     ///< what is written into, out of place
  Copy filled;   ///< the gradient with zeros where it was written: scatter's, or index_fill's
};
constexpr WriteRule kWrites[] = {
    {"scatter", "ScatterBackward0", false, false, dense_copy, dense_copy},
    {"scatter_add", "ScatterAddBackward0", true, false, dense_copy, nullptr},
    {"index_add", "IndexAddBackward0", true, true, dense_copy, nullptr},
    {"index_copy", "IndexCopyBackward0", false, true, dense_copy, clone},
    {"index_fill", "IndexFillBackward0", false, true, clone, clone}};

/// `source` is undefined for a number.
Tensor write(Context& c, Write which, Tensor self, std::int64_t dim, const Tensor& index,
             Tensor source, bool in_place, bool scaled = false) {
  std::optional<AutocastScope> cast;
  if (which == Write::kScatterAdd && !in_place) {
    cast.emplace(c, CastPolicy::kPromote, std::initializer_list<Tensor*>{&self, &source});
  }
  const WriteRule& rule = kWrites[static_cast<std::size_t>(which)];
  const std::int64_t d = wrap_dim(dim, self.dim());
  if (index.dtype() != ScalarType::kInt64 && index.dtype() != ScalarType::kInt32) {
    throw OpError(fmt::format("{}(): Expected dtype int32/int64 for index", rule.name));
  }
  if (source.defined() && source.dim() > 0 && self.dtype() != source.dtype()) {
    throw OpError(fmt::format("{}(): Expected self.dtype to be equal to src.dtype; got {} and {}",
                              rule.name, info(self.dtype()).name, info(source.dtype()).name));
  }
  Op op(c, rule.name, rule.node, {&self, &source}, {&index});
  op.save(0, index);
  op.save_if(rule.by_rows, 1, source);
  const auto backward = [rule, d, scaled](Backward& b) {
    if (b.needs(0)) b.grads[0] = rule.adds ? b.grad() : rule.filled(b.c, b.grad());
    if (!b.needs(1)) return;
    const Tensor& positions = b.saved[0];
    if (b.c.grad_enabled()) {
      const Tensor chosen = rule.by_rows ? index_select(b.c, b.grad(), d, positions)
                                         : gather(b.c, b.grad(), d, positions);
      const Tensor wide = rule.by_rows ? expand(b.c, chosen, b.saved[1].sizes()) : chosen;
      b.grads[1] = scaled ? times_number(b.c, wide) : wide;
      return;
    }
    Dims sizes = positions.sizes();
    if (rule.by_rows) {
      sizes = b.grad().sizes();
      sizes[static_cast<std::size_t>(d)] = positions.numel();
    }
    Tensor taken = b.c.empty(sizes, b.grad().dtype(), b.grad().device());
    // What the rows give is expanded to the source's size: a view, so others are not added into it.
    if (rule.by_rows && b.saved[1].dim() > 0) taken = as_view(taken, expand(taken, sizes));
    b.grads[1] = scaled ? pointwise(b.c, {&taken}) : std::move(taken);
  };
  if (in_place) return op.in_place(self, backward);
  return op.result(rule.copy(c, self), backward);
}

template <Write kWhich, bool kInPlace>
OpResult write_tensor(Arguments& a) {
  return write(a.context(), kWhich, a.tensor(0), a.integer(1), a.tensor(2), a.tensor(3), kInPlace);
}
template <Write kWhich, bool kInPlace>
OpResult write_number(Arguments& a) {
  return write(a.context(), kWhich, a.tensor(0), a.integer(1), a.tensor(2), {}, kInPlace);
}

template <bool kInPlace>
OpResult index_add(Arguments& a) {
  return write(a.context(), Write::kIndexAdd, a.tensor(0), a.integer(1), a.tensor(2), a.tensor(3),
               kInPlace, a.number(4) != 1);
}

Tensor take_along_dim(Context& c, const Tensor& self, const Tensor& index,
                      std::optional<std::int64_t> dim) {
  if (!dim) {
    const Tensor flat = reshape(c, self, Dims{-1});
    return gather(c, flat, 0, reshape(c, index, Dims{-1}));
  }
  const std::int64_t d = wrap_dim(*dim, self.dim());
  if (index.dim() != self.dim()) {
    throw OpError(
        fmt::format("torch.take_along_dim(): input and indices should have the same number of "
                    "dimensions, but got {} dimensions for input, and {} dimensions for indices",
                    self.dim(), index.dim()));
  }
  Dims self_sizes = self.sizes();
  Dims index_sizes = index.sizes();
  const auto i = static_cast<std::size_t>(d);
  index_sizes[i] = self_sizes[i];
  const Dims shape = broadcast(self_sizes, index_sizes);
  self_sizes = shape;
  self_sizes[i] = self.sizes()[i];
  index_sizes = shape;
  index_sizes[i] = index.sizes()[i];
  // The indices are brought into range.
  const Tensor wide = expand(index, index_sizes);
  const Tensor wrapped = c.rules().take_along_dim_wraps
                             ? binary(c, "remainder", wide, number_tensor(c, ScalarType::kInt64))
                             : wide;
  return gather(c, expand(c, self, self_sizes), d, wrapped);
}

/// Where something is not zero, by dimension. What the columns hold is known of what they share.
TensorList columns_of_nonzero(Context& c, const Tensor& self) {
  const Tensor wide = self.dim() == 0 ? unsqueeze(self, 0) : self;
  return unbind(c, nonzero(c, wide), 1);
}

}  // namespace

Tensor index_fill_(Context& c, const Tensor& self, std::int64_t dim, const Tensor& index) {
  return write(c, Write::kIndexFill, self, dim, index, Tensor(), true);
}

std::span<const OpDef> indexing_ops() {
  static constexpr OpDef kOps[] = {
      {"index_select(Tensor input, int dim, Tensor index)", "torch method",
       [](Arguments& a) -> OpResult {
         return index_select(a.context(), a.tensor(0), a.integer(1), a.tensor(2));
       },
       kScatterOpsSource},
      {"gather(Tensor input, int dim, Tensor index)", "torch method",
       [](Arguments& a) -> OpResult {
         return gather(a.context(), a.tensor(0), a.integer(1), a.tensor(2));
       },
       kScatterOpsSource},
      {"take_along_dim(Tensor input, Tensor indices, int? dim=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return take_along_dim(a.context(), a.tensor(0), a.tensor(1), a.optional_integer(2));
       },
       kScatterOpsSource},
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
      {"masked_select(Tensor input, Tensor mask)", "torch method",
       [](Arguments& a) -> OpResult {
         return masked_select(a.context(), a.tensor(0), a.tensor(1));
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
      {"scatter(Tensor input, int dim, Tensor index, Tensor src)", "torch method",
       write_tensor<Write::kScatter, false>, kScatterOpsSource},
      {"scatter(Tensor input, int dim, Tensor index, number value)", "torch method",
       write_number<Write::kScatter, false>, kScatterOpsSource},
      {"scatter_(Tensor input, int dim, Tensor index, Tensor src)", "method",
       write_tensor<Write::kScatter, true>, kScatterOpsSource},
      {"scatter_(Tensor input, int dim, Tensor index, number value)", "method",
       write_number<Write::kScatter, true>, kScatterOpsSource},
      {"scatter_add(Tensor input, int dim, Tensor index, Tensor src)", "torch method",
       write_tensor<Write::kScatterAdd, false>, kScatterOpsSource},
      {"scatter_add_(Tensor input, int dim, Tensor index, Tensor src)", "method",
       write_tensor<Write::kScatterAdd, true>, kScatterOpsSource},
      {"index_add(Tensor input, int dim, Tensor index, Tensor source, *, number alpha=1)",
       "torch method", index_add<false>, kScatterOpsSource},
      {"index_add_(Tensor input, int dim, Tensor index, Tensor source, *, number alpha=1)",
       "method", index_add<true>, kScatterOpsSource},
      {"index_copy(Tensor input, int dim, Tensor index, Tensor source)", "torch method",
       write_tensor<Write::kIndexCopy, false>, kScatterOpsSource},
      {"index_copy_(Tensor input, int dim, Tensor index, Tensor source)", "method",
       write_tensor<Write::kIndexCopy, true>, kScatterOpsSource},
      {"index_fill(Tensor input, int dim, Tensor index, number value)", "torch method",
       write_number<Write::kIndexFill, false>, kScatterOpsSource},
      {"index_fill_(Tensor input, int dim, Tensor index, number value)", "method",
       write_number<Write::kIndexFill, true>, kScatterOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
