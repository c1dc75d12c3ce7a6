#pragma once

#include <optional>
#include <string>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Source: docs/rules/pooling.md#2.

/// F.interpolate. Exactly one of `size` and `scale_factor`; one number stands for all dimensions.
/// Errors: OpError with PyTorch's words; NotModelled.
Tensor interpolate(Context& c, Tensor input, std::optional<Dims> size,
                   const std::vector<double>& scale_factor, const std::string& mode,
                   bool antialias);
Tensor grid_sample(Context& c, Tensor input, Tensor grid);
Tensor pixel_shuffle(Context& c, const Tensor& self, std::int64_t factor);
Tensor pixel_unshuffle(Context& c, const Tensor& self, std::int64_t factor);
Tensor channel_shuffle(Context& c, const Tensor& self, std::int64_t groups);

/// Windows of F.unfold and F.fold.
struct UnfoldOptions {
  Dims kernel;
  Dims dilation;
  Dims padding;
  Dims stride;
};
Tensor unfold(Context& c, const Tensor& input, const UnfoldOptions& options);
Tensor fold(Context& c, const Tensor& input, const Dims& output_size, const UnfoldOptions& options);

}  // namespace tidemark::ops
