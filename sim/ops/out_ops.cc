#include "sim/ops/out_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// Source: torch's check_no_requires_grad.
void check_no_gradient(Context& c, std::string_view name, const TensorList& tensors,
                       const Tensor& out) {
  const auto wants = [](const Tensor& t) { return t.requires_grad(); };
  if (!c.grad_enabled() || (!wants(out) && std::none_of(tensors.begin(), tensors.end(), wants)))
    return;
  throw OpError(
      fmt::format("{}(): functions with out=... arguments don't support automatic "
                  "differentiation, but one of the arguments requires grad.",
                  name));
}

}  // namespace

void check_out(std::string_view name, const Tensor& out, const Dims& sizes, ScalarType type) {
  if (!(out.sizes() == sizes)) {
    throw NotModelled(
        fmt::format("{} into out= of size {} is not modelled where the result has size {}; give a "
                    "tensor of the result's size",
                    name, to_string(out.sizes()), to_string(sizes)));
  }
  const auto rank = [](ScalarType t) {
    return is_complex(t) ? 3 : is_floating(t) ? 2 : t == ScalarType::kBool ? 0 : 1;
  };
  if (rank(type) > rank(out.dtype())) {
    throw OpError(fmt::format("{}(): result type {} can't be cast to the desired output type {}",
                              name, info(type).name, info(out.dtype()).name));
  }
}

Tensor cat_into(Context& c, const TensorList& tensors, std::int64_t dim, const Tensor& out) {
  if (tensors.empty()) throw OpError("torch.cat(): expected a non-empty list of Tensors");
  check_no_gradient(c, "cat", tensors, out);
  Op op(c, "cat", "", tensors);
  cat_kernel(c, tensors, dim, out);
  return op.in_place(out, [](Backward& /*b*/) {});
}

/// Source: ATen's stack_out: cat of the tensors with one more dimension.
Tensor stack_into(Context& c, const TensorList& tensors, std::int64_t dim, const Tensor& out) {
  if (tensors.empty()) throw OpError("stack expects a non-empty TensorList");
  check_no_gradient(c, "stack", tensors, out);
  Op op(c, "stack", "", tensors);
  TensorList raised;
  for (const Tensor& t : tensors) {
    if (!(t.sizes() == tensors.front().sizes())) {
      throw OpError(
          fmt::format("stack expects each tensor to be equal size, but got {} at entry 0 and {}",
                      to_string(tensors.front().sizes()), to_string(t.sizes())));
    }
    raised.push_back(unsqueeze(t, dim));
  }
  cat_kernel(c, raised, dim, out);
  return op.in_place(out, [](Backward& /*b*/) {});
}

}  // namespace tidemark::ops
