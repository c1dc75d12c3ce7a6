#include <fmt/format.h>

#include <optional>

#include "sim/ops/copy_slices.h"
#include "sim/ops/device_check.h"
#include "sim/ops/families.h"
#include "sim/ops/kernel_shape.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/releases.h"
#include "sim/ops/sparse.h"

namespace tidemark::ops {

// Operators on lists of tensors, the optimizers' own. Those that write in place allocate nothing:
// pointers travel as kernel arguments. Source: docs/rules/pointwise.md#6,
// docs/rules/optimizers.md#4.

namespace {

/// A kernel that goes through the list `times` times, for the clock.
void pass_over(Context& c, const TensorList& tensors, unsigned times) {
  if (tensors.empty()) return;
  std::uint64_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.bytes();
  c.launch(tensors.front().device(), 0, times * bytes, KernelClass::kElementwise,
           ScalarType::kFloat32);
  ShapeTaker* taker = shape_taker(c);
  if (taker == nullptr || !tensors.front().is_cuda()) return;
  KernelShape shape;
  for (const Tensor& t : tensors) shape.writes(t);
  taker->take_shape(shape);
}

/// Source: check_foreach_api_restrictions.
void check_lists(const Arguments& a) {
  std::optional<std::size_t> count;
  for (std::size_t i = 0; i < a.count(); ++i) {
    const auto* list = std::get_if<TensorList>(&a.value(i));
    if (list == nullptr) continue;
    if (list->empty()) throw OpError("Tensor list must have at least one tensor.");
    if (count && *count != list->size()) {
      throw OpError(fmt::format("Tensor lists must have the same number of tensors, got {} and {}",
                                *count, list->size()));
    }
    count = list->size();
    for (const Tensor& t : *list) {
      if (t.defined()) check_is_there("foreach", t);
    }
  }
}

/// Writes over every list that it is given, as far as is known.
OpResult write_over(Arguments& a, bool is_counted) {
  for (std::size_t i = 0; i < a.count(); ++i) {
    const auto* list = std::get_if<TensorList>(&a.value(i));
    if (list == nullptr) continue;
    for (const Tensor& t : *list) {
      if (i == 0 && is_counted) count_write(t);
      if (t->storage && t->storage->known()) t->storage->set_known(nullptr);
    }
  }
  pass_over(a.context(), a.tensors(0), 2);
  return OpResult::plain(None{});
}

OpResult nothing(Arguments& a) {
  check_lists(a);
  return write_over(a, true);
}

/// PyTorch does not count the writes of its fused kernels: autograd does not notice them.
OpResult unnoticed(Arguments& a) { return write_over(a, false); }

/// _foreach_zero_, counted on the host, where it is one zero_() after the other.
OpResult zero(Arguments& a) {
  check_lists(a);
  return write_over(a, !a.tensors(0).front().is_cuda());
}

/// One new tensor an entry, all made before anything is computed.
OpResult list_like(Arguments& a, std::size_t list, std::string_view name) {
  check_lists(a);
  Context& c = a.context();
  const LabelScope label(c, name);
  TensorList out;
  out.reserve(a.tensors(list).size());
  for (const Tensor& t : a.tensors(list)) out.push_back(c.empty_like(t));
  pass_over(c, out, 2);
  return OpResult::list(std::move(out));
}

/// Partial results by chunk of 65 536 elements, then one scalar a tensor. Source:
/// docs/rules/optimizers.md#4.
OpResult foreach_norm(Arguments& a) {
  check_lists(a);
  Context& c = a.context();
  const LabelScope label(c, "_foreach_norm");
  const TensorList& tensors = a.tensors(0);
  std::int64_t most = 1;
  std::int64_t all = 0;
  for (const Tensor& t : tensors) {
    const std::int64_t chunks = (t.numel() + 65535) / 65536;
    most = std::max(most, chunks);
    all += chunks;
  }
  const auto count = static_cast<std::int64_t>(tensors.size());
  const ScalarType sum = accumulate_type(tensors.front().dtype());
  const Device device = tensors.front().device();
  Tensor offsets;  // of each tensor's chunks
  if (c.rules().foreach_norm_by_chunks) offsets = c.empty({count + 1}, ScalarType::kInt64, device);
  const Tensor partials =
      c.empty({c.rules().foreach_norm_by_chunks ? all : count * most}, sum, device);
  TensorList made;
  for (const Tensor& t : tensors) made.push_back(c.empty({}, t.dtype(), t.device()));
  pass_over(c, tensors, 1);
  // Of what is empty the norm is a new zero.
  TensorList out;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    out.push_back(t.numel() != 0 ? made[i] : c.empty({}, t.dtype(), t.device()));
  }
  for (Tensor& t : made) t = Tensor();
  return OpResult::list(std::move(out));
}

}  // namespace

std::span<const OpDef> foreach_ops() {
  static constexpr std::string_view kForeachOpsSource = "docs/rules/pointwise.md#6";
  static constexpr OpDef kOps[] = {
      {"_foreach_add_(Tensor[] self, Tensor[] other, *, any alpha=1)", "torch",
       [](Arguments& a) -> OpResult {
         check_lists(a);
         for (std::size_t i = 0; i < a.tensors(0).size(); ++i) {
           const Tensor& x = a.tensors(0)[i];
           if (x.is_sparse() && a.tensors(1)[i].is_sparse()) {
             const LabelScope label(a.context(), "add_");
             add_sparse_in_place(a.context(), x, a.tensors(1)[i]);
           }
         }
         return nothing(a);
       },
       kForeachOpsSource},
      {"_foreach_add_(Tensor[] self, any other, any scalar=None, *, any alpha=1)", "torch", nothing,
       kForeachOpsSource},
      {"_foreach_sub_(Tensor[] self, any other, *, any alpha=1)", "torch", nothing,
       kForeachOpsSource},
      {"_foreach_mul_(Tensor[] self, any other)", "torch",
       [](Arguments& a) -> OpResult {
         for (const Tensor& x : a.tensors(0)) {
           if (!x.is_sparse()) continue;
           const LabelScope label(a.context(), "mul_");
           scale_sparse_in_place(a.context(), x);
         }
         return nothing(a);
       },
       kForeachOpsSource},
      {"_foreach_div_(Tensor[] self, any other)", "torch", nothing, kForeachOpsSource},
      {"_foreach_pow_(Tensor[] self, any exponent)", "torch", nothing, kForeachOpsSource},
      {"_foreach_neg_(Tensor[] self)", "torch", nothing, kForeachOpsSource},
      {"_foreach_abs_(Tensor[] self)", "torch", nothing, kForeachOpsSource},
      {"_foreach_sign_(Tensor[] self)", "torch", nothing, kForeachOpsSource},
      {"_foreach_sqrt_(Tensor[] self)", "torch", nothing, kForeachOpsSource},
      {"_foreach_reciprocal_(Tensor[] self)", "torch", nothing, kForeachOpsSource},
      {"_foreach_zero_(Tensor[] self)", "torch", zero, kForeachOpsSource},
      {"_foreach_copy_(Tensor[] self, Tensor[] src)", "torch", nothing, kForeachOpsSource},
      {"_foreach_lerp_(Tensor[] self, Tensor[] tensors1, any weight)", "torch", nothing,
       kForeachOpsSource},
      {"_foreach_addcmul_(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, any value=1)", "torch",
       nothing, kForeachOpsSource},
      {"_foreach_addcdiv_(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, any value=1)", "torch",
       nothing, kForeachOpsSource},
      {"_foreach_maximum_(Tensor[] self, any other)", "torch", nothing, kForeachOpsSource},
      {"_foreach_minimum_(Tensor[] self, any other)", "torch", nothing, kForeachOpsSource},
      {"_foreach_clamp_max_(Tensor[] self, any other)", "torch", nothing, kForeachOpsSource},
      {"_foreach_clamp_min_(Tensor[] self, any other)", "torch", nothing, kForeachOpsSource},
      {"_fused_adam_(Tensor[] self, any grads=None)", "torch", unnoticed, kForeachOpsSource},
      {"_fused_sgd_(Tensor[] self, any grads=None)", "torch", unnoticed, kForeachOpsSource},
      {"_fused_adagrad_(Tensor[] self, any grads=None)", "torch", unnoticed, kForeachOpsSource},
      {"_amp_unscale_(Tensor[] self)", "torch", unnoticed, kForeachOpsSource},
      {"_foreach_add(Tensor[] self, any other, *, any alpha=1)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_add"); }, kForeachOpsSource},
      {"_foreach_sub(Tensor[] self, any other, *, any alpha=1)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_sub"); }, kForeachOpsSource},
      {"_foreach_mul(Tensor[] self, any other)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_mul"); }, kForeachOpsSource},
      {"_foreach_div(Tensor[] self, any other)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_div"); }, kForeachOpsSource},
      {"_foreach_maximum(Tensor[] self, any other)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_maximum"); }, kForeachOpsSource},
      {"_foreach_minimum(Tensor[] self, any other)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_minimum"); }, kForeachOpsSource},
      {"_foreach_lerp(Tensor[] self, Tensor[] tensors1, any weight)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_lerp"); }, kForeachOpsSource},
      {"_foreach_addcdiv(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, any value=1)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_addcdiv"); }, kForeachOpsSource},
      {"_foreach_addcmul(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, any value=1)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_addcmul"); }, kForeachOpsSource},
      {"_foreach_neg(Tensor[] self)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_neg"); }, kForeachOpsSource},
      {"_foreach_abs(Tensor[] self)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_abs"); }, kForeachOpsSource},
      {"_foreach_sqrt(Tensor[] self)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_sqrt"); }, kForeachOpsSource},
      {"_foreach_sign(Tensor[] self)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_sign"); }, kForeachOpsSource},
      {"_foreach_reciprocal(Tensor[] self)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_reciprocal"); }, kForeachOpsSource},
      {"_foreach_pow(Tensor[] self, any exponent)", "torch",
       [](Arguments& a) { return list_like(a, 0, "_foreach_pow"); }, kForeachOpsSource},
      {"_foreach_pow(number self, Tensor[] exponent)", "torch",
       [](Arguments& a) { return list_like(a, 1, "_foreach_pow"); }, kForeachOpsSource},
      {"_foreach_norm(Tensor[] self, any ord=2, any dtype=None)", "torch", foreach_norm,
       "docs/rules/optimizers.md#4"},
  };
  return kOps;
}

}  // namespace tidemark::ops
