#pragma once

#include <optional>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Differentiable operators that move or copy: most are records (sim/ops/records/views.yaml). Views
// allocate nothing and keep their base alive.
// Source: docs/rules/shapes.md.

Tensor view(Context& c, const Tensor& self, const Dims& sizes);
/// The same look once more (x[...], x[:, :]): a view whose backward hands the gradient on as it is.
Tensor alias(Context& c, const Tensor& self);
/// A view where the strides allow it, else a contiguous copy (clone, then _unsafe_view).
Tensor reshape(Context& c, const Tensor& self, const Dims& sizes);
/// As view, without counting as one for autograd.
Tensor unsafe_view(Context& c, const Tensor& self, const Dims& sizes);
Tensor flatten(Context& c, const Tensor& self, std::int64_t start, std::int64_t end);
Tensor unflatten(Context& c, const Tensor& self, std::int64_t dim, const Dims& sizes);
Tensor t(Context& c, const Tensor& self);
Tensor transpose(Context& c, const Tensor& self, std::int64_t a, std::int64_t b);
Tensor permute(Context& c, const Tensor& self, const Dims& order);
Tensor expand(Context& c, const Tensor& self, const Dims& sizes);
Tensor unsqueeze(Context& c, const Tensor& self, std::int64_t dim);
Tensor squeeze(Context& c, const Tensor& self);
Tensor squeeze_dim(Context& c, const Tensor& self, std::int64_t dim);
inline Tensor squeeze(Context& c, const Tensor& self, std::int64_t dim) {
  return squeeze_dim(c, self, dim);
}
Tensor slice(Context& c, const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t end,
             std::int64_t step);
Tensor select(Context& c, const Tensor& self, std::int64_t dim, std::int64_t index);
TensorList split_Tensor(Context& c, const Tensor& self, std::int64_t size, std::int64_t dim);
TensorList split_with_sizes(Context& c, const Tensor& self, const std::vector<std::int64_t>& sizes,
                            std::int64_t dim);
TensorList chunk(Context& c, const Tensor& self, std::int64_t chunks, std::int64_t dim);
TensorList unbind(Context& c, const Tensor& self, std::int64_t dim);
Tensor cat(Context& c, TensorList tensors, std::int64_t dim);
Tensor stack(Context& c, TensorList tensors, std::int64_t dim);
Tensor clone(Context& c, const Tensor& self, std::optional<MemoryFormat> format);
/// self itself where it is contiguous in that format.
Tensor contiguous(Context& c, const Tensor& self, std::optional<MemoryFormat> format);
Tensor detach(Context& c, const Tensor& self);
/// A copy in another type; self where it has that type.
Tensor to(Context& c, const Tensor& self, ScalarType dtype);
struct ToOptions {
  std::optional<Device> device;
  std::optional<ScalarType> dtype;
  std::optional<MemoryFormat> format;
  bool copy = false;
  bool non_blocking = false;
};
/// Errors: OpError for channels_last of a tensor that has not four (channels_last_3d: five)
/// dimensions, thrown when its copy is there, as in PyTorch.
void require_rank(Context& c, const Tensor& self, MemoryFormat format, ScalarType dtype,
                  Device device);
Tensor to(Context& c, const Tensor& self, const ToOptions& options);
/// x.pin_memory() of a tensor that is not pinned. Errors: OpError for one that is not on the host.
Tensor pin_memory(Context& c, const Tensor& self);
/// x.copy_(src), with broadcasting.
Tensor copy_(Context& c, const Tensor& self, const Tensor& source, bool non_blocking = false);

/// Marks `view` as looking into `base`, as every view that PyTorch's dispatcher makes does: what
/// holds the view holds the base, so that neither counts as the only owner of the memory.
Tensor as_view(const Tensor& base, Tensor view);

/// cat and stack below autograd; cat into `out` where it is given.
Tensor cat_kernel(Context& c, const TensorList& tensors, std::int64_t dim, const Tensor& out = {});
Tensor stack_kernel(Context& c, const TensorList& tensors, std::int64_t dim);

}  // namespace tidemark::ops
