#include "sim/ops/contraction_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/ops/autocast.h"
#include "sim/ops/composite_ops.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

bool contains(const Dims& dims, std::int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

void append(Dims& to, const Dims& from) {
  for (const std::int64_t d : from) to.push_back(d);
}

}  // namespace

Tensor sumproduct_pair(Context& c, Tensor left, Tensor right, const Dims& sum_dims) {
  if (sum_dims.empty()) return mul(c, left, right);
  Dims both;
  Dims only_left;
  Dims only_right;
  Dims left_sizes{1, 1, 1};   // both, only left, summed
  Dims right_sizes{1, 1, 1};  // both, summed, only right
  for (std::int64_t i = 0; i < left.dim(); ++i) {
    const bool in_left = left.size(i) != 1;
    const bool in_right = right.size(i) != 1;
    if (contains(sum_dims, i)) {
      if (in_left && in_right) {
        left_sizes[2] *= left.size(i);
        right_sizes[1] *= left.size(i);
      } else if (in_left) {
        left = sum(c, left, {i}, true, std::nullopt);
      } else if (in_right) {
        right = sum(c, right, {i}, true, std::nullopt);
      }
    } else if (in_left && in_right) {
      both.push_back(i);
      left_sizes[0] *= left.size(i);
      right_sizes[0] *= left.size(i);
    } else if (in_left) {
      only_left.push_back(i);
      left_sizes[1] *= left.size(i);
    } else {
      only_right.push_back(i);
      right_sizes[2] *= right.size(i);
    }
  }
  if (c.rules().einsum_follows_output && !only_left.empty() && !only_right.empty() &&
      only_right[only_right.size() - 1] < only_left[0]) {
    // The result is made in the order in which its dimensions are wanted.
    std::swap(left, right);
    std::swap(only_left, only_right);
    const Dims was_left = left_sizes;
    left_sizes = {right_sizes[0], right_sizes[2], right_sizes[1]};
    right_sizes = {was_left[0], was_left[2], was_left[1]};
  }
  Dims left_order = both;
  append(left_order, only_left);
  append(left_order, sum_dims);
  append(left_order, only_right);
  Dims right_order = both;
  append(right_order, sum_dims);
  append(right_order, only_right);
  append(right_order, only_left);
  Dims out_order = both;
  append(out_order, only_left);
  append(out_order, sum_dims);
  append(out_order, only_right);
  Dims out_sizes;
  for (const std::int64_t d : both) out_sizes.push_back(left.size(d));
  for (const std::int64_t d : only_left) out_sizes.push_back(left.size(d));
  for (std::size_t i = 0; i < sum_dims.size(); ++i) out_sizes.push_back(1);
  for (const std::int64_t d : only_right) out_sizes.push_back(right.size(d));
  Dims back = Dims::filled(out_order.size(), 0);
  for (std::size_t i = 0; i < out_order.size(); ++i) {
    back[static_cast<std::size_t>(out_order[i])] = static_cast<std::int64_t>(i);
  }
  // Locals of sumproduct_pair: the right one goes first.
  const Tensor left_matrix = reshape(c, permute(c, left, left_order), left_sizes);
  const Tensor right_matrix = reshape(c, permute(c, right, right_order), right_sizes);
  return permute(c, view(c, bmm(c, left_matrix, right_matrix), out_sizes), back);
}

namespace {

constexpr std::size_t kLabels = 52;
constexpr std::size_t kEllipsis = kLabels;

std::size_t label_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') return static_cast<std::size_t>(letter - 'A');
  if (letter >= 'a' && letter <= 'z') return static_cast<std::size_t>(letter - 'a') + 26U;
  throw OpError(fmt::format(
      "einsum(): invalid subscript given at index, subscripts must be in [a-zA-Z], found '{}'",
      letter));
}

std::vector<std::size_t> labels_of(std::string_view text) {
  std::vector<std::size_t> labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      if (text.substr(i, 3) != "...")
        throw OpError("einsum(): found '.' for operand that is not part of any ellipsis");
      labels.push_back(kEllipsis);
      i += 2;
    } else {
      labels.push_back(label_of(text[i]));
    }
  }
  return labels;
}

/// Which dimension of the permuted operands each label has: first the output's, then those summed.
struct Labels {
  std::array<std::int64_t, kLabels> place{};
  std::int64_t ellipsis_at = -1;
  std::int64_t ellipsis_dims = 0;
  std::int64_t outputs = 0;
  std::int64_t all = 0;
};

Labels place_labels(const std::vector<std::vector<std::size_t>>& operands,
                    const TensorList& tensors,
                    const std::optional<std::vector<std::size_t>>& output) {
  Labels labels;
  labels.place.fill(-1);
  std::array<int, kLabels> count{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::int64_t named = std::count_if(operands[i].begin(), operands[i].end(),
                                             [](std::size_t l) { return l != kEllipsis; });
    const bool ellipsis = named != static_cast<std::int64_t>(operands[i].size());
    if (ellipsis) labels.ellipsis_dims = std::max(labels.ellipsis_dims, tensors[i].dim() - named);
    if (tensors[i].dim() < named || (!ellipsis && tensors[i].dim() != named)) {
      throw OpError(
          fmt::format("einsum(): the number of subscripts in the equation ({}) does not match the "
                      "number of dimensions ({}) for operand {} and no ellipsis was given",
                      named, tensors[i].dim(), i));
    }
    for (const std::size_t l : operands[i]) {
      if (l != kEllipsis) ++count[l];
    }
  }
  const auto place_ellipsis = [&labels] {
    labels.ellipsis_at = labels.all;
    labels.all += labels.ellipsis_dims;
  };
  if (output) {
    for (const std::size_t l : *output) {
      if (l == kEllipsis) {
        place_ellipsis();
        continue;
      }
      if (count[l] == 0 || labels.place[l] >= 0) {
        const std::size_t letter = l < 26 ? 'A' + l : 'a' + (l - 26);
        throw OpError(fmt::format("einsum(): output subscript {} {}", static_cast<char>(letter),
                                  count[l] == 0
                                      ? "does not appear in the equation for any input operand"
                                      : "appears more than once in the output"));
      }
      labels.place[l] = labels.all++;
    }
  } else {
    place_ellipsis();
    for (std::size_t l = 0; l < kLabels; ++l) {
      if (count[l] == 1) labels.place[l] = labels.all++;
    }
  }
  labels.outputs = labels.all;
  if (labels.ellipsis_at < 0) place_ellipsis();
  for (std::size_t l = 0; l < kLabels; ++l) {
    if (count[l] > 0 && labels.place[l] < 0) labels.place[l] = labels.all++;
  }
  return labels;
}

/// The operand with its dimensions at their labels' places, missing ones as ones.
Tensor placed(Context& c, const Tensor& operand, const std::vector<std::size_t>& names,
              const Labels& labels, std::size_t index) {
  Dims from = Dims::filled(static_cast<std::size_t>(labels.all), -1);
  std::int64_t next = 0;
  const std::int64_t covered = operand.dim() - static_cast<std::int64_t>(names.size()) + 1;
  Tensor out = operand;
  for (const std::size_t name : names) {
    if (name == kEllipsis) {
      for (std::int64_t k = 0; k < covered; ++k) {
        from[static_cast<std::size_t>(labels.ellipsis_at + labels.ellipsis_dims - covered + k)] =
            next++;
      }
      continue;
    }
    std::int64_t& place = from[static_cast<std::size_t>(labels.place[name])];
    if (place >= 0) {
      // A label twice: the diagonal of its two dimensions stands where the first was.
      if (out.size(place) != out.size(next)) {
        throw OpError(
            fmt::format("einsum(): subscript is repeated for operand {} but the sizes don't match, "
                        "{} != {}",
                        index, out.size(next), out.size(place)));
      }
      const Tensor along = diagonal(c, out, 0, place, next);
      Dims order;
      for (std::int64_t d = 0; d + 1 < along.dim(); ++d) order.push_back(d);
      order.insert(static_cast<std::size_t>(place), along.dim() - 1);
      out = permute(c, along, order);
      continue;
    }
    place = next++;
  }
  for (std::int64_t& place : from) {
    if (place >= 0) continue;
    out = unsqueeze(c, out, -1);
    place = next++;
  }
  return permute(c, out, from);
}

}  // namespace

Tensor einsum(Context& c, const std::string& equation, TensorList operands) {
  const AutocastScope cast(c, CastPolicy::kLowPrecision, operands);
  if (operands.empty()) throw OpError("einsum(): must provide at least one operand");
  const std::size_t arrow = equation.find("->");
  const std::string_view left = std::string_view(equation).substr(0, arrow);
  std::optional<std::vector<std::size_t>> output;
  if (arrow != std::string::npos) output = labels_of(std::string_view(equation).substr(arrow + 2));
  std::vector<std::vector<std::size_t>> names;
  for (std::size_t at = 0; at <= left.size();) {
    const std::size_t end = std::min(left.find(',', at), left.size());
    names.push_back(labels_of(left.substr(at, end - at)));
    at = end + 1;
  }
  if (names.size() != operands.size()) {
    throw OpError(names.size() > operands.size()
                      ? "einsum(): fewer operands were provided than specified in the equation"
                      : "einsum(): more operands were provided than specified in the equation");
  }
  const Labels labels = place_labels(names, operands, output);
  TensorList placed_operands;
  std::vector<int> uses(static_cast<std::size_t>(labels.all), 0);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    placed_operands.push_back(placed(c, operands[i], names[i], labels, i));
    for (std::size_t d = 0; d < uses.size(); ++d) {
      if (placed_operands.back().sizes()[d] != 1) ++uses[d];
    }
  }
  Tensor result = placed_operands[0];
  for (std::size_t i = 1; i < placed_operands.size(); ++i) {
    Tensor other = placed_operands[i];
    Dims now;
    Dims left_now;
    Dims right_now;
    for (std::int64_t d = labels.outputs; d < labels.all; ++d) {
      int& count = uses[static_cast<std::size_t>(d)];
      if (result.size(d) != 1 && other.size(d) != 1) {
        if (--count == 1) {
          now.push_back(d);
          count = 0;
        }
      } else if (count == 1) {
        if (result.size(d) != 1) {
          left_now.push_back(d);
          count = 0;
        } else if (other.size(d) != 1) {
          right_now.push_back(d);
          count = 0;
        }
      }
    }
    if (!left_now.empty()) result = sum(c, result, left_now, true, std::nullopt);
    if (!right_now.empty()) other = sum(c, other, right_now, true, std::nullopt);
    result = sumproduct_pair(c, result, other, now);
  }
  if (labels.all == labels.outputs) return result;
  if (placed_operands.size() > 1) {
    Dims sizes = result.sizes();
    sizes.resize(static_cast<std::size_t>(labels.outputs));
    return view(c, result, sizes);
  }
  Dims rest;
  for (std::int64_t d = labels.outputs; d < labels.all; ++d) rest.push_back(d);
  return sum(c, result, rest, false, std::nullopt);
}

namespace {

/// Of two tensors of as many elements in the same order: the sum of the elements' products.
Tensor whole_product(Context& c, const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) {
    const Tensor right = view(c, b, {b.numel()});
    return dot(c, view(c, a, {a.numel()}), right);
  }
  const Tensor right = squeeze(c, b);
  return sum(c, mul(c, squeeze(c, a), right), {}, false, std::nullopt);
}

}  // namespace

Tensor tensordot(Context& c, Tensor a, Tensor b, const Dims& dims_a, const Dims& dims_b) {
  const AutocastScope cast(c, CastPolicy::kPromote, {&a, &b});
  if (dims_a.size() != dims_b.size()) {
    throw OpError(fmt::format("both dimension lists should have same length, got {} and {}",
                              dims_a.size(), dims_b.size()));
  }
  Dims sum_a;
  Dims sum_b;
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < dims_a.size(); ++i) {
    sum_a.push_back(wrap_dim(dims_a[i], a.dim()));
    sum_b.push_back(wrap_dim(dims_b[i], b.dim()));
    const std::int64_t sa = a.size(sum_a.back());
    const std::int64_t sb = b.size(sum_b.back());
    if (sb == 1) {
      a = sum(c, a, {sum_a.back()}, true, std::nullopt);
    } else if (sa == 1) {
      b = sum(c, b, {sum_b.back()}, true, std::nullopt);
    } else if (sa != sb) {
      throw OpError(
          fmt::format("contracted dimensions need to match, but first has size {} in dim {} and "
                      "second has size {} in dim {}",
                      sa, dims_a[i], sb, dims_b[i]));
    } else {
      inner *= sa;
    }
  }
  Dims order_a;
  Dims out;
  std::int64_t rows = 1;
  for (std::int64_t d = 0; d < a.dim(); ++d) {
    if (contains(sum_a, d)) continue;
    order_a.push_back(d);
    rows *= a.size(d);
    out.push_back(a.size(d));
  }
  append(order_a, sum_a);
  Dims order_b = sum_b;
  std::int64_t columns = 1;
  for (std::int64_t d = 0; d < b.dim(); ++d) {
    if (contains(sum_b, d)) continue;
    order_b.push_back(d);
    columns *= b.size(d);
    out.push_back(b.size(d));
  }
  if (rows == 1 && columns == 1 && c.rules().whole_tensordot_is_dot) {
    return reshape(c, whole_product(c, permute(c, a, order_a), permute(c, b, order_b)), out);
  }
  a = reshape(c, permute(c, a, order_a), {rows, inner});
  b = reshape(c, permute(c, b, order_b), {inner, columns});
  return reshape(c, mm(c, a, b), out);
}

namespace {

/// One operand of a trilinear product: the dimensions that it does not have, and whether it has the
/// one that is unrolled.
struct Factor {
  Tensor tensor;
  Dims missing;
};

/// Source: at::native::_trilinear. `summed`: dimensions that the result does not have.
Tensor trilinear_kernel(Context& c, std::array<Factor, 3> factors, const Dims& summed) {
  constexpr std::int64_t kUnrolled = 1;
  const GradMode below_autograd(c, false);
  const std::int64_t rank =
      factors[0].tensor.dim() + static_cast<std::int64_t>(factors[0].missing.size());
  Dims sizes = Dims::filled(static_cast<std::size_t>(rank), 1);
  for (std::int64_t d = 0; d < rank; ++d) {
    for (Factor& f : factors) {
      if (contains(f.missing, d)) f.tensor = unsqueeze(f.tensor, d);
    }
  }
  Dims sum12;
  Dims sum_last;
  std::int64_t steps = 1;
  for (std::int64_t d = 0; d < rank; ++d) {
    std::int64_t size = 1;
    for (const Factor& f : factors) size = std::max(size, f.tensor.size(d));
    if (d == kUnrolled) steps = size;
    if (!contains(summed, d)) {
      sizes[static_cast<std::size_t>(d)] = size;
    } else if (d != kUnrolled) {
      (contains(factors[2].missing, d) ? sum12 : sum_last).push_back(d);
    }
  }
  Tensor out = c.empty(sizes, factors[0].tensor.dtype(), factors[0].tensor.device());
  const auto part = [&](const Factor& f, std::int64_t k) {
    const bool has = !contains(f.missing, kUnrolled);
    return narrow(f.tensor, kUnrolled, has ? k : 0, 1);
  };
  for (std::int64_t k = 0; k < steps; ++k) {
    Tensor product = sumproduct_pair(c, part(factors[0], k), part(factors[1], k), sum12);
    product = sumproduct_pair(c, product, part(factors[2], k), sum_last);
  }
  for (std::int64_t d = rank; d-- > 0;) {
    if (contains(summed, d)) out = squeeze(out, d);
  }
  return out;
}

Tensor trilinear(Context& c, const Tensor& i1, const Tensor& i2, const Tensor& i3) {
  // Dimensions: batch, output features, features of the first and of the second input.
  const Dims e1{1, 3};
  const Dims e2{0};
  const Dims e3{1, 2};
  const Dims summed{2, 3};
  Op op(c, "_trilinear", "TrilinearBackward0", {&i1, &i2, &i3});
  op.save(0, i1);
  op.save(1, i2);
  op.save(2, i3);
  Tensor out = trilinear_kernel(c, {Factor{i1, e1}, Factor{i2, e2}, Factor{i3, e3}}, summed);
  return op.result(std::move(out), [e1, e2, e3, summed](Backward& b) {
    const Tensor& x = b.saved[0];
    const Tensor& w = b.saved[1];
    const Tensor& y = b.saved[2];
    const Factor grad{b.grad(), summed};
    if (b.needs(0)) b.grads[0] = trilinear_kernel(b.c, {grad, Factor{w, e2}, Factor{y, e3}}, e1);
    if (b.needs(1)) b.grads[1] = trilinear_kernel(b.c, {Factor{x, e1}, grad, Factor{y, e3}}, e2);
    if (b.needs(2)) b.grads[2] = trilinear_kernel(b.c, {Factor{x, e1}, Factor{w, e2}, grad}, e3);
  });
}

}  // namespace

Tensor bilinear(Context& c, Tensor input1, Tensor input2, Tensor weight, Tensor bias) {
  if (c.tracer != nullptr) throw NotModelled("bilinear() in compiled code is not modelled");
  const AutocastScope cast(c, CastPolicy::kPromote, {&input1, &input2, &weight, &bias});
  if (input1.dim() != input2.dim()) {
    throw OpError(fmt::format("bilinear(): input dimensions do not match: got {} and {}",
                              input1.dim(), input2.dim()));
  }
  if (input1.size(-1) != weight.size(1) || input2.size(-1) != weight.size(2)) {
    const bool first = input1.size(-1) != weight.size(1);
    throw OpError(
        fmt::format("bilinear(): input{} size does not match weight size: got {} but expected {}",
                    first ? 1 : 2, first ? input1.size(-1) : input2.size(-1),
                    first ? weight.size(1) : weight.size(2)));
  }
  Dims sizes = input1.sizes();
  sizes.back() = weight.size(0);
  const Tensor flat1 = view(c, input1, {-1, input1.size(-1)});
  const Tensor flat2 = view(c, input2, {-1, input2.size(-1)});
  Tensor out = reshape(c, trilinear(c, flat1, weight, flat2), sizes);
  return bias.defined() ? add(c, out, bias) : out;
}

}  // namespace tidemark::ops
