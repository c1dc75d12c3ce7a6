#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/complex_ops.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::size_t kMostDims = 3;  ///< of one cuFFT plan

/// The dimensions in the order of their strides, the largest first.
Dims by_stride(const Dims& dims, const Tensor& like) {
  std::vector<std::int64_t> order(dims.begin(), dims.end());
  std::stable_sort(order.begin(), order.end(), [&like](std::int64_t a, std::int64_t b) {
    return like.stride(a) > like.stride(b);
  });
  return Dims(std::span<const std::int64_t>(order));
}

/// A plan for such strides does not exist: each must be a multiple of the next, and nothing
/// repeated. Source: as_cufft_embed.
bool must_clone(const Tensor& signal) {
  const Dims& sizes = signal.sizes();
  const Dims& strides = signal.strides();
  std::int64_t inner = strides.back();
  if (inner <= 0 || (sizes[0] != 1 && strides[0] == 0)) return true;
  for (std::size_t i = sizes.size() - 2; i > 0; --i) {
    if (sizes[i] == 1) continue;
    if (strides[i] <= 0 || strides[i] % inner != 0) return true;
    inner = strides[i];
  }
  return false;
}

/// One transform: batch dimensions come first, in the order of their strides, and are seen as one,
/// copied where they cannot be; the output gets that order of dimensions in memory. cuFFT's own
/// workspace counts as nothing.
void execute(Context& c, const Tensor& output, const Tensor& input, const Dims& dims) {
  Dims batch;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) batch.push_back(d);
  }
  Dims order = by_stride(batch, input);
  for (const std::int64_t d : dims) order.push_back(d);
  const Tensor permuted = permute(input, order);
  Dims flat{-1};
  for (std::size_t i = batch.size(); i < order.size(); ++i) flat.push_back(permuted.sizes()[i]);
  {
    const Tensor signal = reshape_kernel(c, permuted, flat);
    if (must_clone(signal)) clone_in(c, signal, MemoryFormat::kContiguous);
  }
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<std::size_t>(order[i]);
    output->strides[d] = stride;
    stride *= output.sizes()[d];
  }
}

/// Complex to complex, up to three dimensions.
Tensor complex_transform(Context& c, const Tensor& self, const Dims& dims) {
  if (dims.size() > kMostDims) {
    throw NotModelled(
        "a Fourier transform over more than three dimensions is not modelled; transform fewer "
        "dimensions at a time");
  }
  const Tensor read = resolved(c, self);
  Tensor output = c.empty(self.sizes(), self.dtype(), self.device());
  execute(c, output, read, by_stride(dims, read));
  return output;
}

bool in_one_plan(const Dims& dims) {
  return dims.size() <= kMostDims && !(dims.size() >= 2 && dims[0] == 0 && dims[1] == 1);
}
void one_plan_only(const Dims& dims) {
  if (in_one_plan(dims)) return;
  throw NotModelled(
      "a real Fourier transform over more than three dimensions, or over the first two, is not "
      "modelled; transform fewer dimensions at a time");
}

/// A copy in which `dim` is the innermost.
Tensor clone_with_last(Context& c, const Tensor& x, std::int64_t dim) {
  Dims order;
  Dims back;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (d != dim) order.push_back(d);
    back.push_back(d == dim ? x.dim() - 1 : d < dim ? d : d - 1);
  }
  order.push_back(dim);
  return permute(clone_in(c, permute(x, order), MemoryFormat::kContiguous), back);
}

/// Real to complex. Onesided: the last dimension keeps its first half.
Tensor real_transform(Context& c, const Tensor& self, const Dims& dims, bool onesided) {
  one_plan_only(dims);
  Dims sizes = self.sizes();
  if (onesided) {
    std::int64_t& last = sizes[static_cast<std::size_t>(dims.back())];
    last = last / 2 + 1;
  }
  Tensor output = c.empty(sizes, complex_type(self.dtype()), self.device());
  // cuFFT reads real numbers where complex ones might begin.
  const Tensor aligned = self->offset % 2 == 0 ? self : clone_with_last(c, self, dims.back());
  execute(c, output, aligned, dims);
  return output;
}

/// Complex to real: cuFFT writes over its input, so that is a copy.
Tensor inverse_real_transform(Context& c, const Tensor& self, const Dims& dims,
                              std::int64_t length) {
  one_plan_only(dims);
  Dims sizes = self.sizes();
  sizes[static_cast<std::size_t>(dims.back())] = length;
  const Tensor read = resolved(c, self);
  Tensor output = c.empty(sizes, real_type(self.dtype()), self.device());
  const Tensor copy = clone_in(c, read, MemoryFormat::kContiguous);
  execute(c, output, copy, dims);
  return output;
}

Dims wrapped(const Tensor& self, const Dims& dims) {
  Dims out;
  for (const std::int64_t d : dims) out.push_back(wrap_dim(d, self.dim()));
  return out;
}

Tensor fft_c2c(Context& c, const Tensor& self, const Dims& dims) {
  Op op(c, "_fft_c2c", "FftC2CBackward0", {&self});
  return op.result(complex_transform(c, self, dims),
                   [dims](Backward& b) { b.grads[0] = complex_transform(b.c, b.grad(), dims); });
}

Tensor fft_r2c(Context& c, const Tensor& self, const Dims& dims, bool onesided) {
  Op op(c, "_fft_r2c", "FftR2CBackward0", {&self});
  op.save(0, self);
  return op.result(real_transform(c, self, dims, onesided), [dims, onesided](Backward& b) {
    const Tensor& x = b.saved[0];
    Tensor inverse;
    const Dims& sizes = b.grad().sizes();
    const auto last = static_cast<std::size_t>(dims.back());
    if (onesided && sizes[last] != x.sizes()[last]) {
      // The other half is filled with zeros.
      const Tensor full = [&] {
        const Tensor read = resolved(b.c, b.grad());
        return zeros(b.c, x.sizes(), read.dtype(), read.device());
      }();
      inverse = complex_transform(b.c, full, dims);
    } else {
      inverse = complex_transform(b.c, b.grad(), dims);
    }
    b.grads[0] = real_gradient(inverse, x.dtype());
  });
}

Tensor fft_c2r(Context& c, const Tensor& self, const Dims& dims, std::int64_t length) {
  Op op(c, "_fft_c2r", "FftC2RBackward0", {&self});
  return op.result(inverse_real_transform(c, self, dims, length),
                   [dims](Backward& b) { b.grads[0] = real_transform(b.c, b.grad(), dims, true); });
}

}  // namespace

OpResult fourier_c2c(Arguments& a) {
  return fft_c2c(a.context(), a.tensor(0), wrapped(a.tensor(0), a.dims(1)));
}

OpResult fourier_r2c(Arguments& a) {
  return fft_r2c(a.context(), a.tensor(0), wrapped(a.tensor(0), a.dims(1)), a.flag(2));
}

OpResult fourier_c2r(Arguments& a) {
  return fft_c2r(a.context(), a.tensor(0), wrapped(a.tensor(0), a.dims(1)), a.integer(2));
}

}  // namespace tidemark::ops
