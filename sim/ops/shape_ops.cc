#include "sim/ops/shape_ops.h"
#include "sim/ops/sparse.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/complex_ops.h"
#include "sim/ops/copy_slices.h"
#include "sim/ops/device_check.h"
#include "sim/ops/kernels.h"
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

/// A gradient seen in another shape: a view that holds its base, or a copy where the strides do not
/// allow it.
Tensor reshaped_gradient(Backward& b, const Dims& sizes) {
  Context& c = b.c;
  const Tensor& grad = b.grad();
  if (b.c.grad_enabled()) return reshape(c, grad, sizes);
  const std::optional<Dims> strides = view_strides(grad.sizes(), grad.strides(), sizes);
  if (strides) return as_view(grad, Context::alias(grad, sizes, *strides, grad->offset));
  return view(clone_in(c, grad, MemoryFormat::kContiguous), sizes);
}

/// The gradient of squeeze: the dimensions of 1 among those from `first` up to `last` are put back,
/// one by one, which decides their strides. Source: torch's unsqueeze_to.
Tensor unsqueezed_gradient(Backward& b, const Dims& sizes, std::size_t first, std::size_t last) {
  if (b.c.grad_enabled()) return recorded_unsqueeze(b.c, b.grad(), sizes, first, last);
  Tensor result = b.grad();
  for (std::size_t i = first; i < last; ++i) {
    if (sizes[i] == 1) result = as_view(result, unsqueeze(result, static_cast<std::int64_t>(i)));
  }
  return result;
}

void hand_on(Backward& b) { b.grads[0] = b.grad(); }

}  // namespace

Tensor view(Context& c, const Tensor& self, const Dims& sizes) {
  Op op(c, "view", "ViewBackward0", {&self});
  return op.result(as_view(self, view(self, sizes)),
                   [old = self.sizes()](Backward& b) { b.grads[0] = reshaped_gradient(b, old); });
}

Tensor alias(Context& c, const Tensor& self) {
  Op op(c, "alias", "AliasBackward0", {&self});
  return op.result(as_view(self, view(self, self.sizes())), hand_on);
}

Tensor unsafe_view(Context& c, const Tensor& self, const Dims& sizes) {
  Op op(c, "_unsafe_view", "UnsafeViewBackward0", {&self});
  return op.result(view(self, sizes),
                   [old = self.sizes()](Backward& b) { b.grads[0] = reshaped_gradient(b, old); });
}

Tensor reshape(Context& c, const Tensor& self, const Dims& sizes) {
  const Dims wanted = infer_size(sizes, self.numel());
  if (view_strides(self.sizes(), self.strides(), wanted)) return view(c, self, wanted);
  return unsafe_view(c, clone(c, self, MemoryFormat::kContiguous), wanted);
}

Tensor flatten(Context& c, const Tensor& self, std::int64_t start, std::int64_t end) {
  if (self.dim() == 0) return reshape(c, self, {1});
  const std::int64_t first = wrap_dim(start, self.dim());
  const std::int64_t last = wrap_dim(end, self.dim());
  if (first > last)
    throw OpError("flatten() has invalid args: start_dim cannot come after end_dim");
  if (first == last) return self;
  Dims sizes;
  std::int64_t merged = 1;
  for (std::int64_t i = 0; i < self.dim(); ++i) {
    const std::int64_t s = self.size(i);
    if (i >= first && i <= last) {
      merged *= s;
      if (i == last) sizes.push_back(merged);
    } else {
      sizes.push_back(s);
    }
  }
  return reshape(c, self, sizes);
}

Tensor unflatten(Context& c, const Tensor& self, std::int64_t dim, const Dims& sizes) {
  const auto d = static_cast<std::size_t>(wrap_dim(dim, self.dim()));
  const Dims inner = infer_size(sizes, self.sizes()[d]);
  Dims all;
  for (std::size_t i = 0; i < self.sizes().size(); ++i) {
    if (i != d) {
      all.push_back(self.sizes()[i]);
    } else {
      for (const std::int64_t s : inner) all.push_back(s);
    }
  }
  return view(c, self, all);
}

Tensor t(Context& c, const Tensor& self) {
  if (self.dim() > 2) {
    throw OpError(
        fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D", self.dim()));
  }
  Op op(c, "t", "TBackward0", {&self});
  const std::int64_t last = self.dim() < 2 ? 0 : 1;
  return op.result(as_view(self, transpose(self, 0, last)), [last](Backward& b) {
    b.grads[0] =
        b.c.grad_enabled() ? t(b.c, b.grad()) : as_view(b.grad(), transpose(b.grad(), 0, last));
  });
}

Tensor transpose(Context& c, const Tensor& self, std::int64_t a, std::int64_t b) {
  Op op(c, "transpose", "TransposeBackward0", {&self});
  return op.result(as_view(self, transpose(self, a, b)), [a, b](Backward& back) {
    back.grads[0] = back.c.grad_enabled() ? transpose(back.c, back.grad(), a, b)
                                          : as_view(back.grad(), transpose(back.grad(), a, b));
  });
}

Tensor permute(Context& c, const Tensor& self, const Dims& order) {
  Op op(c, "permute", "PermuteBackward0", {&self});
  Tensor out = permute(self, order);
  Dims inverse = Dims::filled(order.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<std::size_t>(wrap_dim(order[i], self.dim()))] =
        static_cast<std::int64_t>(i);
  }
  return op.result(as_view(self, std::move(out)), [inverse](Backward& b) {
    b.grads[0] = b.c.grad_enabled() ? permute(b.c, b.grad(), inverse)
                                    : as_view(b.grad(), permute(b.grad(), inverse));
  });
}

Tensor expand(Context& c, const Tensor& self, const Dims& sizes) {
  Op op(c, "expand", "ExpandBackward0", {&self});
  return op.result(as_view(self, expand(self, sizes)), [old = self.sizes()](Backward& b) {
    b.grads[0] =
        b.c.grad_enabled() ? recorded_sum_to(b.c, b.grad(), old) : sum_to(b.c, b.grad(), old);
  });
}

Tensor unsqueeze(Context& c, const Tensor& self, std::int64_t dim) {
  Op op(c, "unsqueeze", "UnsqueezeBackward0", {&self});
  const std::int64_t d = wrap_dim(dim, self.dim() + 1);
  return op.result(as_view(self, unsqueeze(self, d)), [d](Backward& b) {
    b.grads[0] =
        b.c.grad_enabled() ? squeeze(b.c, b.grad(), d) : as_view(b.grad(), squeeze(b.grad(), d));
  });
}

Tensor squeeze(Context& c, const Tensor& self, std::int64_t dim) {
  Op op(c, "squeeze", "SqueezeBackward1", {&self});
  const auto d = static_cast<std::size_t>(wrap_dim(dim, std::max<std::int64_t>(1, self.dim())));
  return op.result(as_view(self, squeeze(self, dim)), [d, old = self.sizes()](Backward& b) {
    b.grads[0] = unsqueezed_gradient(b, old, d, std::min(d + 1, old.size()));
  });
}

Tensor squeeze_all(Context& c, const Tensor& self) {
  Op op(c, "squeeze", "SqueezeBackward0", {&self});
  Dims sizes;
  Dims strides;
  for (std::size_t i = 0; i < self.sizes().size(); ++i) {
    if (self.sizes()[i] == 1) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return op.result(as_view(self, Context::alias(self, sizes, strides, self->offset)),
                   [old = self.sizes()](Backward& b) {
                     b.grads[0] = unsqueezed_gradient(b, old, 0, old.size());
                   });
}

Tensor slice(Context& c, const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t end,
             std::int64_t step) {
  if (self.dim() == 0) throw OpError("slice() cannot be applied to a 0-dim tensor.");
  if (step <= 0) throw OpError("slice step must be positive");
  const std::int64_t d = wrap_dim(dim, self.dim());
  const std::int64_t size = self.size(d);
  const auto clamp = [size](std::int64_t i) {
    return std::min(std::max<std::int64_t>(i < 0 ? i + size : i, 0), size);
  };
  const std::int64_t first = clamp(start);
  const std::int64_t last = std::max(clamp(end), first);
  const std::int64_t length = (last - first + step - 1) / step;
  Op op(c, "slice", "SliceBackward0", {&self});
  return op.result(as_view(self, narrow(self, d, first, length, step)),
                   [old = self.sizes(), d, first, last, step](Backward& b) {
                     if (b.c.grad_enabled()) {
                       b.grads[0] =
                           recorded_slice_backward(b.c, b.grad(), old, d, first, last, step);
                       return;
                     }
                     const LabelScope label(b.c, "slice_backward");
                     const Tensor grad = resolved(b.c, b.grad());
                     b.grads[0] = b.c.empty(old, b.grad().dtype(), b.grad().device());
                   });
}

Tensor select(Context& c, const Tensor& self, std::int64_t dim, std::int64_t index) {
  Op op(c, "select", "SelectBackward0", {&self});
  return op.result(as_view(self, select(self, dim, index)),
                   [old = self.sizes(), dim, index](Backward& b) {
                     if (b.c.grad_enabled()) {
                       b.grads[0] = recorded_select_backward(b.c, b.grad(), old, dim, index);
                       return;
                     }
                     const LabelScope label(b.c, "select_backward");
                     const Tensor grad = resolved(b.c, b.grad());
                     b.grads[0] = b.c.empty(old, b.grad().dtype(), b.grad().device());
                   });
}

namespace {

/// Gradients of pieces joined again; pieces that nothing reached become zeros first.
void join_pieces(Backward& b, const std::vector<Dims>& sizes, ScalarType dtype, Device device,
                 std::int64_t dim, bool stacked) {
  TensorList pieces = b.incoming;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].defined()) pieces[i] = zeros(b.c, sizes[i], dtype, device);
  }
  if (b.c.grad_enabled()) {
    b.grads[0] = stacked ? stack(b.c, std::move(pieces), dim) : cat(b.c, std::move(pieces), dim);
  } else {
    b.grads[0] = stacked ? stack_kernel(b.c, pieces, dim) : cat_kernel(b.c, pieces, dim);
  }
}

/// Ties the views of one operator that gives several to their common node.
TensorList finish_pieces(Op& op, const Tensor& self, TensorList pieces, std::int64_t dim,
                         bool stacked) {
  std::vector<Dims> sizes;
  for (Tensor& piece : pieces) {
    as_view(self, piece);
    sizes.push_back(piece.sizes());
  }
  op.results_of(pieces,
                [sizes = std::move(sizes), dtype = self.dtype(), device = self.device(), dim,
                 stacked](Backward& b) { join_pieces(b, sizes, dtype, device, dim, stacked); });
  return pieces;
}

}  // namespace

TensorList split(Context& c, const Tensor& self, std::int64_t size, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim());
  const std::int64_t total = self.size(d);
  if (size < 0)
    throw OpError(
        fmt::format("split expects split_size be non-negative, but got split_size={}", size));
  if (size == 0 && total != 0) {
    throw OpError(fmt::format(
        "split_size can only be 0 if dimension size is 0, but got dimension size of {}", total));
  }
  Op op(c, "split", "SplitBackward0", {&self});
  TensorList pieces;
  for (std::int64_t at = 0; at < total || pieces.empty(); at += size) {
    pieces.push_back(narrow(self, d, at, std::min(size, total - at)));
    if (size == 0) break;
  }
  return finish_pieces(op, self, std::move(pieces), d, false);
}

std::vector<std::int64_t> with_equal_shares(std::vector<std::int64_t> sizes, std::int64_t total) {
  std::int64_t sharing = std::ranges::count(sizes, kEqualShare);
  for (const std::int64_t size : sizes) total -= size == kEqualShare ? 0 : size;
  for (std::int64_t& size : sizes) {
    if (size != kEqualShare) continue;
    size = std::max<std::int64_t>(total, 0) / sharing--;
    total -= size;
  }
  return sizes;
}

TensorList split_with_sizes(Context& c, const Tensor& self, const std::vector<std::int64_t>& given,
                            std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim());
  const std::vector<std::int64_t> sizes = with_equal_shares(given, self.size(d));
  Op op(c, "split_with_sizes", "SplitWithSizesBackward0", {&self});
  TensorList pieces;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || at + size > self.size(d)) {
      at = -1;
      break;
    }
    pieces.push_back(narrow(self, d, at, size));
    at += size;
  }
  if (at != self.size(d)) {
    throw OpError(
        fmt::format("split_with_sizes expects split_sizes to sum exactly to {} (input tensor's "
                    "size at dimension {}), but got split_sizes=[{}]",
                    self.size(d), d, fmt::join(sizes, ", ")));
  }
  return finish_pieces(op, self, std::move(pieces), d, false);
}

TensorList chunk(Context& c, const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  if (chunks <= 0)
    throw OpError(fmt::format("chunk expects `chunks` to be greater than 0, got: {}", chunks));
  const std::int64_t size = self.size(dim);
  return split(c, self, (size + chunks - 1) / chunks, dim);
}

TensorList unbind(Context& c, const Tensor& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim());
  Op op(c, "unbind", "UnbindBackward0", {&self});
  TensorList pieces;
  for (std::int64_t i = 0; i < self.size(d); ++i) pieces.push_back(select(self, d, i));
  return finish_pieces(op, self, std::move(pieces), d, true);
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

Tensor clone(Context& c, const Tensor& self, MemoryFormat format) {
  Op op(c, "clone", "CloneBackward0", {&self});
  return op.result(clone_in(c, self, format), hand_on);
}

Tensor contiguous(Context& c, const Tensor& self, MemoryFormat format) {
  return self.is_contiguous(format) ? self : clone(c, self, format);
}

Tensor detach(Context& /*c*/, const Tensor& self) {
  Tensor out = Context::shallow_copy(self);
  share_version(self, out);
  return out;
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
