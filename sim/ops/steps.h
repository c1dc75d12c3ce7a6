#pragma once

#include <initializer_list>
#include <string_view>

#include "sim/ops/pointwise_rule.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

/// What the statements of records (sim/ops/records) call. Where gradients are recorded, or autocast
/// looks on, every step is an operator like any other; else it is a kernel, below both.
class Steps {
 public:
  /// What is traced is one node, whose steps autocast does not see.
  explicit Steps(Context& c)
      : Steps(c, c.grad_enabled() || (c.tracer == nullptr && c.thread().autocast.enabled)) {}
  Steps(Context& c, bool records) : c_(c), records_(records) {}

  /// An element-wise operator. `number`: its first Scalar.
  Tensor apply(const PointwiseRule& rule, std::initializer_list<Tensor> operands,
               double number) const;
  /// NAME_: its first operand is written. No memory is asked for.
  void write(const PointwiseRule& rule, std::initializer_list<Tensor> operands,
             double number) const;
  [[nodiscard]] bool records() const { return records_; }
  /// GradMode::is_enabled(), as formulas ask it.
  [[nodiscard]] bool of_graph() const { return records_ && c_.grad_enabled(); }
  [[nodiscard]] Context& context() const { return c_; }
  /// A number on its way through an operator.
  [[nodiscard]] const Tensor& number() const;
  [[nodiscard]] Tensor integer() const;

  /// A tensor filled with the number, and divided in place.
  Tensor number_over(const Tensor& x) const;
  Tensor power_of_number(const Tensor& exponent) const;
  Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) const;
  Tensor masked_fill(const Tensor& x, const Tensor& mask) const;
  void masked_fill_(const Tensor& x, const Tensor& mask) const;
  Tensor type_as(const Tensor& x, const Tensor& like) const;
  Tensor zeros_like(const Tensor& x) const;
  /// As an input of the node is, of which its look alone is kept.
  Tensor zeros_of(const Backward& b, std::size_t input) const;
  Tensor scalar_tensor(double number, const Tensor& like) const;
  Tensor ones(const Dims& sizes, const Tensor& like) const;
  Tensor zeros(const Tensor& x) const;
  /// Below autograd alone: the result of a kernel that looks like x; of its sizes, but dense.
  Tensor like(const Tensor& x) const;
  Tensor dense_like(const Tensor& x) const;

  /// A loss as it is asked for.
  Tensor reduced(const Tensor& loss, Reduction reduction) const;
  /// Below autograd alone: a loss that is reduced over the tensor that was made for its full size;
  /// `errors` are what is summed.
  Tensor reduced_into(const Tensor& loss, const Tensor& errors = {}) const;
  Tensor mse_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target,
                           Reduction reduction) const;

  /// Views, and copies where no view is possible.
  Tensor reshape(const Tensor& x, const Dims& sizes) const;
  Tensor reshape_as(const Tensor& x, const Tensor& like) const { return reshape(x, like.sizes()); }
  Tensor expand(const Tensor& x, const Dims& sizes) const;
  Tensor expand_as(const Tensor& x, const Tensor& like) const { return expand(x, like.sizes()); }
  Tensor unsqueeze(const Tensor& x, double dim) const;
  Tensor sum(const Tensor& x, const Dims& dims, bool keepdim = false) const;
  Tensor mean(const Tensor& x, const Dims& dims, bool keepdim) const;
  Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim) const;  ///< at::norm
  /// Below autograd alone: the largest (or smallest) of each row; whether one (or all) of it is
  /// true.
  Tensor largest(const Tensor& x, const Dims& dims, bool keepdim) const;
  Tensor truths(const Tensor& x, const Dims& dims, bool keepdim) const;
  /// The sum (or product); the mean, which integers have none of: OpError; variance and its root
  /// (`is_root`); where the extremes are.
  Tensor accumulated(const Tensor& x, const Dims& dims, bool keepdim,
                     std::optional<ScalarType> dtype) const;
  Tensor averaged(const Tensor& x, const Dims& dims, bool keepdim,
                  std::optional<ScalarType> dtype) const;
  Tensor moments(const Tensor& x, const Dims& dims, bool keepdim, bool is_root) const;
  Tensor positions(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) const;
  Tensor nonzero(const Tensor& x) const;
  /// The gradient of a sum, seen in the input's sizes.
  Tensor expanded(const Tensor& x, const Dims& dims, bool keepdim, const Dims& sizes) const;
  /// What was reduced, with its lost dimensions beside those of `like`. What has none stays so.
  Tensor restored(const Tensor& x, const Dims& dims, bool keepdim, const Tensor& like) const;
  /// Over all dimensions but the channels', one after another. Source: torch's sum_exclude_dim1.
  Tensor sum_of_channels(const Tensor& x, bool keepdim = true) const;
  /// What there is a number of for each channel, beside a tensor with channels. Source: torch's
  /// unsqueeze_dim1, expand_as_dim1.
  Tensor beside_channels(const Tensor& x, const Tensor& target) const;
  Tensor over_channels(const Tensor& x, const Tensor& target) const;

 private:
  Context& c_;
  bool records_;
  mutable Tensor number_;
};

/// Autocast's fp32 by the dtype argument: only where the caller gave none.
std::optional<ScalarType> fp32_by_argument(const AutocastScope& cast, const Tensor& self,
                                           std::optional<ScalarType> dtype);
/// Torch's broadcast_tensors, before a loss.
void broadcast_together(Context& c, Tensor& first, Tensor& second);

// ---- checks that records name. Errors: OpError with PyTorch's words.
void check_same_types(Arguments& a);
void check_binary_cross_entropy(Arguments& a);
void check_binary_cross_entropy_with_logits(Arguments& a);

/// Which results there are, a bit for each; the gradient that comes for one of them.
unsigned given_of(const TensorList& made);
const Tensor& incoming(const Backward& b, unsigned given, std::size_t which);
/// The gradient that comes for one result of several; undefined: none.
const Tensor& gradient_of(const Backward& b, std::size_t which);

/// Errors: NotModelled, always.
[[noreturn]] void refuse(const Backward& b, std::string_view why);

}  // namespace tidemark::ops
