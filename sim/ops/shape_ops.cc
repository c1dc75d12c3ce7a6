#include "sim/ops/shape_ops.h"
#include "sim/ops/sparse.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/complex_ops.h"
#include "sim/ops/copy_slices.h"
#include "sim/ops/device_check.h"
#include "sim/ops/kernels.h"
#include "sim/ops/natives.h"
#include "sim/ops/op.h"
#include "sim/ops/out_ops.h"
#include "sim/ops/parts.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

Tensor as_view(const Tensor& base, Tensor view) {
  view->view_base = base->view_base ? base->view_base : base.ref();
  view->view_kind = base->view_kind;
  share_version(base, view);
  view->history_version = view->version->value;
  return view;
}

namespace {

void hand_on(Backward& b) { b.grads[0] = b.grad(); }

}  // namespace

Tensor alias(Context& c, const Tensor& self) {
  Op op(c, "alias", "AliasBackward0", {&self});
  return op.result(as_view(self, view(self, self.sizes())), hand_on);
}

Tensor unsafe_view(Context& c, const Tensor& self, const Dims& sizes) {
  Op op(c, "_unsafe_view", "UnsafeViewBackward0", {&self});
  return op.result(view(self, sizes), [old = self.sizes()](Backward& b) {
    b.grads[0] = reshaped(b.c, b.grad(), old);
  });
}

Tensor cat_kernel(Context& c, const TensorList& tensors, std::int64_t dim, const Tensor& out) {
  const KernelScope kernel(c, KernelKind::kCat, tensors);
  // A 1-D tensor of no elements joins anything. Source: at::native::cat.
  const auto skipped = [](const Tensor& t) { return t.dim() == 1 && t.numel() == 0; };
  const Tensor* first = nullptr;
  ScalarType dtype = tensors.front().dtype();
  for (const Tensor& t : tensors) {
    dtype = promote(dtype, t.dtype());
    if (first == nullptr && !skipped(t)) first = &t;
  }
  if (first == nullptr) {
    return out.defined() ? out : c.empty({0}, dtype, tensors.front().device());
  }
  TensorList copies;
  for (const Tensor& t : tensors) {
    if (t->is_conj) copies.push_back(resolved(c, t));
  }
  const auto d = static_cast<std::size_t>(wrap_dim(dim, first->dim()));
  Dims sizes = first->sizes();
  std::int64_t total = 0;
  MemoryFormat format = first->suggest_memory_format();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (skipped(t)) continue;
    if (t.dim() != first->dim()) {
      throw OpError(fmt::format("Tensors must have same number of dimensions: got {} and {}",
                                first->dim(), t.dim()));
    }
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (k != d && t.sizes()[k] != sizes[k]) {
        throw OpError(
            fmt::format("Sizes of tensors must match except in dimension {}. Expected size {} but "
                        "got size {} for tensor number {} in the list.",
                        d, sizes[k], t.sizes()[k], i));
      }
    }
    total += t.sizes()[d];
    if (t.suggest_memory_format() != format) format = MemoryFormat::kContiguous;
  }
  sizes[d] = total;
  if (!out.defined()) return kernel.gives(c.empty_in(sizes, format, dtype, first->device()));
  check_out("cat", out, sizes, dtype);
  return kernel.gives(out);
}

Tensor cat(Context& c, TensorList tensors, std::int64_t dim) {
  if (tensors.empty()) throw OpError("torch.cat(): expected a non-empty list of Tensors");
  check_list_device("cat", tensors);
  Op op(c, "cat", "CatBackward0", tensors);
  Tensor out = cat_kernel(c, tensors, dim);
  const std::int64_t d = wrap_dim(dim, out.dim());
  std::vector<std::int64_t> lengths;
  for (const Tensor& t : tensors) {
    lengths.push_back(t.dim() == 1 && t.numel() == 0 && out.dim() != 1 ? -1 : t.size(d));
  }
  return op.result(std::move(out), [lengths = std::move(lengths), d](Backward& b) {
    const bool records = b.c.grad_enabled();
    std::int64_t at = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] < 0) continue;
      if (b.needs(i)) {
        b.grads[i] = records ? slice(b.c, b.grad(), d, at, at + lengths[i], 1)
                             : as_view(b.grad(), narrow(b.grad(), d, at, lengths[i]));
      }
      at += lengths[i];
    }
  });
}

Tensor stack_kernel(Context& c, const TensorList& tensors, std::int64_t dim) {
  const KernelScope kernel(c, KernelKind::kCat, tensors);
  ScalarType dtype = tensors.front().dtype();
  for (const Tensor& t : tensors) {
    dtype = promote(dtype, t.dtype());
    if (!(t.sizes() == tensors.front().sizes())) {
      throw OpError(
          fmt::format("stack expects each tensor to be equal size, but got {} at entry 0 and {}",
                      to_string(tensors.front().sizes()), to_string(t.sizes())));
    }
  }
  const Dims& each = tensors.front().sizes();
  const auto d = static_cast<std::size_t>(wrap_dim(dim, tensors.front().dim() + 1));
  const auto count = static_cast<std::int64_t>(tensors.size());
  Dims sizes = each;
  sizes.insert(d, count);
  MemoryFormat format = tensors.front().suggest_memory_format();
  for (const Tensor& t : tensors) {
    if (t.suggest_memory_format() != format) format = MemoryFormat::kContiguous;
  }
  const Device device = tensors.front().device();
  if (d == each.size() || format == MemoryFormat::kContiguous) {
    return kernel.gives(c.empty(sizes, dtype, device));
  }
  // What cat gives along that dimension, split there. Source: at::native::stack.
  Dims joined = each;
  joined[d] *= count;
  Dims strides = channels_last_strides(joined);
  const std::int64_t outer = each[d] * strides[d];
  strides.insert(d, outer);
  return kernel.gives(c.empty_strided(sizes, strides, dtype, device));
}

Tensor stack(Context& c, TensorList tensors, std::int64_t dim) {
  if (tensors.empty()) throw OpError("stack expects a non-empty TensorList");
  check_list_device("stack", tensors);
  Op op(c, "stack", "StackBackward0", tensors);
  Tensor out = stack_kernel(c, tensors, dim);
  const std::int64_t d = wrap_dim(dim, out.dim());
  return op.result(std::move(out), [d](Backward& b) {
    const TensorList pieces = b.c.grad_enabled() ? unbind(b.c, b.grad(), d) : TensorList();
    for (std::size_t i = 0; i < b.grads.size(); ++i) {
      if (b.needs(i) && !pieces.empty()) {
        b.grads[i] = pieces[i];
      } else if (b.needs(i)) {
        b.grads[i] = as_view(b.grad(), select(b.grad(), d, static_cast<std::int64_t>(i)));
      }
    }
  });
}

Tensor to(Context& c, const Tensor& self, ScalarType dtype) {
  ToOptions options;
  options.dtype = dtype;
  return to(c, self, options);
}

namespace {

/// What a copy between host and device takes beside the two tensors. The wire carries only like for
/// like: types and layouts are changed before or after it, on the GPU where nobody waits for the
/// copy, else on the host. Source: ATen's copy_requires_temporaries and copy_kernel_cuda.
void transfer(Context& c, const Tensor& target, const Tensor& source, bool non_blocking) {
  if (target.is_cuda() == source.is_cuda() || target.numel() == 0) return;
  const bool same_type = target.dtype() == source.dtype();
  const bool same_layout =
      target.sizes() == source.sizes() &&
      ((target.is_contiguous() && source.is_contiguous()) ||
       (target.strides() == source.strides() && target.is_non_overlapping_and_dense()));
  if (same_type && same_layout) {
    c.copy_across(source, target, non_blocking);
    return;
  }
  const bool changes_source = source.is_cuda() == non_blocking;
  Tensor landed = target;
  if (!target.is_contiguous() || (!changes_source && !same_type)) {
    landed =
        c.empty(target.sizes(), changes_source ? target.dtype() : source.dtype(), target.device());
  }
  const Tensor sent = contiguous(
      c, expand(changes_source ? to_dtype(c, source, target.dtype()) : source, target.sizes()));
  c.copy_across(sent, landed, non_blocking);
}

}  // namespace

void require_rank(Context& c, const Tensor& self, MemoryFormat format, ScalarType dtype,
                  Device device) {
  const bool is_3d = format == MemoryFormat::kChannelsLast3d;
  if (!is_3d && format != MemoryFormat::kChannelsLast) return;
  if (self.dim() == (is_3d ? 5 : 4)) return;
  const Tensor made = c.empty(self.sizes(), dtype, device);
  throw OpError(fmt::format("required rank {} tensor to use channels_last{} format", is_3d ? 5 : 4,
                            is_3d ? "_3d" : ""));
}

Tensor to(Context& c, const Tensor& self, const ToOptions& options) {
  const ScalarType dtype = options.dtype.value_or(self.dtype());
  const Device device = options.device.value_or(self.device());
  if (self.is_sparse() && !self.requires_grad() && !options.format) {
    if (!options.copy && dtype == self.dtype() && device == self.device()) return self;
    ToOptions moved = options;
    moved.dtype.reset();
    moved.copy = true;  // as the values are
    Tensor indices = to(c, self->sparse->indices, moved);
    return make_sparse(self.sizes(), std::move(indices), to(c, self->sparse->values, options));
  }
  const MemoryFormat format = options.format.value_or(MemoryFormat::kPreserve);
  require_rank(c, self, format, dtype, device);
  const bool same_format =
      format == MemoryFormat::kPreserve || self.suggest_memory_format() == format;
  if (!options.copy && dtype == self.dtype() && device == self.device() && same_format) return self;
  if (self.device() == kMeta && !(device == kMeta))
    throw OpError("Cannot copy out of meta tensor; no data!");
  Op op(c, "to", "ToCopyBackward0", {&self});
  Tensor out;
  if (format == MemoryFormat::kPreserve) {
    const Dims strides = self.is_non_overlapping_and_dense()
                             ? self.strides()
                             : dense_strides_like(self.sizes(), self.strides());
    // Source: ATen's _to_copy: what nobody waits for needs memory that the copy engine can reach.
    out = options.non_blocking && self.is_cuda() && !device.is_cuda()
              ? c.empty_pinned(self.sizes(), strides, dtype)
              : c.empty_strided(self.sizes(), strides, dtype, device);
  } else {
    out = c.empty_in(self.sizes(), format, dtype, device);
  }
  transfer(c, out, self, options.non_blocking);
  return op.result(std::move(out), [from = self.dtype(), at = self.device()](Backward& b) {
    if (b.c.grad_enabled()) {
      ToOptions back;
      back.dtype = from;
      back.device = at;
      b.grads[0] = to(b.c, b.grad(), back);
      return;
    }
    const Tensor grad = real_gradient(b.grad(), from);
    if (grad.dtype() == from && grad.device() == at) {
      b.grads[0] = grad;
      return;
    }
    const Dims strides = grad.is_non_overlapping_and_dense()
                             ? grad.strides()
                             : dense_strides_like(grad.sizes(), grad.strides());
    b.grads[0] = b.c.empty_strided(grad.sizes(), strides, from, at);
    transfer(b.c, b.grads[0], grad, false);
  });
}

Tensor pin_memory(Context& c, const Tensor& self) {
  if (self.is_sparse()) throw NotModelled("pin_memory() of a sparse tensor is not modelled");
  if (self.is_cuda()) {
    throw OpError(
        fmt::format("cannot pin '{}' only dense CPU tensors can be pinned", class_name(self)));
  }
  if (self.requires_grad() && c.grad_enabled())
    throw NotModelled("pin_memory() of a tensor that requires grad is not modelled");
  const LabelScope label(c, "pin_memory");
  return c.empty_pinned(self.sizes(), self.strides(), self.dtype());
}

Tensor copy_(Context& c, const Tensor& self, const Tensor& source, bool non_blocking) {
  const Dims shape = broadcast(self.sizes(), source.sizes());
  if (!(shape == self.sizes())) {
    throw OpError(fmt::format("output with shape {} doesn't match the broadcast shape {}",
                              to_string(self.sizes()), to_string(shape)));
  }
  Op op(c, "copy_", "CopyBackwards", {&self, &source});
  transfer(c, self, source, non_blocking);
  return op.in_place(self, [from = source.dtype(), at = source.device()](Backward& b) {
    if (b.needs(0)) b.grads[0] = b.c.empty_like(b.grad());
    if (b.needs(1)) {
      const Tensor& grad = b.grad();
      b.grads[1] =
          grad.dtype() == from && grad.device() == at ? grad
          : b.c.grad_enabled()
              ? to(b.c, grad, {at, from, std::nullopt})
              : b.c.empty_strided(grad.sizes(), contiguous_strides(grad.sizes()), from, at);
    }
  });
}

}  // namespace tidemark::ops
