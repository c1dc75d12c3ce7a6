#include "sim/ops/kernels.h"

#include <fmt/format.h>

#include <array>

#include "sim/base/bytes.h"
#include "sim/ops/complex_ops.h"
#include "sim/ops/index_error.h"
#include "sim/ops/sparse.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

ScalarType result_type(const Context& c, const std::vector<const Tensor*>& operands) {
  // Three ranks: tensors with dimensions, 0-dim tensors, Python numbers. A lower rank matters only
  // when its category (bool, integer, float, complex) is higher than everything above it. Source:
  // at::native::result_type.
  struct Rank {
    bool any = false;
    ScalarType type = ScalarType::kBool;
  };
  std::array<Rank, 3> ranks;
  for (const Tensor* t : operands) {
    ScalarType type = t->dtype();
    std::size_t rank = t->dim() > 0 ? 0 : 1;
    if ((*t)->wrapped_number) {
      rank = 2;
      if (is_complex(type)) {
        type = ScalarType::kComplex64;
      } else if (is_floating(type)) {
        type = c.default_dtype;
      }
    }
    Rank& r = ranks[rank];
    r.type = r.any ? promote(r.type, type) : type;
    r.any = true;
  }
  const auto category = [](ScalarType type) {
    if (is_complex(type)) return 3;
    if (is_floating(type)) return 2;
    return type == ScalarType::kBool ? 0 : 1;
  };
  Rank out;
  for (const Rank& r : ranks) {
    if (!r.any) continue;
    if (!out.any) {
      out = r;
    } else if (category(r.type) > category(out.type)) {
      out.type = promote(out.type, r.type);
    }
  }
  return out.type;
}

namespace {

Device common_device(std::initializer_list<const Tensor*> operands) {
  Device device = kHost;
  for (const Tensor* t : operands) {
    if (t->device() == kMeta) device = kMeta;
    if (!t->is_cuda()) continue;
    if (device.is_cuda() && !(device == t->device())) {
      throw OpError(
          fmt::format("Expected all tensors to be on the same device, but found at least two "
                      "devices, cuda:{} and cuda:{}!",
                      device.index, t->device().index));
    }
    device = t->device();
  }
  for (const Tensor* t : operands) {
    if (device.is_cuda() && !t->is_cuda() && t->dim() > 0) {
      throw OpError(
          fmt::format("Expected all tensors to be on the same device, but found at least two "
                      "devices, cuda:{} and cpu!",
                      device.index));
    }
  }
  return device;
}

}  // namespace

namespace {

/// Traced, what conj() looks at is copied by an operator of its own before the kernel.
Tensor pointwise_of_copies(Context& c, std::initializer_list<const Tensor*> operands,
                           ScalarType dtype) {
  TensorList plain;
  for (const Tensor* t : operands) plain.push_back(resolved(c, *t));
  switch (plain.size()) {
    case 1:
      return pointwise(c, {&plain[0]}, dtype);
    case 2:
      return pointwise(c, {&plain[0], &plain[1]}, dtype);
    case 3:
      return pointwise(c, {&plain[0], &plain[1], &plain[2]}, dtype);
    default:
      throw NotModelled(
          fmt::format("a kernel of {} operands, one of them conjugate", plain.size()));
  }
}

}  // namespace

Tensor pointwise(Context& c, std::initializer_list<const Tensor*> operands, ScalarType dtype) {
  if (c.tracer != nullptr &&
      std::any_of(operands.begin(), operands.end(), [](const Tensor* t) { return (*t)->is_conj; }))
    return pointwise_of_copies(c, operands, dtype);
  const KernelScope kernel(c, KernelKind::kPointwise, operands);
  const std::vector<const Tensor*> list(operands);
  TensorList copies;
  for (const Tensor* t : list) {
    if ((*t)->is_conj) copies.push_back(resolved(c, *t));
  }
  Dims shape = list.front()->sizes();
  for (std::size_t i = 1; i < list.size(); ++i) shape = broadcast(shape, list[i]->sizes());
  return kernel.gives(
      c.empty_strided(shape, iterator_strides(shape, list), dtype, common_device(operands)));
}

Tensor pointwise(Context& c, std::initializer_list<const Tensor*> operands) {
  return pointwise(c, operands, result_type(c, std::vector<const Tensor*>(operands)));
}

Tensor clone(Context& c, const Tensor& x) {
  if (x.is_sparse()) return clone_sparse(c, x);
  const KernelScope kernel(c, KernelKind::kCopy, {&x});
  return kernel.gives(c.empty_like(x));
}
Tensor clone_in(Context& c, const Tensor& x, MemoryFormat format) {
  if (format == MemoryFormat::kPreserve) return clone(c, x);
  const KernelScope kernel(c, KernelKind::kCopy, {&x});
  return kernel.gives(c.empty_in(x.sizes(), format, x.dtype(), x.device()));
}
Tensor contiguous_kernel(Context& c, const Tensor& x, MemoryFormat format) {
  if (x.is_contiguous(format)) return x;
  return clone_in(c, x, format);
}
Tensor to_dtype(Context& c, const Tensor& x, ScalarType dtype) {
  if (x.dtype() == dtype) return x;
  const KernelScope kernel(c, KernelKind::kCast, {&x});
  return kernel.gives(c.empty_like(x, dtype));
}
Tensor zeros(Context& c, const Dims& sizes, ScalarType dtype, Device device) {
  const KernelScope kernel(c, KernelKind::kFill, {});
  return kernel.gives(c.empty(sizes, dtype, device));
}
Tensor zeros_like(Context& c, const Tensor& like) {
  const KernelScope kernel(c, KernelKind::kFill, {});
  return kernel.gives(c.empty_like(like));
}

Tensor view(const Tensor& x, const Dims& sizes) {
  const Dims wanted = infer_size(sizes, x.numel());
  const std::optional<Dims> strides = view_strides(x.sizes(), x.strides(), wanted);
  if (!strides) {
    throw OpError(
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead.");
  }
  return Context::alias(x, wanted, *strides, x->offset);
}

Tensor reshape_kernel(Context& c, const Tensor& x, const Dims& sizes) {
  const Dims wanted = infer_size(sizes, x.numel());
  const std::optional<Dims> strides = view_strides(x.sizes(), x.strides(), wanted);
  if (strides) return Context::alias(x, wanted, *strides, x->offset);
  return view(clone_in(c, x, MemoryFormat::kContiguous), wanted);
}

Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b) {
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  const auto i = static_cast<std::size_t>(wrap_dim(a, x.dim()));
  const auto j = static_cast<std::size_t>(wrap_dim(b, x.dim()));
  if (sizes.empty()) return Context::alias(x, sizes, strides, x->offset);
  std::swap(sizes[i], sizes[j]);
  std::swap(strides[i], strides[j]);
  return Context::alias(x, sizes, strides, x->offset);
}

Tensor permute(const Tensor& x, const Dims& order) {
  if (order.size() != x.sizes().size()) {
    throw OpError(
        fmt::format("permute(sparse_coo): number of dimensions in the tensor input does not match "
                    "the length of the desired ordering of dimensions i.e. input.dim() = {} is not "
                    "equal to len(dims) = {}",
                    x.dim(), order.size()));
  }
  Dims sizes;
  Dims strides;
  std::array<bool, Dims::kMaxDims> seen{};
  for (const std::int64_t d : order) {
    const auto i = static_cast<std::size_t>(wrap_dim(d, x.dim()));
    if (seen[i]) throw OpError("permute(): duplicate dims are not allowed.");
    seen[i] = true;
    sizes.push_back(x.sizes()[i]);
    strides.push_back(x.strides()[i]);
  }
  return Context::alias(x, sizes, strides, x->offset);
}

Tensor expand(const Tensor& x, const Dims& wanted) {
  if (wanted.size() < x.sizes().size()) {
    throw OpError(
        fmt::format("expand({}): the number of sizes provided ({}) must be greater or equal to the "
                    "number of dimensions in the tensor ({})",
                    to_string(wanted), wanted.size(), x.dim()));
  }
  const std::size_t lead = wanted.size() - x.sizes().size();
  Dims sizes = wanted;
  Dims strides = Dims::filled(wanted.size(), 0);
  for (std::size_t i = wanted.size(); i-- > 0;) {
    if (i < lead) {
      if (wanted[i] < 0) {
        throw OpError(
            fmt::format("The expanded size of the tensor ({}) isn't allowed in a leading, "
                        "non-existing dimension {}",
                        wanted[i], i));
      }
      // Those of a tensor without dimensions are all 0, even where the size is 1.
      if (x.dim() > 0 && wanted[i] == 1) strides[i] = strides[i + 1] * sizes[i + 1];
      continue;
    }
    const std::int64_t own = x.sizes()[i - lead];
    if (wanted[i] == -1) sizes[i] = own;
    strides[i] = x.strides()[i - lead];
    if (own != sizes[i]) {
      if (own != 1) {
        throw OpError(
            fmt::format("The expanded size of the tensor ({}) must match the existing size ({}) at "
                        "non-singleton dimension {}.  Target sizes: {}.  Tensor sizes: {}",
                        wanted[i], own, i, to_string(wanted), to_string(x.sizes())));
      }
      strides[i] = 0;
    }
  }
  (void)numel_of(sizes);  // whatever works on the view may count its elements
  return Context::alias(x, sizes, strides, x->offset);
}

Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length,
              std::int64_t step) {
  const auto d = static_cast<std::size_t>(wrap_dim(dim, x.dim()));
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  const std::int64_t offset = x->offset + start * strides[d];
  sizes[d] = length;
  // A stride that overflows is of one element alone: it leads nowhere, and stays as it is.
  strides[d] = checked_multiply(strides[d], step).value_or(strides[d]);
  return Context::alias(x, sizes, strides, offset);
}

Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index) {
  if (x.dim() == 0) throw OpError("select() cannot be applied to a 0-dim tensor.");
  const auto d = static_cast<std::size_t>(wrap_dim(dim, x.dim()));
  const std::int64_t size = x.sizes()[d];
  if (index < -size || index >= size) {
    throw IndexError(
        fmt::format("select(): index {} out of range for tensor of size {} at dimension {}", index,
                    to_string(x.sizes()), dim));
  }
  if (index < 0) index += size;
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  const std::int64_t offset = x->offset + index * strides[d];
  sizes.erase(d);
  strides.erase(d);
  return Context::alias(x, sizes, strides, offset);
}

Tensor squeeze(const Tensor& x, std::int64_t dim) {
  const auto d = static_cast<std::size_t>(wrap_dim(dim, x.dim()));
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  if (!sizes.empty() && sizes[d] == 1) {
    sizes.erase(d);
    strides.erase(d);
  }
  return Context::alias(x, sizes, strides, x->offset);
}

Tensor unsqueeze(const Tensor& x, std::int64_t dim) {
  const auto d = static_cast<std::size_t>(wrap_dim(dim, x.dim() + 1));
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  const std::int64_t stride = d < sizes.size() ? sizes[d] * strides[d] : 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  return Context::alias(x, sizes, strides, x->offset);
}

}  // namespace tidemark::ops
