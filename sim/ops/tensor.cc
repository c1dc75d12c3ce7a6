#include "sim/ops/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/ops/index_error.h"
#include "sim/ops/node.h"

namespace tidemark::ops {

TensorImpl::~TensorImpl() {
  if (retains_grad && grad_fn) grad_fn->forget_retained(*this);
  if (spread) storage.reset();  // a DTensor's part goes before its history and its gradient
  delete sparse;
}

std::int64_t Tensor::size(std::int64_t d) const {
  return impl_->sizes[static_cast<std::size_t>(wrap_dim(d, dim()))];
}
std::int64_t Tensor::stride(std::int64_t d) const {
  return impl_->strides[static_cast<std::size_t>(wrap_dim(d, dim()))];
}
std::int64_t Tensor::numel() const {
  std::int64_t n = 1;
  for (const std::int64_t s : impl_->sizes) n *= s;
  return n;
}
Bytes Tensor::bytes() const { return static_cast<Bytes>(numel()) * element_bytes(dtype()); }

namespace {

bool dense_in(const TensorImpl& t, std::initializer_list<std::size_t> order_from_inner) {
  std::int64_t expected = 1;
  for (const std::size_t d : order_from_inner) {
    if (t.sizes[d] == 1) continue;
    if (t.strides[d] != expected) return false;
    expected *= t.sizes[d];
  }
  return true;
}

/// Source: c10::is_channels_last_strides_2d_s4 (and the 3d one): strides that are ambiguous do not
/// count.
bool has_channels_last_strides(const TensorImpl& t, std::initializer_list<std::size_t> order) {
  std::int64_t min = 0;
  if (t.strides[1] == 0) return false;
  for (const std::size_t d : order) {
    if (t.sizes[d] == 0 || t.strides[d] < min) return false;
    if (d == 0 && min == t.strides[1]) return false;
    min = t.strides[d];
    if (t.sizes[d] > 1) min *= t.sizes[d];
  }
  return true;
}

}  // namespace

bool Tensor::is_contiguous(MemoryFormat format) const {
  const TensorImpl& t = *impl_;
  if (format == MemoryFormat::kChannelsLast) {
    return t.sizes.size() == 4 && (numel() == 0 || dense_in(t, {1, 3, 2, 0}));
  }
  if (format == MemoryFormat::kChannelsLast3d) {
    return t.sizes.size() == 5 && (numel() == 0 || dense_in(t, {1, 4, 3, 2, 0}));
  }
  std::int64_t expected = 1;
  for (std::size_t i = t.sizes.size(); i-- > 0;) {
    if (t.sizes[i] == 0) return true;
    if (t.sizes[i] == 1) continue;
    if (t.strides[i] != expected) return numel() == 0;
    expected *= t.sizes[i];
  }
  return true;
}

bool Tensor::is_non_overlapping_and_dense() const {
  const TensorImpl& t = *impl_;
  const std::size_t n = t.sizes.size();
  if (is_contiguous()) return true;
  std::array<std::size_t, Dims::kMaxDims> order{};
  // Dimensions of one element (or none) last, the others by stride.
  const auto before = [&](std::size_t a, std::size_t b) {
    if (t.sizes[a] < 2) return false;
    return t.sizes[b] < 2 || t.strides[a] < t.strides[b];
  };
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t at = i;
    for (; at > 0 && before(i, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  std::int64_t expected = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t size = t.sizes[order[i]];
    if (size < 2) return true;
    if (t.strides[order[i]] != expected) return false;
    expected *= size;
  }
  return true;
}

MemoryFormat Tensor::suggest_memory_format() const {
  if (dim() == 4 && has_channels_last_strides(*impl_, {1, 3, 2, 0})) {
    return MemoryFormat::kChannelsLast;
  }
  if (dim() == 5 && has_channels_last_strides(*impl_, {1, 4, 3, 2, 0})) {
    return MemoryFormat::kChannelsLast3d;
  }
  return MemoryFormat::kContiguous;
}

std::int64_t numel_of(const Dims& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) {
    if (s < 0) {
      throw OpError(fmt::format("Trying to create tensor with negative dimension {}: {}", s,
                                to_string(sizes)));
    }
    const auto product = checked_multiply(n, s);
    if (!product)
      throw OpError("numel: integer multiplication overflow, sizes " + to_string(sizes));
    n = *product;
  }
  return n;
}

namespace {

/// The stride of the dimension outside of `d`, whose own is `stride`. Errors: as numel_of().
std::int64_t stride_over(const Dims& sizes, std::size_t d, std::int64_t stride) {
  std::int64_t outer = 0;
  if (__builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[d], 1), &outer))
    throw OpError("numel: integer multiplication overflow, sizes " + to_string(sizes));
  return outer;
}

}  // namespace

Dims contiguous_strides(const Dims& sizes) {
  Dims strides = Dims::filled(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    strides[i - 1] = stride_over(sizes, i, strides[i]);
  }
  return strides;
}

Dims channels_last_strides(const Dims& sizes) {
  Dims strides = Dims::filled(sizes.size(), 0);
  std::int64_t next = 1;
  const auto put = [&](std::size_t d) {
    strides[d] = next;
    next = stride_over(sizes, d, next);
  };
  put(1);
  for (std::size_t d = sizes.size(); d-- > 2;) put(d);
  put(0);
  return strides;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) {
  const std::int64_t bound = std::max<std::int64_t>(rank, 1);
  if (dim < -bound || dim >= bound) {
    throw IndexError(
        fmt::format("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                    -bound, bound - 1, dim));
  }
  return dim < 0 ? dim + bound : dim;
}

Dims broadcast(const Dims& a, const Dims& b) {
  const std::size_t n = std::max(a.size(), b.size());
  Dims out = Dims::filled(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t sa = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t sb = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (sa != sb && sa != 1 && sb != 1) {
      throw OpError(
          fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at "
                      "non-singleton dimension {}; shapes {} and {}",
                      sa, sb, n - 1 - i, to_string(a), to_string(b)));
    }
    out[n - 1 - i] = sa == 1 ? sb : sa;
  }
  return out;
}

std::optional<Dims> view_strides(const Dims& old_sizes, const Dims& old_strides,
                                 const Dims& new_sizes) {
  std::int64_t old_numel = 1;
  for (const std::int64_t s : old_sizes) old_numel *= s;
  if (old_numel == 0 && old_sizes == new_sizes) return old_strides;
  if (old_numel == 0) return contiguous_strides(new_sizes);
  Dims strides = Dims::filled(new_sizes.size(), 0);
  auto view_d = static_cast<std::int64_t>(new_sizes.size()) - 1;
  std::int64_t chunk_stride = old_strides.empty() ? 1 : old_strides.back();
  std::int64_t tensor_numel = 1;
  std::int64_t view_numel = 1;
  if (old_sizes.empty()) {
    for (std::int64_t& s : strides) s = 1;
    return strides;
  }
  for (auto d = static_cast<std::int64_t>(old_sizes.size()) - 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    tensor_numel *= old_sizes[i];
    // The end of a run of dimensions that lie in memory as one.
    if (d == 0 || (old_sizes[i - 1] != 1 && old_strides[i - 1] != tensor_numel * chunk_stride)) {
      while (view_d >= 0 &&
             (view_numel < tensor_numel || new_sizes[static_cast<std::size_t>(view_d)] == 1)) {
        strides[static_cast<std::size_t>(view_d)] = view_numel * chunk_stride;
        view_numel *= new_sizes[static_cast<std::size_t>(view_d)];
        --view_d;
      }
      if (view_numel != tensor_numel) return std::nullopt;
      if (d > 0) {
        chunk_stride = old_strides[i - 1];
        tensor_numel = 1;
        view_numel = 1;
      }
    }
  }
  if (view_d != -1) return std::nullopt;
  return strides;
}

Dims infer_size(const Dims& wanted, std::int64_t numel) {
  Dims out = wanted;
  std::int64_t known = 1;
  bool has_overflown = false;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == -1) {
      if (open) throw OpError("only one dimension can be inferred");
      open = i;
    } else if (wanted[i] < 0) {
      throw OpError(fmt::format("invalid shape dimension {}", wanted[i]));
    } else {
      has_overflown = has_overflown || __builtin_mul_overflow(known, wanted[i], &known);
    }
  }
  const bool fits = !has_overflown && (known == numel || (open && known > 0 && numel % known == 0));
  if (fits) {
    if (open) {
      if (known == 0) {
        throw OpError(
            fmt::format("cannot reshape tensor of 0 elements into shape {} because the unspecified "
                        "dimension size -1 can be any value and is ambiguous",
                        to_string(wanted)));
      }
      out[*open] = numel / known;
    }
    return out;
  }
  throw OpError(
      fmt::format("shape '{}' is invalid for input of size {}", to_string(wanted), numel));
}

namespace {

using Order = std::array<std::size_t, Dims::kMaxDims>;

/// Insertion sort that leaves ambiguous pairs where they are. `compare` > 0: the first belongs
/// after the second.
template <class Compare>
void sort_dims(Order& order, std::size_t n, const Compare& compare) {
  for (std::size_t i = 0; i < n; ++i) order[i] = n - 1 - i;
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t at = i;
    for (std::size_t before = i; before-- > 0;) {
      const int comparison = compare(order[before], order[at]);
      if (comparison > 0) {
        std::swap(order[before], order[at]);
        at = before;
      } else if (comparison < 0) {
        break;
      }
    }
  }
}

}  // namespace

Dims dense_strides_like(const Dims& sizes, const Dims& strides) {
  Order order{};
  sort_dims(order, sizes.size(), [&](std::size_t a, std::size_t b) {
    if (strides[a] == 0 || strides[b] == 0) return 0;
    if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
    return sizes[a] > sizes[b] ? 1 : 0;
  });
  Dims out = Dims::filled(sizes.size(), 0);
  std::int64_t next = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out[order[i]] = next;
    next = stride_over(sizes, order[i], next);
  }
  return out;
}

Dims iterator_strides(const Dims& shape, const std::vector<const Tensor*>& operands) {
  bool same_shape = true;
  bool contiguous = true;
  bool channels_last = true;
  bool dense_alike = true;
  for (const Tensor* t : operands) {
    same_shape = same_shape && t->sizes() == shape;
    contiguous = contiguous && t->is_contiguous();
    channels_last = channels_last && t->is_contiguous(MemoryFormat::kChannelsLast);
    dense_alike = dense_alike && t->is_non_overlapping_and_dense() &&
                  t->strides() == operands.front()->strides();
  }
  if (same_shape) {
    if (contiguous) return contiguous_strides(shape);
    if (channels_last) return channels_last_strides(shape);
    if (dense_alike) return operands.front()->strides();
  }
  const std::size_t n = shape.size();
  // Strides of an operand along a dimension of the result; 0 where it is broadcast.
  const auto stride_of = [&](const Tensor& t, std::size_t d) -> std::int64_t {
    const std::size_t missing = n - t.sizes().size();
    if (d < missing) return 0;
    const std::size_t own = d - missing;
    if (t.sizes()[own] == 1 && shape[d] != 1) return 0;
    return t.strides()[own] * static_cast<std::int64_t>(element_bytes(t.dtype()));
  };
  Order order{};
  sort_dims(order, n, [&](std::size_t a, std::size_t b) {
    for (const Tensor* t : operands) {
      const std::int64_t sa = stride_of(*t, a);
      const std::int64_t sb = stride_of(*t, b);
      if (sa == 0 || sb == 0) continue;
      if (sa != sb) return sa < sb ? -1 : 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  });
  bool plain = true;
  for (std::size_t i = 0; i < n; ++i) plain = plain && order[i] == n - 1 - i;
  if (plain) return contiguous_strides(shape);
  Dims out = Dims::filled(n, 0);
  std::int64_t next = 1;
  for (std::size_t i = 0; i < n; ++i) {
    out[order[i]] = next;
    next = shape[order[i]] == 0 ? 0 : stride_over(shape, order[i], next);
  }
  return out;
}

}  // namespace tidemark::ops
