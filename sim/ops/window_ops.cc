#include "sim/ops/window_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// `count` windows put back where they were taken.
Tensor folded(Context& c, const Tensor& windows, const Dims& sizes, std::int64_t count,
              std::int64_t size, std::int64_t step) {
  Tensor out = zeros(c, sizes, windows.dtype(), windows.device());
  // Windows that meet: which of them each place belongs to is counted up.
  if (step < size && windows.numel() > 0) {
    c.empty({(count - 1) * step + size}, ScalarType::kInt64, windows.device());
  }
  return out;
}

}  // namespace

/// x.unfold(dim, size, step): windows along a dimension, as a view.
Tensor unfold(Context& c, const Tensor& self, std::int64_t dim, std::int64_t size,
              std::int64_t step) {
  const std::int64_t d = self.dim() == 0 ? 0 : wrap_dim(dim, self.dim());
  const std::int64_t length = self.dim() == 0 ? 1 : self.size(d);
  if (size < 0 || size > length) {
    throw OpError(fmt::format("maximum size for tensor at dimension {} is {} but size is {}", d,
                              length, size));
  }
  if (step <= 0) throw OpError(fmt::format("step is {} but must be > 0", step));
  Dims sizes = self.sizes();
  Dims strides = self.strides();
  const std::int64_t count = (length - size) / step + 1;
  strides.push_back(self.dim() == 0 ? 1 : self.stride(d));
  sizes.push_back(size);
  if (self.dim() > 0) {
    sizes[static_cast<std::size_t>(d)] = count;
    // Of one window the stride leads nowhere, however large.
    if (count > 1) strides[static_cast<std::size_t>(d)] *= step;
  }
  Op op(c, "unfold", "UnfoldBackward0", {&self});
  return op.result(as_view(self, Context::alias(self, sizes, strides, self->offset)),
                   [all = self.sizes(), count, size, step](Backward& b) {
                     b.grads[0] = folded(b.c, b.grad(), all, count, size, step);
                   });
}

/// Windows added up where they lie: what unfold's gradient does, as an operator of its own (istft).
Tensor unfold_backward(Context& c, const Tensor& self, const Dims& sizes, std::int64_t dim,
                       std::int64_t size, std::int64_t step) {
  const std::int64_t d = wrap_dim(dim, self.dim() - 1);
  Op op(c, "unfold_backward", "UnfoldBackwardBackward0", {&self});
  return op.result(folded(c, self, sizes, self.size(d), size, step), [d, size, step](Backward& b) {
    const GradMode off(b.c, false);
    b.grads[0] = unfold(b.c, b.grad(), d, size, step);
  });
}

namespace {

/// Whether two index tuples may mean one element. Source: at::geometry_is... in
/// as_strided_backward.
bool may_overlap(const Dims& sizes, const Dims& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) order.emplace_back(strides[i], sizes[i]);
  }
  std::sort(order.begin(), order.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : order) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

/// Where a tensor lies in its storage, without what reads no further: dimensions of one element.
struct Geometry {
  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;

  /// How many elements of the storage it reaches over, from `start` on.
  [[nodiscard]] std::int64_t reach(std::int64_t start) const {
    std::int64_t end = offset - start + 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) end += (sizes[i] - 1) * strides[i];
    return end;
  }
};

Geometry without_ones(const Dims& sizes, const Dims& strides, std::int64_t offset) {
  Geometry out;
  out.offset = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    out.sizes.push_back(sizes[i]);
    out.strides.push_back(strides[i]);
  }
  return out;
}

/// The gradient of as_strided, which saw `seen` in the storage of `whole`: zeros for as much of the
/// storage as both reach over, the gradient written or, where elements are seen twice, added there;
/// where the input itself has them twice, divided by how often. Source: as_strided_backward.
Tensor as_strided_gradient(Context& c, Tensor grad, const Geometry& whole, Geometry seen) {
  for (std::size_t i = seen.sizes.size(); i-- > 0;) {
    if (seen.strides[i] != 0) continue;
    grad = sum_kernel(c, grad, {static_cast<std::int64_t>(i)}, false);
    seen.sizes.erase(i);
    seen.strides.erase(i);
  }
  const std::int64_t start = std::min(whole.offset, seen.offset);
  const std::int64_t size = std::max(whole.reach(start), seen.reach(start));
  const Tensor storage = zeros(c, {size}, grad.dtype(), grad.device());
  const bool adds = may_overlap(seen.sizes, seen.strides);
  const bool shares = may_overlap(whole.sizes, whole.strides);
  Tensor positions;
  if (adds || shares) positions = c.empty({size}, ScalarType::kInt64, grad.device());
  const auto places = [&](const Geometry& of) {
    return reshape_kernel(c, Context::alias(positions, of.sizes, of.strides, of.offset - start),
                          Dims{-1});
  };
  if (adds) {
    const Tensor values = reshape_kernel(c, grad, Dims{-1});
    places(seen);
  }
  if (shares) {
    const Tensor count = zeros_like(c, storage);
    const Tensor indices = places(whole);
    c.empty({1}, grad.dtype(), grad.device());
  }
  return Context::alias(storage, whole.sizes, whole.strides, whole.offset - start);
}

}  // namespace

Tensor as_strided(Context& c, const Tensor& self, const Dims& sizes, const Dims& strides,
                  std::optional<std::int64_t> offset) {
  if (sizes.size() != strides.size()) {
    throw OpError(fmt::format("mismatch in length of strides and shape: {} and {}",
                              to_string(strides), to_string(sizes)));
  }
  const std::int64_t start = offset.value_or(self->offset);
  std::int64_t reach = start;
  for (std::size_t i = 0; i < sizes.size(); ++i) reach += (sizes[i] - 1) * strides[i];
  const auto held = static_cast<std::int64_t>(self->storage->bytes() / element_bytes(self.dtype()));
  if (numel_of(sizes) > 0 && reach >= held) {
    throw OpError(fmt::format(
        "setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} requiring a storage "
        "size of {} are out of bounds for storage of size {}",
        to_string(sizes), to_string(strides), start, element_bytes(self.dtype()),
        (reach + 1) * static_cast<std::int64_t>(element_bytes(self.dtype())),
        self->storage->bytes()));
  }
  Op op(c, "as_strided", "AsStridedBackward0", {&self});
  return op.result(
      as_view(self, Context::alias(self, sizes, strides, start)),
      [all = self.sizes(), whole = without_ones(self.sizes(), self.strides(), self->offset),
       seen = without_ones(sizes, strides, start)](Backward& b) {
        if (numel_of(seen.sizes) == 0 || numel_of(all) == 0) {
          b.grads[0] = zeros(b.c, all, b.grad().dtype(), b.grad().device());
          return;
        }
        const Tensor grad = reshape_kernel(b.c, b.grad(), seen.sizes);
        const Tensor gradient = as_strided_gradient(b.c, grad, whole, seen);
        b.grads[0] = as_view(gradient, reshape_kernel(b.c, gradient, all));
      });
}

namespace {

/// squeeze_, transpose_ and their like: the tensor itself is seen otherwise.
Tensor reseen(Context& c, const Tensor& self, std::string_view name, std::string_view node,
              const Tensor& seen, BackwardFunction backward) {
  Op op(c, name, node, {&self});
  if (op.records() && self->view_base) {
    throw NotModelled(fmt::format(
        "{} of a view while gradients are recorded is not modelled; use the operator without the "
        "underscore",
        name));
  }
  self->sizes = seen.sizes();
  self->strides = seen.strides();
  return op.in_place(self, std::move(backward));
}

}  // namespace

OpResult turned_in_place(Context& c, const Tensor& self, std::int64_t d0, std::int64_t d1,
                         std::string_view name) {
  return reseen(c, self, name, "TransposeBackward0", transpose(self, d0, d1),
                [d0, d1](Backward& b) {
                  b.grads[0] = b.c.grad_enabled() ? transpose(b.c, b.grad(), d0, d1)
                                                  : as_view(b.grad(), transpose(b.grad(), d0, d1));
                });
}

namespace {

Tensor squeezed(const Tensor& self, const Dims& dims) {
  Dims sizes;
  Dims strides;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    bool asked = dims.empty();
    for (const std::int64_t wanted : dims) asked = asked || wrap_dim(wanted, self.dim()) == d;
    if (asked && self.size(d) == 1) continue;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  return Context::alias(self, sizes, strides, self->offset);
}

/// The gradient gets its lost dimensions back; without any it is handed on.
BackwardFunction unsqueeze_backward(const Dims& sizes) {
  return [sizes](Backward& b) {
    b.grads[0] = b.grad().sizes() == sizes ? b.grad()
                 : b.c.grad_enabled()      ? view(b.c, b.grad(), sizes)
                                           : as_view(b.grad(), view(b.grad(), sizes));
  };
}

}  // namespace

Tensor squeeze_(Context& c, const Tensor& self, std::int64_t dim) {
  return reseen(c, self, "squeeze_", "SqueezeBackward1", squeezed(self, {dim}),
                unsqueeze_backward(self.sizes()));
}

OpResult squeezed_in_place(Arguments& a) {
  const Tensor& x = a.tensor(0);
  return reseen(a.context(), x, "squeeze_", "SqueezeBackward0", squeezed(x, {}),
                unsqueeze_backward(x.sizes()));
}

OpResult squeezed_dims_in_place(Arguments& a) {
  const Tensor& x = a.tensor(0);
  return reseen(a.context(), x, "squeeze_", "SqueezeBackward1", squeezed(x, a.dims(1)),
                unsqueeze_backward(x.sizes()));
}

OpResult squeezed_dims(Arguments& a) {
  const Tensor& x = a.tensor(0);
  Op op(a.context(), "squeeze", "SqueezeBackward2", {&x});
  return op.result(as_view(x, squeezed(x, a.dims(1))), unsqueeze_backward(x.sizes()));
}

OpResult unsqueezed_in_place(Arguments& a) {
  const Tensor& x = a.tensor(0);
  const std::int64_t d = wrap_dim(a.integer(1), x.dim() + 1);
  return reseen(a.context(), x, "unsqueeze_", "UnsqueezeBackward0", unsqueeze(x, d),
                [d](Backward& b) {
                  b.grads[0] = b.c.grad_enabled() ? squeeze(b.c, b.grad(), d)
                                                  : as_view(b.grad(), squeeze(b.grad(), d));
                });
}

OpResult t_in_place(Arguments& a) {
  const Tensor& x = a.tensor(0);
  if (x.dim() < 2) return x;
  return turned_in_place(a.context(), x, 0, 1, "t_");
}

}  // namespace tidemark::ops
