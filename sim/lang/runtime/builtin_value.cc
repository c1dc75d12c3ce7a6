#include <fmt/format.h>

#include "sim/lang/runtime/exceptions.h"

/// What operators do with an object of a user's subclass of str, int or float: what its class says
/// in code, else what they do with the plain value.
namespace tidemark::lang {

bool BuiltinValue::in_code(Name method) const {
  ClassObject* owner = nullptr;
  return type().lookup(method, &owner) != nullptr && owner->user_defined;
}

Value BuiltinValue::unary(Interp& interp, UnaryOp op) {
  return in_code(dunder(op)) ? Instance::unary(interp, op) : interp.unary(op, plain);
}

Value BuiltinValue::binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) {
  if (in_code(reflected ? reflected_dunder(op) : dunder(op))) {
    Value out = Instance::binary(interp, op, other, reflected);
    if (!out.empty()) return out;
  }
  // The other operand's code is asked in its own turn.
  if (!reflected && other.as<BuiltinValue>() != nullptr &&
      other.as<BuiltinValue>()->in_code(reflected_dunder(op))) {
    return {};
  }
  const Value& second = plain_of(other);
  return reflected ? interp.binary(op, second, plain) : interp.binary(op, plain, second);
}

Value BuiltinValue::compare(Interp& interp, CompareOp op, const Value& other) {
  if (in_code(dunder(op))) return Instance::compare(interp, op, other);
  if (op == CompareOp::kNe && in_code(dunder(CompareOp::kEq))) return {};
  return interp.compare(op, plain, plain_of(other));
}

Value BuiltinValue::get_item(Interp& interp, const Value& key) {
  if (in_code(known(name::kGetitem))) return Instance::get_item(interp, key);
  return interp.get_item(plain, key);
}

std::optional<std::int64_t> BuiltinValue::length(Interp& interp) {
  if (in_code(known(name::kLen))) return Instance::length(interp);
  return interp.length(plain);
}

Value BuiltinValue::iterate(Interp& interp) {
  if (in_code(known(name::kIter))) return Instance::iterate(interp);
  return interp.iterate(plain);
}

std::optional<bool> BuiltinValue::contains(Interp& interp, const Value& item) {
  if (in_code(known(name::kContains))) return Instance::contains(interp, item);
  return interp.contains(plain, plain_of(item));
}

bool BuiltinValue::truth(Interp& interp) {
  const bool own = in_code(known(name::kBool)) || in_code(known(name::kLen));
  return own ? Instance::truth(interp) : interp.truth(plain);
}

std::optional<std::uint64_t> BuiltinValue::hash(Interp& interp) {
  // The method nearest in the order of resolution: an enumeration's is behind that of its values.
  if (in_code(known(name::kHash))) return Instance::hash(interp);
  return interp.hash(plain);
}

std::string BuiltinValue::repr(Interp& interp) {
  const bool is_large = plain.is_float() && &type() == interp.classes().integer.get();
  if (is_large) return fmt::format("{:.0f}", plain.as_float());
  return in_code(known(name::kRepr)) ? Instance::repr(interp) : interp.repr(plain);
}

std::string BuiltinValue::str(Interp& interp) {
  if (in_code(known(name::kStr))) return Instance::str(interp);
  if (plain.is_float() && &type() == interp.classes().integer.get()) return repr(interp);
  // str() of a number is its repr().
  const bool by_repr = plain.is_number() && in_code(known(name::kRepr));
  return by_repr ? Instance::repr(interp) : interp.to_str(plain);
}

std::string BuiltinValue::format(Interp& interp, std::string_view spec) {
  return in_code(known(name::kFormat)) ? Instance::format(interp, spec)
                                       : interp.format(plain, spec);
}

Value BuiltinValue::deep_copy(Interp& interp, DeepCopies& copies) {
  if (in_code(known(name::kDeepcopy))) return Instance::deep_copy(interp, copies);
  const Ref<BuiltinValue> copy = make_ref<BuiltinValue>(heap(), Ref<ClassObject>(&type()), plain);
  copies.add(Value(Ref<Instance>(this)), Value(copy));
  const std::vector<AttrMap::Entry> own = attrs().listed();
  for (const AttrMap::Entry& entry : own)
    copy->set_own(entry.name, interp.deep_copy(entry.value, copies));
  return copy;
}

}  // namespace tidemark::lang
