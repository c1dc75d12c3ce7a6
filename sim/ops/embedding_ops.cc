#include "sim/ops/embedding_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/ops/copy_slices.h"
#include "sim/ops/cub.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/sparse.h"
#include "sim/ops/tracer.h"
#include "sim/ops/values/view.h"

namespace tidemark::ops {

namespace {

/// Up to here one kernel adds rows without sorting them. Source: EmbeddingBackward, Embedding.cu.
constexpr std::int64_t kUnsorted = 3072;
constexpr std::int64_t kRowsPerPart = 10;

void check_indices(const Tensor& indices) {
  if (indices.dtype() != ScalarType::kInt64 && indices.dtype() != ScalarType::kInt32) {
    throw OpError(
        fmt::format("Expected tensor for argument #1 'indices' to have one of the following scalar "
                    "types: Long, Int; but got {} instead (while checking arguments for embedding)",
                    info(indices.dtype()).name));
  }
}

/// Sorts the indices, then sums rows segment by segment. Source: EmbeddingBackwardKernel.cu.
Tensor sorted_gradient(Context& c, std::int64_t count, ScalarType index, const Tensor& grad,
                       std::int64_t rows, bool by_frequency, bool bags) {
  const Device device = grad.device();
  const std::int64_t width = grad.size(-1);
  const Bytes index_bytes = element_bytes(index);
  const Tensor sorted = c.empty({count}, index, device);
  const Tensor original = c.empty({count}, index, device);
  {
    const Tensor range = c.empty({count}, index, device);
    const std::int64_t bits = c.rules().embedding_sorts_row_bits
                                  ? bits_of(rows)
                                  : 8 * static_cast<std::int64_t>(index_bytes);
    c.scratch(sort_bytes(c, count, index_bytes, index_bytes, bits), device);
  }
  Tensor frequencies;
  if (by_frequency) {
    frequencies = c.empty({count}, index, device);
    c.scratch(scan_by_key_bytes(c, count), device);
    c.scratch(scan_by_key_bytes(c, count), device);
  }
  Tensor out = c.empty({rows, width}, grad.dtype(), device);
  const std::int64_t segments = std::min(count, rows);
  const Tensor segment_offsets = c.empty({count}, index, device);
  const Tensor segment_count = c.scratch(8, device);
  {
    const Tensor lengths = c.empty({count}, index, device);
    c.scratch(unique_by_key_bytes(c, count, index_bytes), device);
  }
  const Tensor parts_per_segment = c.empty({segments}, index, device);
  const Tensor part_offsets = c.empty({segments}, index, device);
  c.scratch(scan_bytes(c, segments, index), device);
  const Tensor part_count = c.scratch(8, device);
  const std::int64_t parts = count / kRowsPerPart + segments;
  const Tensor part_starts = c.empty({parts}, index, device);
  // Few segments of many parts each are summed by one block a segment: it wants the segment of each
  // part, not sums of parts; bags never do. Source: oracle, H100 and T4, 70 shapes.
  const bool by_segment = c.rules().embedding_sums_by_segment && !bags &&
                          segments < 4 * std::int64_t{c.spec().sm_count} && parts > 4 * segments;
  const Tensor partial_sums = by_segment
                                  ? c.empty({parts}, index, device)
                                  : c.empty({parts, width}, accumulate_type(grad.dtype()), device);
  // Half types: blocks add into sums of single precision. Source: oracle.
  if (by_segment && accumulate_type(grad.dtype()) != grad.dtype())
    zeros(c, {rows, width}, accumulate_type(grad.dtype()), device);
  return out;
}

}  // namespace

Tensor embedding_dense_backward(Context& c, const Tensor& incoming, const Tensor& indices,
                                std::int64_t rows, const EmbeddingOptions& options) {
  const std::int64_t count = indices.numel();
  const std::int64_t width = incoming.size(-1);
  const Tensor dense = contiguous(c, indices);
  const Tensor grad = view(contiguous(c, incoming), {count, width});
  if (count <= kUnsorted && !options.scale_grad_by_freq) {
    return zeros(c, {rows, width}, grad.dtype(), grad.device());
  }
  return sorted_gradient(c, count, indices.dtype(), grad, rows, options.scale_grad_by_freq, false);
}

namespace {

/// The numbers of `kept`, which says which of `indices` are not `padding_idx`.
void note_kept(const Tensor& kept, const Tensor& indices, std::int64_t padding_idx) {
  const std::optional<Numbers> tokens = known_numbers(indices);
  if (!tokens || indices->storage->known()->is_assumed) return;
  Numbers numbers;
  numbers.dtype = ScalarType::kBool;
  numbers.resize(tokens->size());
  for (std::size_t i = 0; i < tokens->size(); ++i)
    numbers.set_whole(i, tokens->whole[i] != padding_idx ? 1 : 0);
  note_numbers(kept, std::move(numbers));
}

/// Rows of the incoming gradient as they are, with their indices. Source:
/// embedding_sparse_backward.
Tensor sparse_gradient(Context& c, const Tensor& incoming, const Tensor& looked_up,
                       std::int64_t rows, std::int64_t padding_idx) {
  Tensor indices = looked_up;
  Tensor grad = incoming;
  if (padding_idx != -1) {
    const Tensor kept = pointwise(c, {&indices}, ScalarType::kBool);
    note_kept(kept, indices, padding_idx);
    indices = index_kernel(c, indices, {kept});
    grad = index_kernel(c, grad, {kept});
  }
  const std::int64_t width = incoming.size(-1);
  if (grad.numel() == 0) {
    const Tensor none = c.empty({1, 0}, ScalarType::kInt64, grad.device());
    return make_sparse({rows, width}, none, c.empty({0, width}, grad.dtype(), grad.device()));
  }
  const Tensor wide = to_dtype(c, indices, ScalarType::kInt64);
  const Tensor index = reshape(c, wide, {1, indices.numel()});
  return make_sparse({rows, width}, index, reshape(c, grad, {indices.numel(), width}));
}

}  // namespace

namespace {

/// Source: torch's embedding_dense_double_backward.
Tensor embedding_double_backward(Context& c, const Tensor& grad, const Tensor& indices,
                                 std::int64_t padding_idx) {
  const Tensor flat = reshape(c, indices, {-1});
  const Tensor rows = index_select(c, grad, 0, flat);
  if (padding_idx >= 0) {
    const Tensor padding = binary(c, "eq", indices, number_tensor(c, ScalarType::kInt64));
    masked_fill_(c, rows, reshape(c, padding, {-1, 1}), number_tensor(c));
  }
  Dims sizes = indices.sizes();
  sizes.push_back(grad.size(-1));
  return view(c, rows, sizes);
}

}  // namespace

Tensor embedding(Context& c, const Tensor& weight, const Tensor& indices,
                 const EmbeddingOptions& options) {
  if (weight.dim() != 2)
    throw OpError(fmt::format("'weight' must be 2-D, but got {}-D", weight.dim()));
  check_indices(indices);
  Op op(c, "embedding", "EmbeddingBackward0", {&weight}, {&indices});
  op.gathers();
  op.save(0, indices);
  Dims sizes = indices.sizes();
  sizes.push_back(weight.size(1));
  Tensor out;
  if (indices.dim() == 1) {
    out = c.empty(sizes, weight.dtype(), weight.device());
  } else {
    const Tensor flat = reshape(c, indices, {indices.numel()});
    out = view(c.empty({indices.numel(), weight.size(1)}, weight.dtype(), weight.device()), sizes);
  }
  return op.result(std::move(out), [rows = weight.size(0), options](Backward& b) {
    b.grads[0] = options.sparse
                     ? sparse_gradient(b.c, b.grad(), b.saved[0], rows, options.padding_idx)
                     : embedding_dense_backward(b.c, b.grad(), b.saved[0], rows, options);
    if (!b.c.grad_enabled()) return;
    if (options.sparse)
      throw NotModelled("the gradient of embedding's sparse gradient is not modelled");
    b.grads[0] = recorded_linear(
        b.c, "embedding_dense_backward", "EmbeddingDenseBackwardBackward0", b.grad(), {}, false,
        {b.saved[0]}, std::move(b.grads[0]), [options](Backward& second) {
          return embedding_double_backward(second.c, second.grad(), second.saved[0],
                                           options.padding_idx);
        });
  });
}

Tensor embedding_bag(Context& c, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                     const Tensor& weights, const BagOptions& options, Tensor& largest) {
  check_indices(indices);
  if (options.sparse && (options.padding_idx != -1 || weights.defined())) {
    throw NotModelled(
        "embedding_bag with sparse=True and padding_idx or per_sample_weights is not modelled; "
        "leave sparse out");
  }
  Op op(c, "_embedding_bag", "EmbeddingBagBackward0", {&weight, &weights}, {&indices, &offsets});
  op.gathers();
  const Device device = weight.device();
  const std::int64_t bags = offsets.numel() - (options.include_last_offset ? 1 : 0);
  const Dims out_sizes{bags, weight.size(1)};
  const Tensor bag_size = c.empty(offsets.sizes(), indices.dtype(), device);
  const Tensor bag_of_index = c.empty({indices.numel()}, indices.dtype(), device);
  Tensor out = c.empty(out_sizes, weight.dtype(), device);
  largest = c.empty(options.max ? out_sizes : Dims{0}, indices.dtype(), device);
  op.save(0, indices);
  op.save(1, offsets);
  op.save(2, bag_of_index);
  op.save(3, bag_size);
  op.save(4, largest);
  op.save(5, weights);
  op.save_if(op.needs(1), 6, weight);
  return op.result(std::move(out), [rows = weight.size(0), options](Backward& b) {
    const Tensor& looked_up = b.saved[0];
    const std::int64_t width = b.grad().size(-1);
    if (b.needs(1)) b.grads[1] = b.c.empty(b.saved[5].sizes(), b.grad().dtype(), b.grad().device());
    if (!b.needs(0)) return;
    if (options.max) {
      const Tensor grad = contiguous(b.c, b.grad());
      b.grads[0] = zeros(b.c, {rows, width}, b.grad().dtype(), b.grad().device());
    } else if (options.sparse) {
      const Tensor values =
          b.c.empty({looked_up.numel(), width}, b.grad().dtype(), b.grad().device());
      if (options.mean) {
        // Divided by the sizes of the bags.
        const Tensor sizes_by_row = [&] {
          const Tensor sizes = b.c.empty(b.saved[3].sizes(), values.dtype(), values.device());
          const Tensor inverse = b.c.empty_like(sizes);
          return b.c.empty({looked_up.numel()}, values.dtype(), values.device());
        }();
      }
      b.grads[0] = sparse_gradient(b.c, values, looked_up, rows, options.padding_idx);
    } else {
      const Tensor grad = contiguous(b.c, b.grad());
      b.grads[0] = sorted_gradient(b.c, looked_up.numel(), looked_up.dtype(), grad, rows,
                                   options.scale_grad_by_freq, true);
    }
  });
}

OpResult embedding_of(Arguments& a) {
  Context& c = a.context();
  Tensor indices = a.tensor(0);
  if (!a.is_none(3)) {
    // Rows that are too long are scaled in place, each once.
    indices = contiguous(c, indices);
    const LabelScope label(c, "embedding_renorm_");
    find_unique_rows(c, indices);
    count_write(a.tensor(1));
  }
  EmbeddingOptions options;
  options.padding_idx = a.optional_integer(2).value_or(-1);
  if (options.padding_idx < 0 && !a.is_none(2)) options.padding_idx += a.tensor(1).size(0);
  options.scale_grad_by_freq = a.flag(5);
  options.sparse = a.flag(6);
  return embedding(c, a.tensor(1), indices, options);
}

namespace {

/// Where each bag of a matrix begins. Compiled code computes it once for all bags of this size.
Tensor row_starts(Context& c, const Tensor& input) {
  if (c.tracer != nullptr)
    c.tracer->begin_call(fmt::format("arange, 0, {}, {}", input.numel(), input.size(1)), {});
  Tensor made;
  {
    const LabelScope label(c, "arange");
    made = c.empty({input.size(0)}, input.dtype(), input.device());
  }
  if (c.tracer != nullptr) c.tracer->end_call();
  return made;
}

}  // namespace

OpResult embedding_bag_of(Arguments& a) {
  Context& c = a.context();
  if (!a.is_none(3)) throw NotModelled("embedding_bag with max_norm is not modelled");
  const std::string& mode = a.text(6);
  if (mode != "sum" && mode != "mean" && mode != "max") {
    throw OpError("mode has to be one of sum or mean; but got '" + mode + "'");
  }
  const Tensor weights = a.optional_tensor(8);
  if (weights.defined() && mode != "sum") {
    throw OpError(
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
        "mode='sum' (got mode='" +
        mode + "'). Please open a feature request on GitHub.");
  }
  if (weights.defined() && !(weights.sizes() == a.tensor(0).sizes())) {
    throw OpError(
        fmt::format("embedding_bag: If per_sample_weights ({}) is not None, then it must have the "
                    "same shape as the input ({})",
                    to_string(weights.sizes()), to_string(a.tensor(0).sizes())));
  }
  BagOptions options;
  options.padding_idx = a.optional_integer(10).value_or(-1);
  options.scale_grad_by_freq = a.flag(5);
  options.sparse = a.flag(7);
  options.max = mode == "max";
  options.mean = mode == "mean";
  options.include_last_offset = a.flag(9);
  const Tensor& input = a.tensor(0);
  Tensor largest;  // the last of the results that PyTorch's Python drops: after its arguments
  if (input.dim() == 2) {
    if (!a.is_none(2)) {
      throw OpError(
          "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
          "fixed length sequences. However, found offsets of type Tensor");
    }
    const Tensor offsets = row_starts(c, input);
    const Tensor flat = reshape(c, input, Dims{input.numel()});
    const Tensor flat_weights =
        weights.defined() ? reshape(c, weights, Dims{weights.numel()}) : Tensor();
    return embedding_bag(c, a.tensor(1), flat, offsets, flat_weights, options, largest);
  }
  if (a.is_none(2)) throw OpError("offsets has to be a 1D Tensor but got None");
  return embedding_bag(c, a.tensor(1), input, a.tensor(2), weights, options, largest);
}

namespace {

/// one_hot's own: the largest number and one more.
std::int64_t count_of_classes(Context& c, const Tensor& indices) {
  if (indices.numel() == 0)
    throw OpError("Can not infer total number of classes from empty tensor.");
  const Tensor largest = amax(c, indices, {}, false);
  c.read_value(largest);
  const std::optional<Numbers> numbers = c.look_at(indices);
  if (!numbers)
    throw NotModelled("one_hot without num_classes depends on values; give num_classes");
  return *std::max_element(numbers->whole.begin(), numbers->whole.end()) + 1;
}

}  // namespace

OpResult one_hot_of(Arguments& a) {
  const LabelScope label(a.context(), "one_hot");
  const Tensor& indices = a.tensor(0);
  if (indices.dtype() != ScalarType::kInt64) {
    throw OpError(
        fmt::format("one_hot is only applicable to index tensor of type LongTensor; got {}",
                    info(indices.dtype()).name));
  }
  Dims sizes = indices.sizes();
  sizes.push_back(a.integer(1) == -1 ? count_of_classes(a.context(), indices) : a.integer(1));
  const KernelScope kernel(a.context(), KernelKind::kPointwise, {&indices});
  return kernel.gives(a.context().empty(sizes, ScalarType::kInt64, indices.device()));
}

}  // namespace tidemark::ops
