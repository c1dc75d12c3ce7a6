#pragma once

#include <initializer_list>
#include <vector>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Kernels: below autograd. They allocate, return and drop as ATen's CUDA kernels do; nothing is
// recorded.

/// A new output of the broadcast shape and promoted type of the operands, with TensorIterator's
/// strides. `dtype`: another result type (comparisons give bool). Source:
/// docs/rules/pointwise.md#1.
Tensor pointwise(Context& c, std::initializer_list<const Tensor*> operands);
Tensor pointwise(Context& c, std::initializer_list<const Tensor*> operands, ScalarType dtype);
/// The type torch.result_type gives: dimensioned tensors before 0-dim ones before Python numbers,
/// which have the default dtype.
ScalarType result_type(const Context& c, const std::vector<const Tensor*>& operands);

/// x.clone(): dense inputs keep their strides.
Tensor clone(Context& c, const Tensor& x);
Tensor clone_in(Context& c, const Tensor& x, MemoryFormat format);
/// x itself when it is contiguous in that format already, else a copy.
Tensor contiguous_kernel(Context& c, const Tensor& x, MemoryFormat format);
inline Tensor contiguous(Context& c, const Tensor& x) {
  return contiguous_kernel(c, x, MemoryFormat::kContiguous);
}
/// x itself when it has that type, else a cast copy (strides kept where dense).
Tensor to_dtype(Context& c, const Tensor& x, ScalarType dtype);
Tensor zeros(Context& c, const Dims& sizes, ScalarType dtype, Device device);
Tensor zeros_like(Context& c, const Tensor& like);
/// A view by new sizes; Errors: OpError where a copy would be needed.
Tensor view(const Tensor& x, const Dims& sizes);
/// A view where possible, else a contiguous copy seen as `sizes`.
Tensor reshape_kernel(Context& c, const Tensor& x, const Dims& sizes);
Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b);
Tensor permute(const Tensor& x, const Dims& order);
Tensor expand(const Tensor& x, const Dims& sizes);
Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length,
              std::int64_t step = 1);
Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index);
Tensor squeeze(const Tensor& x, std::int64_t dim);
Tensor unsqueeze(const Tensor& x, std::int64_t dim);

/// The two buffers of a reduction that is split over thread blocks, held while it runs. Source:
/// docs/rules/reductions.md#1.
struct ReductionScratch {
  Tensor between;  ///< partial values between the kernels of a tensor that is too large for one
  Tensor partials;
  Tensor semaphores;
  ~ReductionScratch() {
    semaphores.reset();
    partials.reset();
    between.reset();
  }
};
/// `in`: the tensor read; `dims`: the reduced dimensions (all when empty); `accumulator`: bytes of
/// one partial value; `converts`: the result can hold one, which positions and moments are not.
ReductionScratch reduction_scratch(Context& c, const Tensor& in, const Dims& dims,
                                   Bytes accumulator, bool converts = true);
/// Output first, then the scratch, which dies at once. `dtype`: of the output. Sum-like:
/// accumulates 4 bytes for types up to float32, else 8.
Tensor reduce(Context& c, const Tensor& x, const Dims& dims, bool keepdim, ScalarType dtype,
              Bytes accumulator = 0, bool converts = true);
Tensor sum(Context& c, const Tensor& x, const Dims& dims, bool keepdim);
/// A loss that is reduced into the tensor made for its full shape: that storage stays, unless it
/// holds nothing.
Tensor reduced_in_place(Context& c, const Tensor& full);
/// Brings a gradient to a smaller shape by summing broadcast dimensions; x itself when equal.
/// Source: at::sum_to.
Tensor sum_to(Context& c, const Tensor& x, const Dims& sizes);

}  // namespace tidemark::ops
