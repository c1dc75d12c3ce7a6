#include "sim/ops/op.h"

#include "sim/base/check.h"
#include "sim/ops/complex_ops.h"
#include "sim/ops/copy_slices.h"
#include "sim/ops/device_check.h"
#include "sim/ops/releases.h"
#include "sim/ops/sparse.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

Edge gradient_edge(Context& c, const Tensor& tensor) {
  if (!tensor.defined()) return {};
  if (tensor->view_base) refresh_view_history(c, tensor);
  if (tensor->grad_fn) return {tensor->grad_fn, tensor->output_nr};
  if (!tensor->requires_grad) return {};
  if (tensor->grad_accumulator != nullptr) return {Ref<Node>(tensor->grad_accumulator), 0};
  Ref<Node> node = make_ref<Node>();
  node->name = "AccumulateGrad";
  node->sequence = Node::kFirst;
  node->variable = tensor;
  node->metadata.push_back(metadata_of(c, tensor));
  node->label = c.module_label;
  node->vertex = c.recorder().add_op(node->name, c.module_label, {}, node.get());
  tensor->grad_accumulator = node.get();
  return {std::move(node), 0};
}

Op::Op(Context& c, std::string_view name, std::string_view node,
       std::initializer_list<const Tensor*> inputs, std::initializer_list<const Tensor*> others)
    : c_(c), label_(c, name), work_(c) {
  check_same_device(name, {inputs.begin(), inputs.size()}, {others.begin(), others.size()});
  begin(name, node, std::vector<const Tensor*>(inputs), std::vector<const Tensor*>(others));
}

Op::Op(Context& c, std::string_view name, std::string_view node, const TensorList& inputs)
    : c_(c), label_(c, name), work_(c) {
  std::vector<const Tensor*> pointers;
  pointers.reserve(inputs.size());
  for (const Tensor& t : inputs) pointers.push_back(&t);
  begin(name, node, pointers, {});
}

void Op::begin(std::string_view name, std::string_view node_name,
               const std::vector<const Tensor*>& inputs, const std::vector<const Tensor*>& others) {
  std::vector<const Tensor*> reads;
  reads.reserve(inputs.size() + others.size());
  bool wants = false;
  for (const Tensor* t : inputs) {
    if (!t->defined()) continue;
    if ((*t)->is_conj) check_takes_conjugates(name, *t);
    check_takes_sparse(name, *t);
    check_is_there(name, *t);
    reads.push_back(t);
    work_.reads(*t);
    wants = wants || t->requires_grad();
  }
  for (const Tensor* t : others) {
    if (!t->defined()) continue;
    if ((*t)->is_conj) check_takes_conjugates(name, *t);
    check_takes_sparse(name, *t);
    check_is_there(name, *t);
    reads.push_back(t);
    work_.reads(*t);
  }
  if (wants && c_.grad_enabled()) {
    node_ = make_ref<Node>();
    node_->name = node_name;
    node_->next.reserve(inputs.size());
    for (const Tensor* t : inputs) node_->next.push_back(gradient_edge(c_, *t));
    node_->sequence = c_.thread().next_sequence++;
    node_->label = c_.module_label;
    node_->dies_by_members = c_.rules().graphs_die_by_members;
  }
  vertex_ = c_.recorder().add_op(name, c_.module_label, reads, node_.get());
  if (node_) node_->vertex = vertex_;
  if (c_.tracer != nullptr) c_.tracer->begin_op(name, reads);
}

void Op::end_trace() { c_.tracer->end_op(); }

void Op::save(std::size_t slot, const Tensor& tensor) {
  if (!node_ || !tensor.defined()) return;
  if (c_.tracer != nullptr) c_.tracer->keeps(tensor);
  if (node_->saved.size() <= slot) node_->saved.resize(slot + 1);
  if (const auto& hooks = c_.thread().pack_hooks; !hooks.empty() && !tensor->wrapped_number) {
    const PackHook hook = hooks.back();  // a copy: the hook may change the stack
    // Source: torch's SavedVariable::save_metadata.
    node_->saved[slot].history = gradient_edge(c_, tensor);
    node_->saved[slot].packed = hook(tensor);
    return;
  }
  if (tensor.device().is_cuda()) tensor->storage->set_role(Role::kActivation);
  if (!tensor->version) tensor->version = make_ref<VersionCounter>();
  node_->saved[slot].version = tensor->version;
  node_->saved[slot].written = tensor->version->value;
  // An input is kept as it is, history included; a result has none yet.
  node_->saved[slot].tensor = tensor.requires_grad() ? tensor : Context::shallow_copy(tensor);
}

void Op::forget_history(const Tensor& result) {
  for (SavedTensor& saved : node_->saved) {
    if (!saved.version || saved.version != result->version) continue;
    if (saved.tensor == result) saved.tensor = Context::shallow_copy(result);
    saved.written = result->version->value;
    saved.is_result = saved.tensor->storage == result->storage;
  }
}

void Op::attach(Tensor& output, ViewKind kind) {
  if (!output.defined()) return;
  output->producer = vertex_;
  work_.gives(output);
  if (c_.tracer != nullptr) c_.tracer->gives(output);
  if (output->view_base && !c_.grad_enabled()) output->view_kind = ViewKind::kNoGrad;
  if (output->view_base && kind != ViewKind::kPlain) output->view_kind = kind;
  if (!node_) return;
  node_->metadata.push_back(metadata_of(c_, output));
  if (!is_differentiable(output.dtype())) return;
  forget_history(output);
  output->grad_fn = node_;
  output->output_nr = static_cast<std::uint32_t>(node_->metadata.size() - 1);
}

void Op::rebase(const Tensor& self) {
  self->producer = vertex_;
  work_.writes(self);
  c_.recorder().writes(self);
  if (c_.tracer != nullptr) c_.tracer->writes(self);
  if (self->storage && self->storage->known()) self->storage->set_known(nullptr);
  count_write(self);
  if (!node_) return;
  if (self->requires_grad && !self->grad_fn) {
    throw OpError("a leaf Variable that requires grad is being used in an in-place operation.");
  }
  node_->metadata.push_back(metadata_of(c_, self));
  forget_history(self);
  if (self->retains_grad && self->grad_fn) self->grad_fn->forget_retained(*self.impl());
  if (self->view_base) {
    rebase_view(c_, self, node_);
  } else {
    self->grad_fn = node_;
    self->output_nr = 0;
  }
  if (self->retains_grad) self->grad_fn->retain(*self.impl());
}

}  // namespace tidemark::ops
