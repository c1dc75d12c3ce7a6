#include "sim/torch/tensors/dtensor_plans.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/ops/op.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

/// Kinds of arguments in a key.
enum KindOfArgument : std::int64_t { kNone, kInteger, kReal, kBoolean, kSequence, kSpread };

/// Undefined: the value is no tensor.
Tensor tensor_of(const Value& value) {
  const auto* object = value.as<TensorObject>();
  return object == nullptr ? Tensor() : object->tensor;
}

/// This rank's part, without history.
Value part_of(Session& session, const Value& value) {
  Tensor local = ops::Context::shallow_copy(value.as<TensorObject>()->tensor);
  local->spread.reset();
  return session.wrap(std::move(local));
}

/// Hooks of saved tensors see what an operator on DTensors saves, not what one on parts does.
class WithoutHooks {
 public:
  explicit WithoutHooks(ops::Thread& thread)
      : thread_(thread), kept_(std::exchange(thread.pack_hooks, {})) {}
  ~WithoutHooks() { thread_.pack_hooks = std::move(kept_); }
  WithoutHooks(const WithoutHooks&) = delete;
  WithoutHooks& operator=(const WithoutHooks&) = delete;

 private:
  ops::Thread& thread_;
  std::vector<ops::PackHook> kept_;
};

}  // namespace

std::size_t DTensorPlans::Hash::operator()(std::span<const std::int64_t> key) const {
  std::uint64_t hash = key.size();
  for (const std::int64_t number : key) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  }
  return hash;
}

bool DTensorPlans::Equal::operator()(std::span<const std::int64_t> a,
                                     std::span<const std::int64_t> b) const {
  return std::ranges::equal(a, b);
}

bool DTensorPlans::write(const Value& value) {
  if (value.is_none()) {
    asked_.push_back(kNone);
    return true;
  }
  if (value.is_int()) {
    asked_.push_back(kInteger);
    asked_.push_back(value.as_int());
    return true;
  }
  if (value.is_float()) {
    asked_.push_back(kReal);
    asked_.push_back(std::bit_cast<std::int64_t>(value.as_float()));
    return true;
  }
  if (value.is_bool()) {
    asked_.push_back(kBoolean);
    asked_.push_back(value.as_bool() ? 1 : 0);
    return true;
  }
  if (const auto* object = value.as<TensorObject>()) {
    const Tensor& tensor = object->tensor;
    if (!tensor->spread) return false;
    asked_.push_back(kSpread);
    asked_.push_back(static_cast<std::int64_t>(tensor.dtype()));
    asked_.push_back(reinterpret_cast<std::intptr_t>(
        static_cast<const SpreadBySpec&>(*tensor->spread).spec.object()));
    // How the part lies in memory, the result's does.
    const bool is_dense = tensor.is_contiguous();
    asked_.push_back(is_dense ? 1 : 0);
    if (!is_dense) asked_.insert(asked_.end(), tensor.strides().begin(), tensor.strides().end());
    return true;
  }
  const auto* list = value.as<lang::List>();
  const auto* tuple = value.as<lang::Tuple>();
  if (list == nullptr && tuple == nullptr) return false;
  const std::vector<Value>& items = list != nullptr ? list->items.all() : tuple->items;
  asked_.push_back(kSequence);
  asked_.push_back(static_cast<std::int64_t>(items.size()));
  return std::ranges::all_of(items, [&](const Value& item) {
    if (!item.is_int()) return false;
    asked_.push_back(item.as_int());
    return true;
  });
}

bool DTensorPlans::write_key(const Value& op, std::span<const Value> arguments) {
  asked_.clear();
  asked_.push_back(reinterpret_cast<std::intptr_t>(op.object()));
  return std::ranges::all_of(arguments, [&](const Value& value) { return write(value); });
}

Ref<DTensorPlans::Plan> DTensorPlans::new_plan(const Value& op, std::span<const Value> arguments,
                                               const Value& result) {
  const auto* made = result.as<TensorObject>();
  const auto* first = arguments.empty() ? nullptr : arguments.front().as<TensorObject>();
  if (made == nullptr || !made->tensor->spread || first == nullptr || !op.is_object() ||
      plans_.size() >= kMost || !write_key(op, arguments))
    return {};
  Ref<Plan> plan = make_ref<Plan>();
  plan->named.push_back(op);
  for (const Value& argument : arguments) {
    const Tensor tensor = tensor_of(argument);
    if (tensor.defined())
      plan->named.push_back(static_cast<const SpreadBySpec&>(*tensor->spread).spec);
  }
  plan->made = made->tensor->spread;
  if (!first->tensor->spread) return {};
  plan->sizes = first->tensor->spread->sizes;
  plans_.insert_or_assign(asked_, plan);
  return plan;
}

void DTensorPlans::keep_view(const Value& op, std::span<const Value> arguments, const Value& result,
                             std::string_view label, std::string_view node, bool is_reshaped,
                             WayBack back) {
  const Ref<Plan> plan = new_plan(op, arguments, result);
  if (!plan) return;
  plan->label = label;
  plan->node = node;
  plan->is_reshaped = is_reshaped;
  plan->back = std::move(back);
  if (is_reshaped) {
    std::vector<Value> shape;
    for (const std::int64_t size : result.as<TensorObject>()->tensor.sizes())
      shape.push_back(Value::integer(size));
    plan->local_shape = session_.interp.tuple(std::move(shape));
  }
}

void DTensorPlans::keep_product(const Value& op, std::span<const Value> arguments,
                                const Value& result, bool is_left_by_column,
                                bool is_right_by_column) {
  if (arguments.size() != 2) return;
  const Ref<Plan> plan = new_plan(op, arguments, result);
  if (!plan) return;
  plan->label = "mm";
  plan->node = "MmBackward0";
  plan->kind = Kind::kProduct;
  plan->is_column[0] = is_left_by_column;
  plan->is_column[1] = is_right_by_column;
}

void DTensorPlans::keep_elementwise(const Value& op, std::span<const Value> arguments,
                                    const Value& result) {
  const Ref<Plan> plan = new_plan(op, arguments, result);
  if (!plan) return;
  plan->kind = Kind::kElementwise;
  plan->is_first = result.same_as(arguments.front());
}

Value DTensorPlans::run(const Value& op, std::span<const Value> arguments) {
  // Who looks on at operators is told of each by the library.
  if (plans_.empty() || session_.c.tracer != nullptr || session_.emitter.watched_by() != nullptr ||
      !write_key(op, arguments))
    return {};
  const auto found = plans_.find(std::span<const std::int64_t>(asked_));
  if (found == plans_.end()) return {};
  const Ref<Plan> plan = found->second;
  if (plan->kind != Kind::kView && session_.c.thread().autocast.enabled) return {};
  const bool is_wanted = std::ranges::any_of(arguments, [](const Value& value) {
    const auto* object = value.as<TensorObject>();
    return object != nullptr && object->tensor.requires_grad();
  });
  if (!is_wanted || !session_.c.grad_enabled()) return on_parts(*plan, op, arguments);
  return plan->kind == Kind::kElementwise ? Value() : with_gradient(plan, op, arguments);
}

Value DTensorPlans::on_parts(const Plan& plan, const Value& op, std::span<const Value> arguments) {
  Interp& interp = session_.interp;
  Value out;
  if (plan.kind == Kind::kProduct) {
    if (mm_.empty()) mm_ = session_.op_table().find("torch", "mm");
    out = interp.call(mm_, {part_of(session_, arguments[0]), part_of(session_, arguments[1])});
  } else if (plan.is_reshaped) {
    if (reshape_.empty()) reshape_ = session_.op_table().find("method", "reshape");
    out = interp.call(reshape_, {part_of(session_, arguments[0]), plan.local_shape});
  } else {
    std::vector<Value> given;
    given.reserve(arguments.size());
    for (const Value& argument : arguments)
      given.push_back(argument.as<TensorObject>() == nullptr ? argument
                                                             : part_of(session_, argument));
    out = interp.call(op, std::move(given));
    if (plan.is_first) return arguments.front();
  }
  auto* object = out.as<TensorObject>();
  object->tensor->spread = plan.made;
  object->set_type(object->tensor->is_parameter ? session_.dtensors.parameter
                                                : session_.dtensors.tensor);
  return out;
}

Value DTensorPlans::with_gradient(const Ref<Plan>& plan, const Value& op,
                                  std::span<const Value> arguments) {
  ops::Context& c = session_.c;
  ops::TensorList inputs{tensor_of(arguments[0])};
  if (plan->kind == Kind::kProduct) inputs.push_back(tensor_of(arguments[1]));
  ops::Op record(c, plan->label, plan->label, inputs);
  if (record.records() && plan->kind == Kind::kProduct) {
    // Each factor is kept for the other's gradient.
    std::vector<ops::SavedTensor>& saved = record.node()->saved;
    for (const bool is_left : {true, false}) {
      if (inputs[is_left ? 0 : 1].requires_grad())
        record.save(saved.size(), inputs[is_left ? 1 : 0]);
      else
        saved.emplace_back();
    }
  }
  Value out;
  {
    const ops::GradMode off(c, false);
    const WithoutHooks hidden(c.thread());
    out = on_parts(*plan, op, arguments);
  }
  if (!record.records()) return out;
  record.node()->name = plan->node;
  Tensor made = out.as<TensorObject>()->tensor;
  record.results({&made}, [this, plan](ops::Backward& b) { run_back(*plan, b); });
  return out;
}

Tensor DTensorPlans::fitting(const Value& gradient, const ops::Dims& sizes) {
  const Tensor tensor = tensor_of(gradient);
  if (!tensor.defined()) return tensor;
  if ((tensor->spread ? tensor->spread->sizes : tensor.sizes()) == sizes) return tensor;
  std::vector<Value> shape;
  for (const std::int64_t size : sizes) shape.push_back(Value::integer(size));
  return tensor_of(
      session_.interp.call(sum_to_, {gradient, session_.interp.tuple(std::move(shape))}));
}

Value DTensorPlans::product_gradient(const Plan& plan, bool is_right, const Value& grad,
                                     const Value& other) {
  Interp& interp = session_.interp;
  const lang::Name mm = interp.intern("mm");
  const lang::Name t = interp.intern("t");
  const auto turned = [&](const Value& value) { return interp.call_method(value, t); };
  if (is_right) {
    if (!plan.is_column[1]) return interp.call_method(turned(other), mm, {grad});
    return turned(interp.call_method(turned(grad), mm, {other}));
  }
  if (!plan.is_column[0]) return interp.call_method(grad, mm, {turned(other)});
  return turned(interp.call_method(other, mm, {turned(grad)}));
}

void DTensorPlans::run_back(const Plan& plan, ops::Backward& b) {
  Interp& interp = session_.interp;
  Value kept[2];
  if (plan.kind == Kind::kProduct) {
    ops::TensorList saved = std::exchange(b.saved, {});
    for (std::size_t i = 0; i < 2 && i < saved.size(); ++i)
      kept[i] = session_.wrap(std::move(saved[i]));
  }
  // The engine has what arrived until the gradients fit.
  const ops::TensorList incoming = std::exchange(b.incoming, {});
  Value grad = session_.wrap(incoming.front());
  if (incoming.front().defined() && !incoming.front()->spread)
    grad = interp.call(arrived_, {grad, static_cast<const SpreadBySpec&>(*plan.made).spec});
  if (plan.kind != Kind::kProduct) {
    b.grads[0] =
        fitting(interp.call_method(grad, plan.back.method, plan.back.arguments), plan.sizes);
    return;
  }
  Value made[2];
  if (b.needs(1)) made[1] = product_gradient(plan, true, grad, kept[1]);
  if (b.needs(0)) made[0] = product_gradient(plan, false, grad, kept[0]);
  for (Value& value : kept) value.reset();
  grad.reset();
  for (std::size_t i = 0; i < 2; ++i)
    if (!made[i].empty()) b.grads[i] = tensor_of(made[i]);
}

}  // namespace tidemark::torch
