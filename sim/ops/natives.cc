#include "sim/ops/natives.h"

#include <fmt/format.h>

#include <string>

#include "sim/ops/checked_sizes.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"

namespace tidemark::ops {

// ---- operators

Tensor reshaped(Context& c, const Tensor& x, const Dims& sizes) {
  if (c.grad_enabled()) return reshape(c, x, sizes);
  const std::optional<Dims> strides = view_strides(x.sizes(), x.strides(), sizes);
  if (strides) return as_view(x, Context::alias(x, sizes, *strides, x->offset));
  return view(clone_in(c, x, MemoryFormat::kContiguous), sizes);
}

Tensor to_type_of(Context& c, const Tensor& x, const Tensor& other) {
  ToOptions options;
  options.dtype = other.dtype();
  options.device = other.device();
  return to(c, x, options);
}

Tensor unsqueeze_to(Context& c, const Tensor& x, const Dims& sizes,
                    std::optional<std::int64_t> dim) {
  const auto rank = static_cast<std::int64_t>(sizes.size());
  std::size_t first = 0;
  std::size_t last = sizes.size();
  if (dim) {
    first = static_cast<std::size_t>(wrap_dim(*dim, std::max<std::int64_t>(rank, 1)));
    last = std::min(first + 1, sizes.size());
  }
  if (c.grad_enabled()) return recorded_unsqueeze(c, x, sizes, first, last);
  Tensor result = x;
  for (std::size_t i = first; i < last; ++i) {
    if (sizes[i] == 1) result = as_view(result, unsqueeze(result, static_cast<std::int64_t>(i)));
  }
  return result;
}

Tensor join_pieces(Context& c, const TensorList& grads, const Dims& sizes,
                   const std::vector<std::int64_t>& lengths, std::int64_t dim, ScalarType type,
                   Device device) {
  const std::int64_t d = wrap_dim(dim, static_cast<std::int64_t>(sizes.size()));
  TensorList pieces = grads;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].defined()) continue;
    Dims own = sizes;
    own[static_cast<std::size_t>(d)] = lengths[i];
    pieces[i] = zeros(c, own, type, device);
  }
  return c.grad_enabled() ? cat(c, std::move(pieces), d) : cat_kernel(c, pieces, d);
}

Tensor join_rows(Context& c, const TensorList& grads, const Dims& sizes, std::int64_t dim,
                 ScalarType type, Device device) {
  const std::int64_t d = wrap_dim(dim, static_cast<std::int64_t>(sizes.size()));
  Dims own = sizes;
  own.erase(static_cast<std::size_t>(d));
  TensorList pieces = grads;
  for (Tensor& piece : pieces) {
    if (!piece.defined()) piece = zeros(c, own, type, device);
  }
  return c.grad_enabled() ? stack(c, std::move(pieces), d) : stack_kernel(c, pieces, d);
}

Tensor value_selecting_reduction_backward(Context& c, const Tensor& grad, std::int64_t dim,
                                          const Tensor& indices, const Dims& sizes, bool keepdim) {
  Tensor made = zeros(c, sizes, grad.dtype(), grad.device());
  if (!c.grad_enabled()) return made;
  const std::int64_t d = wrap_dim(dim, static_cast<std::int64_t>(sizes.size()));
  const auto beside = [&](const Tensor& x) {
    return keepdim || sizes.empty() ? x : unsqueeze(c, x, d);
  };
  const Tensor wide = beside(grad);
  return recorded_linear(
      c, "scatter_", "ScatterBackward0", wide, {}, false, {beside(indices)}, std::move(made),
      [d](Backward& second) { return gather(second.c, second.grad(), d, second.saved[0]); });
}

void scan_buffer(Context& c, std::int64_t count, const Tensor& like) {
  c.scratch(scan_bytes(c, count, ScalarType::kInt64), like.device());
}

Tensor detached(Context& /*c*/, const Tensor& x) {
  Tensor out = Context::shallow_copy(x);
  share_version(x, out);
  return out;
}

Tensor repeat_backward(Context& c, const Tensor& incoming, const Dims& sizes, const Dims& repeats) {
  if (numel_of(sizes) == 0 || incoming.numel() == 0)
    return zeros(c, sizes, incoming.dtype(), incoming.device());
  const std::size_t lead = repeats.size() - sizes.size();
  Tensor grad = incoming;
  for (std::size_t i = 0; i < lead; ++i) grad = sum(c, grad, {0}, false, {});
  Dims split;
  Dims over;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (repeats[lead + i] != 1) {
      over.push_back(static_cast<std::int64_t>(split.size()));
      split.push_back(repeats[lead + i]);
    }
    split.push_back(sizes[i]);
  }
  if (over.empty()) return grad;
  const Tensor wide = reshape(c, grad, split);
  return sum(c, wide, over, false, {});
}

Tensor no_derivative(Context& /*c*/, const Tensor& /*grad*/, std::string_view name) {
  throw OpError(fmt::format("derivative for aten::{} is not implemented", name));
}

// ---- sizes

Dims broadcast_of(const TensorList& tensors) {
  Dims shape;
  for (const Tensor& t : tensors) shape = broadcast(shape, t.sizes());
  return shape;
}

Dims reduced_sizes(const Tensor& x, const Dims& dims, bool keepdim) {
  const std::vector<bool> reduced = reduced_dims(dims, x.dim());
  Dims sizes;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      sizes.push_back(x.sizes()[i]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

Dims sizes_without(const Tensor& x, std::int64_t dim, bool keepdim) {
  Dims sizes = x.sizes();
  if (sizes.empty()) return sizes;
  const auto d = static_cast<std::size_t>(wrap_dim(dim, x.dim()));
  sizes[d] = 1;
  if (!keepdim) sizes.erase(d);
  return sizes;
}

bool reduces_any(const Tensor& x, const Dims& dims) {
  const std::vector<bool> reduced = reduced_dims(dims, x.dim());
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i] && x.sizes()[i] != 1) return true;
  }
  return false;
}

Dims flattened_sizes(const Tensor& x, std::int64_t start, std::int64_t end) {
  if (x.dim() == 0) return {1};
  const std::int64_t first = wrap_dim(start, x.dim());
  const std::int64_t last = wrap_dim(end, x.dim());
  Dims sizes;
  std::int64_t merged = 1;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    const std::int64_t s = x.size(i);
    if (i >= first && i <= last) {
      merged *= s;
      if (i == last) sizes.push_back(merged);
    } else {
      sizes.push_back(s);
    }
  }
  return sizes;
}

Dims unflattened_sizes(const Tensor& x, std::int64_t dim, const Dims& sizes) {
  const auto d = static_cast<std::size_t>(wrap_dim(dim, x.dim()));
  const Dims inner = infer_size(sizes, x.sizes()[d]);
  Dims all;
  for (std::size_t i = 0; i < x.sizes().size(); ++i) {
    if (i != d) {
      all.push_back(x.sizes()[i]);
    } else {
      for (const std::int64_t s : inner) all.push_back(s);
    }
  }
  return all;
}

namespace {

Dims without_ones(const Tensor& x, const Dims& of) {
  Dims out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (x.sizes()[i] != 1) out.push_back(of[i]);
  }
  return out;
}

}  // namespace

Dims squeezed_sizes(const Tensor& x) { return without_ones(x, x.sizes()); }
Dims squeezed_strides(const Tensor& x) { return without_ones(x, x.strides()); }

Dims order_moved(std::int64_t rank, const Dims& source, const Dims& destination) {
  if (source.size() != destination.size()) {
    throw OpError(fmt::format(
        "movedim: Invalid source or destination dims: source ({} dims) should contain the same "
        "number of dims as destination ({} dims)",
        to_string(source), to_string(destination)));
  }
  Dims order = Dims::filled(static_cast<std::size_t>(rank), -1);
  Dims rest;
  for (std::int64_t d = 0; d < rank; ++d) rest.push_back(d);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::int64_t from = wrap_dim(source[i], rank);
    order[static_cast<std::size_t>(wrap_dim(destination[i], rank))] = from;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      if (rest[k] == from) {
        rest.erase(k);
        break;
      }
    }
  }
  std::size_t next = 0;
  for (std::int64_t& d : order) {
    if (d < 0) d = rest[next++];
  }
  return order;
}

Dims inverse_permutation(const Dims& dims, std::int64_t rank) {
  Dims inverse = Dims::filled(dims.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i)
    inverse[static_cast<std::size_t>(wrap_dim(dims[i], rank))] = static_cast<std::int64_t>(i);
  return inverse;
}

std::vector<std::int64_t> even_lengths(std::int64_t size, std::int64_t total) {
  if (size == 0 || total == 0) return {0};
  const std::int64_t count = (total + size - 1) / size;
  std::vector<std::int64_t> out(static_cast<std::size_t>(count), size);
  out.back() = total - (count - 1) * size;
  return out;
}

std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> out;
  out.reserve(lengths.size());
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    out.push_back(at);
    at += length;
  }
  return out;
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

Dims diag_embed_sizes(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t rank = x.dim() + 1;
  const std::int64_t d1 = wrap_dim(dim1, rank);
  const std::int64_t d2 = wrap_dim(dim2, rank);
  if (d1 == d2)
    throw OpError(fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  const std::int64_t length = x.size(-1) + absolute(offset);
  Dims sizes = x.sizes();
  sizes.pop_back();
  sizes.insert(static_cast<std::size_t>(std::min(d1, d2)), length);
  sizes.insert(static_cast<std::size_t>(std::max(d1, d2)), length);
  return sizes;
}

Dims repeated_sizes(const Tensor& x, const Dims& repeats) {
  const std::size_t lead = repeats.size() - x.sizes().size();
  Dims sizes = repeats;
  for (std::size_t i = lead; i < sizes.size(); ++i)
    sizes[i] = times(sizes[i], x.sizes()[i - lead], "repeat");
  return sizes;
}

Dims with_leading_ones(const Dims& dims, std::int64_t rank) {
  Dims out = dims;
  while (static_cast<std::int64_t>(out.size()) < rank) out.insert(0, 1);
  return out;
}

Dims sizes_with(const Tensor& x, std::int64_t dim, std::int64_t size) {
  Dims sizes = x.sizes();
  if (!sizes.empty()) sizes[static_cast<std::size_t>(wrap_dim(dim, x.dim()))] = size;
  return sizes;
}

std::int64_t softmax_dim(const Tensor& x, std::optional<std::int64_t> dim) {
  const std::int64_t rank = x.dim();
  return dim.value_or(rank == 0 || rank == 1 || rank == 3 ? 0 : 1);
}

Dims dims_of_optional(std::optional<std::int64_t> dim, const Tensor& x) {
  return dim && x.dim() > 0 ? Dims{wrap_dim(*dim, x.dim())} : Dims();
}

Dims sizes_of_extremes(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  if (dim && x.dim() > 0) return sizes_without(x, *dim, keepdim);
  return keepdim ? Dims::filled(x.sizes().size(), 1) : Dims();
}

Dims others_than(const Tensor& x, std::int64_t dim) {
  const std::int64_t own = wrap_dim(dim, x.dim());
  Dims dims;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (d != own) dims.push_back(d);
  }
  return dims;
}

Dims sizes_beside(const Tensor& x, const Tensor& other, std::int64_t dim) {
  const auto d = static_cast<std::size_t>(wrap_dim(dim, x.dim()));
  Dims own = x.sizes();
  own[d] = other.sizes()[d];
  Dims sizes = broadcast(own, other.sizes());
  sizes[d] = x.sizes()[d];
  return sizes;
}

namespace {

std::int64_t pooled(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                    std::int64_t dilation, bool ceil_mode) {
  if (stride == 0) throw OpError("stride should not be zero");
  if (pad < 0) throw OpError(fmt::format("pad must be non-negative, but got pad: {}", pad));
  if (pad > ((kernel - 1) * dilation + 1) / 2) {
    throw OpError(
        fmt::format("pad should be at most half of effective kernel size, but got pad={}, "
                    "kernel_size={} and dilation={}",
                    pad, kernel, dilation));
  }
  const std::int64_t free =
      size + 2 * pad - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  std::int64_t out = (free >= 0 ? free / stride : -((-free + stride - 1) / stride)) + 1;
  if (ceil_mode && (out - 1) * stride >= size + pad) --out;
  return out;
}

}  // namespace

Dims pooled_sizes(const Tensor& x, const Dims& kernel, const Dims& stride, const Dims& padding,
                  const Dims& dilation, bool ceil_mode) {
  const std::size_t spatial = kernel.size();
  const std::size_t lead = x.sizes().size() - spatial;
  Dims out = x.sizes();
  bool positive = true;
  for (const Dims* given : {&kernel, &stride, &padding, &dilation}) {
    for (const std::int64_t each : *given) {
      if (each != static_cast<std::int32_t>(each)) throw OpError("integer out of range");
    }
  }
  for (std::size_t i = 0; i < spatial; ++i) {
    out[lead + i] =
        pooled(x.sizes()[lead + i], kernel[i], stride[i], padding[i], dilation[i], ceil_mode);
    positive = positive && out[lead + i] >= 1;
  }
  if (positive) return out;
  const auto text = [&](const Dims& d) {
    std::string s;
    for (std::size_t i = lead - 1; i < d.size(); ++i)
      s += (s.empty() ? "" : "x") + fmt::to_string(d[i]);
    return s;
  };
  throw OpError(
      fmt::format("Given input size: ({}). Calculated output size: ({}). Output size is too small",
                  text(x.sizes()), text(out)));
}

Dims adaptive_sizes(const Tensor& x, const Dims& output) {
  const std::size_t lead = x.sizes().size() - output.size();
  Dims sizes = x.sizes();
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output[i] >= 0) sizes[lead + i] = output[i];
  }
  return sizes;
}

bool is_one_window(const Tensor& x, const Dims& output) {
  const Dims sizes = adaptive_sizes(x, output);
  for (std::size_t i = sizes.size() - output.size(); i < sizes.size(); ++i) {
    if (sizes[i] != 1) return false;
  }
  return true;
}

Dims marked_strides(const Tensor& x) {
  Dims strides = Dims::filled(x.sizes().size(), x.size(1));
  strides[1] = 1;
  return strides;
}

Dims one_a_channel(const Tensor& x) {
  Dims sizes = Dims::filled(x.sizes().size(), 1);
  sizes[0] = x.sizes()[0];
  sizes[1] = x.sizes()[1];
  return sizes;
}

Dims prelu_sizes(const Tensor& x, const Tensor& weight) {
  Dims sizes = Dims::filled(x.sizes().size(), 1);
  if (x.dim() > 1) sizes[1] = weight.numel();
  return sizes;
}

double order_named(std::string_view p) {
  if (p == "fro") return 2;
  throw NotModelled(
      fmt::format("the norm '{}' is not modelled; 'fro' and numbers are", std::string(p)));
}

Dims optional_dims_of(const Arguments& a, std::size_t i, std::size_t count) {
  return a.is_none(i) || a.dims(i).empty() ? Dims() : a.dims_of(i, count);
}

}  // namespace tidemark::ops
