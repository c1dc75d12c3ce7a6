#include "sim/torch/tensors/tensor_object.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "sim/lang/runtime/complex.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/ops/print_ops.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/sparse.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/reading.h"

namespace tidemark::torch {

using lang::BinaryOp;
using lang::CompareOp;
using lang::Value;

TensorObject::TensorObject(Session& session, Ref<lang::ClassObject> type, ops::Tensor value)
    : HostObject(session.interp.heap(), std::move(type), kTensorKind),
      tensor(std::move(value)),
      session_(session) {
  tensor->wrapper = this;
}

TensorObject::~TensorObject() {
  if (tensor.defined() && tensor->wrapper == this) tensor->wrapper = nullptr;
}

namespace {

/// By BinaryOp. Source: torch's Tensor.__add__ and so on.
constexpr std::array<std::string_view, 13> kBinary{"add",
                                                   "sub",
                                                   "mul",
                                                   "matmul",
                                                   "div",
                                                   "floor_divide",
                                                   "remainder",
                                                   "pow",
                                                   "bitwise_left_shift",
                                                   "bitwise_right_shift",
                                                   "bitwise_and",
                                                   "bitwise_or",
                                                   "bitwise_xor"};
constexpr std::array<std::string_view, 13> kInPlace{"add_",
                                                    "sub_",
                                                    "mul_",
                                                    "",
                                                    "div_",
                                                    "floor_divide_",
                                                    "remainder_",
                                                    "pow_",
                                                    "bitwise_left_shift_",
                                                    "bitwise_right_shift_",
                                                    "bitwise_and_",
                                                    "bitwise_or_",
                                                    "bitwise_xor_"};
constexpr std::array<std::string_view, 6> kCompare{"eq", "ne", "lt", "le", "gt", "ge"};

bool is_operand(const Value& given) {
  const Value& value = lang::plain_of(given);  // numpy's numbers are numbers
  return value.is_number() || value.as<TensorObject>() != nullptr ||
         value.as<lang::Unknown>() != nullptr || value.as<lang::Complex>() != nullptr ||
         lang::is_of_rank(value);
}

Value call_op(Session& session, std::string_view where, std::string_view name,
              std::initializer_list<Value> arguments) {
  const Value op = session.op_table().find(where, name);
  if (op.empty()) {
    session.interp.refuse(fmt::format("the operator '{}' is not modelled", name), kWayOut);
  }
  std::vector<Value> values(arguments);
  lang::CallArgs args;
  args.values = values.data();
  args.positional = values.size();
  return session.interp.call(op, args);
}

}  // namespace

Value TensorObject::unary(lang::Interp& /*interp*/, lang::UnaryOp op) {
  Value self = Ref<TensorObject>(this);
  switch (op) {
    case lang::UnaryOp::kNeg:
      return call_op(session_, "torch", "neg", {self});
    case lang::UnaryOp::kPos:
      return self;
    case lang::UnaryOp::kInvert:
      return call_op(session_, "torch", "bitwise_not", {self});
  }
  return {};
}

Value TensorObject::binary(lang::Interp& /*interp*/, BinaryOp op, const Value& other,
                           bool reflected) {
  if (!is_operand(other)) return {};
  const Value self = Ref<TensorObject>(this);
  const std::string_view name = kBinary[static_cast<std::size_t>(op)];
  if (!reflected) return call_op(session_, "torch", name, {self, other});
  if (op == BinaryOp::kTrueDiv) {
    // 2 / x is x.reciprocal() * 2.
    return call_op(session_, "torch", "mul",
                   {call_op(session_, "torch", "reciprocal", {self}), other});
  }
  return call_op(session_, "torch", name, {other, self});
}

Value TensorObject::inplace(lang::Interp& /*interp*/, BinaryOp op, const Value& other) {
  const std::string_view name = kInPlace[static_cast<std::size_t>(op)];
  if (name.empty() || !is_operand(other)) return {};
  return call_op(session_, "method", name, {Ref<TensorObject>(this), other});
}

Value TensorObject::compare(lang::Interp& /*interp*/, CompareOp op, const Value& other) {
  if (!is_operand(other)) return {};
  return call_op(session_, "torch", kCompare[static_cast<std::size_t>(op)],
                 {Ref<TensorObject>(this), other});
}

/// Source: torch.Tensor.__contains__.
std::optional<bool> TensorObject::contains(lang::Interp& interp, const Value& item) {
  const Ref<TensorObject> self(this);
  Value found = compare(interp, CompareOp::kEq, item);
  if (found.empty()) {
    interp.runtime_error(
        fmt::format("Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                    "<class '{}'>.",
                    interp.type_name(item)));
  }
  found = interp.call_method(found, interp.intern("any"));
  return interp.truth(found);
}

/// Whether items of a tensor are those of a DTensor, which its own rules find.
bool TensorObject::is_whole_of_parts() const {
  return tensor->spread && session_.dtensors.tensor && session_.dtensors.inside == 0;
}

Value TensorObject::get_item(lang::Interp& interp, const Value& key) {
  if (is_whole_of_parts()) {
    const Value operands = interp.tuple({Ref<TensorObject>(this), key});
    return interp.call(session_.dtensors.dispatch,
                       {interp.str("__getitem__"), Value::none(), operands, interp.dict()});
  }
  return session_.guarded([&] { return session_.wrap(torch::get_item(session_, tensor, key)); });
}

bool TensorObject::set_item(lang::Interp& interp, const Value& key, const Value& value) {
  if (is_whole_of_parts()) {
    const Value operands = interp.tuple({Ref<TensorObject>(this), key, value});
    interp.call(session_.dtensors.dispatch,
                {interp.str("__setitem__"), Value::none(), operands, interp.dict()});
    return true;
  }
  session_.guarded([&] {
    torch::set_item(session_, tensor, key, value);
    return 0;
  });
  return true;
}

std::optional<std::int64_t> TensorObject::length(lang::Interp& interp) {
  if (tensor.dim() == 0) interp.type_error("len() of a 0-d tensor");
  return tensor.size(0);
}

Value TensorObject::iterate(lang::Interp& interp) {
  if (tensor.dim() == 0) interp.type_error("iteration over a 0-d tensor");
  if (is_whole_of_parts())
    return interp.iterate(call_op(session_, "method", "unbind", {Ref<TensorObject>(this)}));
  // torch iterates over the views that unbind(0) makes at once, compiled code over items. Source:
  // Dynamo's TensorVariable.unpack_var_sequence.
  const Value items = session_.guarded([&] {
    if (session_.c.tracer == nullptr) return session_.tuple_of(ops::unbind(session_.c, tensor, 0));
    ops::TensorList views;
    for (std::int64_t i = 0; i < tensor.size(0); ++i)
      views.push_back(ops::select(session_.c, tensor, 0, i));
    return session_.tuple_of(views);
  });
  return interp.iterate(items);
}

bool TensorObject::truth(lang::Interp& interp) {
  if (tensor.numel() != 1) {
    interp.runtime_error(fmt::format("Boolean value of Tensor with {} is ambiguous",
                                     tensor.numel() == 0 ? "no values" : "more than one value"));
  }
  // Held where whoever breaks a compiled graph here finds it.
  lang::ValueStack::Span held(interp.value_stack(), session_.c.tracer == nullptr ? 0 : 1);
  if (held.size() > 0) held[0] = lang::Value(Ref<lang::Object>(this));
  session_.c.read_value(tensor);
  return interp.truth(read_number(session_, tensor));
}

std::optional<std::uint64_t> TensorObject::hash(lang::Interp& /*interp*/) {
  return reinterpret_cast<std::uintptr_t>(tensor.impl()) >> 4U;
}

std::string TensorObject::repr(lang::Interp& /*interp*/) {
  session_.guarded([&] {
    ops::print_kernels(session_.c, tensor);
    return 0;
  });
  std::string out = fmt::format("tensor(..., size={}, dtype=torch.{}", to_string(tensor.sizes()),
                                ops::info(tensor.dtype()).name);
  if (tensor.is_cuda()) out += fmt::format(", device='cuda:{}'", tensor.device().index);
  if (tensor->grad_fn) {
    out += fmt::format(", grad_fn=<{}>", tensor->grad_fn->name);
  } else if (tensor->requires_grad) {
    out += ", requires_grad=True";
  }
  return (tensor->is_parameter ? "Parameter containing:\n" : "") + out + ")";
}

std::string TensorObject::format(lang::Interp& interp, std::string_view spec) {
  if (tensor.dim() > 0) {
    if (spec.empty()) return repr(interp);
    interp.type_error("unsupported format string passed to Tensor.__format__");
  }
  session_.c.read_value(tensor);
  return interp.format(read_number(session_, tensor), spec);
}

/// Tensor.__deepcopy__: the whole storage once, however many tensors look at it; then an empty
/// tensor that is set onto it. Parameters are cloned, without their gradient. Source:
/// torch/_tensor.py, torch/nn/parameter.py.
ops::Tensor TensorObject::copy_storage(const lang::DeepCopies& copies) {
  ops::Tensor storage;
  for (const auto& [from, to] : copies.all()) {
    const auto* other = from.as<TensorObject>();
    if (other != nullptr && !other->tensor->is_parameter &&
        other->tensor->storage == tensor->storage) {
      storage = to.as<TensorObject>()->tensor;
    }
  }
  if (!storage.defined()) {
    const auto elements =
        static_cast<std::int64_t>(tensor->storage->bytes() / ops::element_bytes(tensor.dtype()));
    storage = session_.c.empty({elements}, tensor.dtype(), tensor.device());
    storage->storage->set_known(tensor->storage->known());
  }
  session_.c.empty({}, tensor.dtype(), tensor.device());  // replaced by set_()
  return ops::Context::alias(storage, tensor->sizes, tensor->strides, tensor->offset);
}

Value TensorObject::deep_copy(lang::Interp& interp, lang::DeepCopies& copies) {
  if (tensor->grad_fn) {
    interp.runtime_error(
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
        "at the moment.");
  }
  const Value self = Ref<TensorObject>(this);
  if (const Value* done = copies.find(self)) return *done;
  ops::Tensor copy = session_.guarded([&] {
    const ops::GradMode off(session_.c, false);
    if (tensor.is_sparse()) return ops::clone_sparse(session_.c, tensor);
    if (!tensor->is_parameter) return copy_storage(copies);
    ops::Tensor clone = session_.c.empty_like(tensor);
    ops::note_copy(ops::view_of(tensor), clone, nullptr);
    return clone;
  });
  copy->requires_grad = tensor->requires_grad;
  copy->is_parameter = tensor->is_parameter;
  if (tensor->is_parameter) copy->storage->set_role(ops::Role::kParameter);
  Value value = session_.wrap(copy);
  copies.add(self, value);
  if (tensor->grad && !tensor->is_parameter) {
    const Value grad = interp.deep_copy(session_.wrap(ops::Tensor(tensor->grad)), copies);
    copy->grad = grad.as<TensorObject>()->tensor.ref();
  }
  return value;
}

}  // namespace tidemark::torch
