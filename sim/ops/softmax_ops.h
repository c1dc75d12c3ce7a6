#pragma once

#include <optional>

#include "sim/ops/registry.h"

namespace tidemark::ops {

// Softmax and losses. Source: docs/rules/reductions.md#4, docs/rules/losses.md.

/// softmax and log_softmax (`log`). `dtype`: what the caller asks the result to be.
Tensor softmax_int(Context& c, const Tensor& self, std::optional<std::int64_t> dim,
                   std::optional<ScalarType> dtype);
Tensor log_softmax_int(Context& c, const Tensor& self, std::optional<std::int64_t> dim,
                       std::optional<ScalarType> dtype);
inline Tensor softmax(Context& c, const Tensor& self, std::int64_t dim,
                      std::optional<ScalarType> dtype, bool log) {
  return log ? log_softmax_int(c, self, dim, dtype) : softmax_int(c, self, dim, dtype);
}
/// Its gradient.
Tensor _softmax_backward_data(Context& c, const Tensor& grad_output, const Tensor& output,
                              std::int64_t dim, ScalarType input_dtype);

enum class Reduction : std::uint8_t { kNone, kMean, kSum };
/// Errors: OpError, as F's losses say it: "xyz is not a valid value for reduction".
Reduction reduction_from(const std::string& text);
/// The reduction that a loss's arguments ask for: `size_average` and `reduce` (places of optional
/// bools), which older programs give, win over the name. Source: torch.nn._reduction.
std::string reduction_name(const Arguments& a, std::size_t size_average, std::size_t reduce,
                           std::size_t reduction);

Tensor nll_loss(Context& c, const Tensor& self, const Tensor& target, const Tensor& weight,
                Reduction reduction);
Tensor cross_entropy(Context& c, const Tensor& self, const Tensor& target, const Tensor& weight,
                     Reduction reduction, double label_smoothing);
Tensor cosine_similarity(Context& c, Tensor x1, Tensor x2, std::int64_t dim);
Tensor multi_margin_loss(Context& c, Tensor self, const Tensor& target, double p, Tensor weight,
                         Reduction reduction);
Tensor multilabel_margin_loss(Context& c, Tensor self, const Tensor& target, Reduction reduction);
/// The loss of each sample. `longest`: of the targets.
Tensor ctc_loss(Context& c, Tensor log_probs, const Tensor& targets, std::int64_t longest,
                bool zero_infinity);
Tensor cudnn_ctc_loss(Context& c, const Tensor& log_probs, bool zero_infinity);

// What records make, for other C++.
Tensor kl_div(Context& c, Tensor self, Tensor target, Reduction reduction, bool log_target);
Tensor mse_loss(Context& c, Tensor self, Tensor target, Reduction reduction);

/// mean, sum or the tensor itself.
Tensor apply_reduction(Context& c, const Tensor& loss, Reduction reduction);

}  // namespace tidemark::ops
