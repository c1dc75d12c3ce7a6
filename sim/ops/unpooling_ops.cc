#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

/// Values put back where the pooling found them: a tensor of zeros, and gather backward.
Tensor max_unpool(Context& c, const Tensor& self, const Tensor& indices, const Dims& spatial) {
  if (indices.dtype() != ScalarType::kInt64) {
    throw OpError("elements in indices should be type int64 but got: " +
                  std::string(info(indices.dtype()).name));
  }
  if (!(self.sizes() == indices.sizes())) {
    throw OpError(fmt::format("Expected shape of indices to be: {} but got: {}",
                              to_string(self.sizes()), to_string(indices.sizes())));
  }
  Dims sizes = self.sizes();
  for (std::size_t i = 0; i < spatial.size(); ++i)
    sizes[sizes.size() - spatial.size() + i] = spatial[i];
  const bool flat = spatial.size() == 2;
  Op op(c, flat ? "max_unpool2d" : "max_unpool3d",
        flat ? "MaxUnpool2DBackward0" : "MaxUnpool3DBackward0", {&self}, {&indices});
  op.save(0, indices);
  const Tensor dense = contiguous(c, self);
  const Tensor dense_indices = contiguous(c, indices);
  const MemoryFormat format = flat ? self.suggest_memory_format() : MemoryFormat::kContiguous;
  Tensor out = c.empty_in(sizes, format, self.dtype(), self.device());
  const bool reads_dense = flat && !c.rules().max_unpool_reads_strides;
  return op.result(std::move(out), [reads_dense](Backward& b) {
    const Tensor& positions = b.saved[0];
    const Tensor dense_grad = reads_dense ? contiguous(b.c, b.grad()) : b.grad();
    b.grads[0] = b.c.empty(positions.sizes(), b.grad().dtype(), b.grad().device());
  });
}

namespace {

/// Numbers from -1 to 1, as many as a dimension has. Source: linspace_from_neg_one.
void make_range(Context& c, std::int64_t count, bool align_corners, const Tensor& like) {
  if (count <= 1) {
    c.empty({}, like.dtype(), like.device());
    return;
  }
  Tensor range = c.empty({count}, like.dtype(), like.device());
  if (align_corners) return;
  const Tensor stretched = pointwise(c, {&range});
  range = pointwise(c, {&stretched});
}

/// Homogeneous coordinates of all points.
Tensor base_grid(Context& c, const Tensor& theta, const Dims& size, bool align_corners) {
  Dims sizes{size[0]};
  for (std::size_t i = 2; i < size.size(); ++i) sizes.push_back(size[i]);
  sizes.push_back(static_cast<std::int64_t>(size.size()) - 1);
  const Tensor grid = c.empty(sizes, theta.dtype(), theta.device());
  for (std::size_t i = size.size(); i-- > 2;) make_range(c, size[i], align_corners, theta);
  return view(grid, {size[0], numel_of(sizes) / (size[0] * sizes.back()), sizes.back()});
}

}  // namespace

Tensor affine_grid(Context& c, const Tensor& theta, const Dims& size, bool align_corners) {
  const auto spatial = static_cast<std::int64_t>(size.size()) - 2;
  if (theta.dim() != 3 || theta.size(1) != spatial || theta.size(2) != spatial + 1 ||
      theta.size(0) != size[0]) {
    throw OpError(
        fmt::format("Expected a batch of {}D affine matrices of shape Nx{}x{} for size {}. Got {}.",
                    spatial, spatial, spatial + 1, to_string(size), to_string(theta.sizes())));
  }
  Op op(c, "affine_grid_generator", "AffineGridGeneratorBackward0", {&theta});
  Tensor out = [&] {
    const Tensor base = base_grid(c, theta, size, align_corners);
    // Its product is on autocast's list, below autograd as it is.
    Tensor grid = base;
    Tensor matrices = transpose(theta, 1, 2);
    const AutocastScope cast(c, CastPolicy::kLowPrecision, {&grid, &matrices});
    return bmm_kernel(c, grid, matrices);
  }();
  Dims sizes{size[0]};
  for (std::size_t i = 2; i < size.size(); ++i) sizes.push_back(size[i]);
  sizes.push_back(spatial);
  return op.result(view(out, sizes), [size, align_corners, spatial](Backward& b) {
    const Tensor grid = base_grid(b.c, b.grad(), size, align_corners);
    const Tensor flat = view(b.grad(), {size[0], -1, spatial});
    const Tensor product = bmm_kernel(b.c, transpose(grid, 1, 2), flat);
    b.grads[0] = as_view(product, transpose(product, 1, 2));
  });
}

/// Norms over all dimensions but one are kept in the accumulating type.
Tensor weight_norm(Context& c, const Tensor& v, const Tensor& g) {
  Op op(c, "_weight_norm_interface", "WeightNormInterfaceBackward0", {&v, &g});
  const Tensor dense_v = contiguous(c, v);
  const Tensor dense_g = contiguous(c, g);
  op.save(0, dense_g);
  op.save(1, dense_v);
  Tensor out = c.empty_like(dense_v);
  const Tensor norms = c.empty(g.sizes(), accumulate_type(g.dtype()), g.device());
  op.save(2, norms);
  return op.result(std::move(out), [](Backward& b) {
    const Tensor dense = contiguous(b.c, b.grad());
    b.grads[0] = b.c.empty_like(b.saved[1]);
    b.grads[1] = b.c.empty_like(b.saved[0]);
  });
}

namespace {

/// Steps of all sequences that still run, one after another. Groups of steps with as many sequences
/// are copied where they are not one piece.
Tensor pack_padded(Context& c, const Tensor& input, const std::vector<double>& lengths,
                   bool batch_first) {
  Op op(c, "_pack_padded_sequence", "PackPaddedSequenceBackward0", {&input});
  const Tensor by_time = batch_first ? transpose(input, 0, 1) : input;
  if (static_cast<std::int64_t>(lengths.size()) != by_time.size(1)) {
    throw OpError(
        fmt::format("Expected `len(lengths)` to be equal to batch_size, but got {} (batch_size={})",
                    lengths.size(), by_time.size(1)));
  }
  TensorList steps;
  std::int64_t before = 0;
  std::int64_t rows = 0;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    const auto length = static_cast<std::int64_t>(lengths[i]);
    if (length <= 0) {
      throw OpError(
          "Length of all samples has to be greater than 0, but found an element in "
          "'lengths' that is <= 0");
    }
    if (length < before) {
      throw OpError(
          "`lengths` array must be sorted in decreasing order when `enforce_sorted` is "
          "True. You can pass `enforce_sorted=False` to pack_padded_sequence to sidestep "
          "this requirement if you do not need ONNX exportability.");
    }
    if (length == before) continue;
    const auto running = static_cast<std::int64_t>(i) + 1;
    const Tensor part = narrow(narrow(by_time, 0, before, length - before), 1, 0, running);
    steps.push_back(contiguous(c, part));
    rows += (length - before) * running;
    before = length;
  }
  Dims sizes = by_time.sizes();
  sizes.erase(0);
  sizes[0] = rows;
  Tensor out = c.empty(sizes, input.dtype(), input.device());
  for (Tensor& step : steps) step.reset();
  return op.result(std::move(out), [sizes = by_time.sizes(), batch_first](Backward& b) {
    const Tensor all = zeros(b.c, sizes, b.grad().dtype(), b.grad().device());
    b.grads[0] = batch_first ? as_view(all, transpose(all, 0, 1)) : all;
  });
}

}  // namespace

/// The largest of windows laid at random; the draws come as an argument of PyTorch's operator.
OpResult fractional_max_pool(Arguments& a) {
  Context& c = a.context();
  const Tensor& input = a.tensor(0);
  const Dims& output = a.dims(1);
  const bool flat = output.size() == 2;
  Dims sizes = input.sizes();
  if (sizes.size() <= output.size()) {
    throw OpError(fmt::format("fractional_max_pool{}d: Expected {}D or {}D input, but got: {}",
                              output.size(), output.size() + 1, output.size() + 2,
                              to_string(sizes)));
  }
  for (std::size_t i = 0; i < output.size(); ++i)
    sizes[sizes.size() - output.size() + i] = output[i];
  Op op(c, flat ? "fractional_max_pool2d" : "fractional_max_pool3d",
        flat ? "FractionalMaxPool2DBackward0" : "FractionalMaxPool3DBackward0", {&input});
  op.save(0, input);
  Tensor out = c.empty(sizes, input.dtype(), input.device());
  Tensor indices = c.empty(sizes, ScalarType::kInt64, input.device());
  op.save(1, indices);
  op.results({&out, &indices}, [flat](Backward& b) {
    const Tensor dense_grad = flat ? contiguous(b.c, b.grad()) : b.grad();
    b.grads[0] = zeros(b.c, b.saved[0].sizes(), b.grad().dtype(), b.grad().device());
  });
  return OpResult::tuple({std::move(out), std::move(indices)});
}

OpResult packed_sequence(Arguments& a) {
  return pack_padded(a.context(), a.tensor(0), std::get<std::vector<double>>(a.value(1)),
                     a.flag(2));
}

}  // namespace tidemark::ops
