#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "sim/ops/kernel_work.h"

namespace tidemark::ops {

/// One differentiable operator call, in the order PyTorch's generated wrappers work: the node is
/// made (if anything differentiable goes in and recording is on), the rule allocates, saves and
/// states its backward, and result() ties the output to the node.
///
///     Tensor relu(Context& c, const Tensor& self) {
///       Op op(c, "relu", "ReluBackward0", {&self});
///       Tensor y = c.empty_like(self);
///       op.save(0, y);                                  // slots are in the order of release
///       return op.result(std::move(y), [](Backward& b) { b.grads[0] = pointwise(b.c, {&b.grad(),
///       &b.saved[0]}); });
///     }
///
/// Work inside the rule is below autograd: call kernels (functions that take no part in recording),
/// never other differentiable operators; operators made of others (composite ones) have no Op of
/// their own.
class Op {
 public:
  /// `name`: the operator as ATen calls it; `node`: the backward node's name. Both static text.
  /// `inputs`: the differentiable arguments in order; undefined ones are allowed. `others`: what it
  /// reads besides.
  Op(Context& c, std::string_view name, std::string_view node,
     std::initializer_list<const Tensor*> inputs, std::initializer_list<const Tensor*> others = {});
  /// For operators on lists of tensors (cat, stack), and functions of the program's own, whose
  /// tensors may lie anywhere.
  Op(Context& c, std::string_view name, std::string_view node, const TensorList& inputs);
  ~Op() {
    if (c_.tracer != nullptr) end_trace();
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  /// A node is being made.
  [[nodiscard]] bool records() const { return static_cast<bool>(node_); }
  /// The gradient of input i is wanted. False when nothing records.
  [[nodiscard]] bool needs(std::size_t i) const {
    return node_ && static_cast<bool>(node_->next[i].node);
  }
  /// Keeps a tensor for backward, if a node is made. Slots are in the order of release.
  void save(std::size_t slot, const Tensor& tensor);
  void save_if(bool wanted, std::size_t slot, const Tensor& tensor) {
    if (wanted) save(slot, tensor);
  }

  /// Ties the output to the node. `backward` fills b.grads; it is kept only if a node was made.
  template <class F>
  Tensor result(Tensor output, F&& backward) {
    attach(output);
    if (node_) node_->backward = std::forward<F>(backward);
    work_.launch(c_);
    return output;
  }
  /// For several outputs; integer ones get no history. Undefined ones keep their place.
  template <class F>
  void results(std::initializer_list<Tensor*> outputs, F&& backward) {
    for (Tensor* output : outputs) attach(*output);
    if (node_) node_->backward = std::forward<F>(backward);
    work_.launch(c_);
  }
  template <class F>
  void results_of(TensorList& outputs, F&& backward) {
    for (Tensor& output : outputs) attach(output, ViewKind::kOneOfSeveral);
    if (node_) node_->backward = std::forward<F>(backward);
    work_.launch(c_);
  }
  /// For an operator that wrote into `self`: its history is replaced. Errors: OpError for a leaf
  /// that requires grad.
  template <class F>
  Tensor in_place(const Tensor& self, F&& backward) {
    rebase(self);
    if (node_) node_->backward = std::forward<F>(backward);
    work_.launch(c_);
    return self;
  }
  /// For the clock: it takes from its inputs no more than it gives (embedding, gather).
  void gathers() { work_.gathers(); }
  [[nodiscard]] Node* node() const { return node_.get(); }
  [[nodiscard]] Context& context() const { return c_; }

 private:
  void begin(std::string_view name, std::string_view node_name,
             const std::vector<const Tensor*>& inputs, const std::vector<const Tensor*>& others);
  /// A node must not own its own result: what was saved of it is kept without history.
  void forget_history(const Tensor& result);
  void attach(Tensor& output, ViewKind kind = ViewKind::kPlain);
  void end_trace();
  void rebase(const Tensor& self);

  Context& c_;
  LabelScope label_;
  KernelWork work_;
  Ref<Node> node_;
  std::uint32_t vertex_ = 0xffffffffU;
};

/// The edge a gradient of this tensor follows: its grad_fn, or the AccumulateGrad node of a leaf
/// that requires grad (made when first asked for); empty when no gradient is wanted.
Edge gradient_edge(Context& c, const Tensor& tensor);

/// What a node keeps of an output that it has now.
inline GradMetadata metadata_of(const Context& c, const Tensor& t) {
  return {t.sizes(), t.dtype(), t.device(), c.stream(t.device())};
}

}  // namespace tidemark::ops
