#include <fmt/format.h>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/copying.h"
#include "sim/lang/runtime/host.h"
#include "sim/lang/runtime/interp.h"
#include "sim/lang/runtime/traceback.h"

/// The defaults of Instance's virtual functions: what the class says, in Python code or host
/// functions.
namespace tidemark::lang {

namespace {

Value ask(Interp& in, Instance& object, Name name, std::vector<Value> positional = {}) {
  if (object.type().lookup(name) == nullptr) return {};
  Value out = in.call_special(Ref<Instance>(&object), name, std::move(positional));
  return out.tag() == Tag::kNotImplemented ? Value() : out;
}

}  // namespace

Value Instance::get_attr(Interp& interp, Name name) {
  try {
    return interp.generic_get_attr(*this, name);
  } catch (const Raised& raised) {
    // A property's own AttributeError leaves the name to __getattr__, as if it were not there.
    if (!raised.exception->type().derives_from(*interp.classes().attribute_error)) throw;
    if (type_->lookup(name) == nullptr) throw;
    Value missing = get_missing_attr(interp, name);
    if (!missing.empty()) return missing;
    ClassObject* owner = nullptr;
    const Value* found = type_->lookup(known(name::kGetattr), &owner);
    if (found == nullptr || !owner->user_defined) throw;
    const Value fallback = *found;
    return interp.call(fallback,
                       {Value(Ref<Instance>(this)), interp.str(std::string(interp.text(name)))});
  }
}
Value Instance::get_missing_attr(Interp& /*interp*/, Name /*name*/) { return {}; }

void Instance::set_attr(Interp& interp, Name name, Value value) {
  ClassObject* owner = nullptr;
  const Value* hook = type_->lookup(known(name::kSetattr), &owner);
  if (hook != nullptr && owner->user_defined) {
    const Value function = *hook;
    interp.call(function, {Value(Ref<Instance>(this)), interp.str(std::string(interp.text(name))),
                           std::move(value)});
    return;
  }
  store_attr(interp, name, std::move(value));
}

void Instance::store_attr(Interp& interp, Name name, Value value) {
  if (name == known(name::kTraceback) && ExceptionObject::is(*this)) {
    if (value.is_none()) drop_traceback(static_cast<ExceptionObject&>(*this));
    return;
  }
  interp.generic_set_attr(*this, name, std::move(value));
}

bool Instance::del_attr(Interp& interp, Name name) {
  ClassObject* owner = nullptr;
  const Value* hook = type_->lookup(known(name::kDelattr), &owner);
  if (hook != nullptr && owner->user_defined) {
    const Value function = *hook;
    interp.call(function, {Value(Ref<Instance>(this)), interp.str(std::string(interp.text(name)))});
    return true;
  }
  return remove_attribute(interp, Ref<Instance>(this), name);
}

Value Instance::call(Interp& interp, CallArgs& args) {
  if (type_->lookup(known(name::kCall)) == nullptr) return {};
  std::vector<Value> values;
  values.reserve(args.total() + 1);
  values.emplace_back(Ref<Instance>(this));
  values.insert(values.end(), args.values, args.values + args.total());
  Value self;
  const Value method = interp.find_special(values[0], known(name::kCall), self);
  const std::size_t skip = self.empty() ? 1 : 0;
  CallArgs with_self{values.data() + skip, args.positional + 1 - skip, args.keywords,
                     args.keyword_count, false};
  return interp.call(method, with_self);
}

Value Instance::unary(Interp& interp, UnaryOp op) { return ask(interp, *this, dunder(op)); }

Value Instance::binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) {
  return ask(interp, *this, reflected ? reflected_dunder(op) : dunder(op), {other});
}

Value Instance::inplace(Interp& interp, BinaryOp op, const Value& other) {
  return ask(interp, *this, inplace_dunder(op), {other});
}

Value Instance::compare(Interp& interp, CompareOp op, const Value& other) {
  return ask(interp, *this, dunder(op), {other});
}

Value Instance::get_item(Interp& interp, const Value& key) {
  return ask(interp, *this, known(name::kGetitem), {key});
}

bool Instance::set_item(Interp& interp, const Value& key, const Value& value) {
  return !ask(interp, *this, known(name::kSetitem), {key, value}).empty();
}

bool Instance::del_item(Interp& interp, const Value& key) {
  return !ask(interp, *this, known(name::kDelitem), {key}).empty();
}

std::optional<std::int64_t> Instance::length(Interp& interp) {
  const Value value = ask(interp, *this, known(name::kLen));
  if (value.empty()) return std::nullopt;
  if (!value.is_integral()) {
    interp.type_error(
        fmt::format("'{}' object cannot be interpreted as an integer", interp.type_name(value)));
  }
  if (value.as_int() < 0) interp.value_error("__len__() should return >= 0");
  return value.as_int();
}

Value Instance::iterate(Interp& interp) { return ask(interp, *this, known(name::kIter)); }

std::optional<bool> Instance::contains(Interp& interp, const Value& item) {
  const Value value = ask(interp, *this, known(name::kContains), {item});
  if (value.empty()) return std::nullopt;
  return interp.truth(value);
}

bool Instance::truth(Interp& interp) {
  const Value value = ask(interp, *this, known(name::kBool));
  if (!value.empty()) {
    if (!value.is_bool()) {
      interp.type_error(
          fmt::format("__bool__ should return bool, returned {}", interp.type_name(value)));
    }
    return value.as_bool();
  }
  const std::optional<std::int64_t> size = length(interp);
  return !size || *size != 0;
}

std::optional<std::uint64_t> Instance::hash(Interp& interp) {
  const Value* method = type_->lookup(known(name::kHash));
  if (method == nullptr) {
    // A class that defines __eq__ and no __hash__ has none.
    if (type_->lookup(known(name::kEq)) != nullptr) return std::nullopt;
    return reinterpret_cast<std::uintptr_t>(this) >> 4U;
  }
  if (method->is_none()) return std::nullopt;
  return hash_answered(interp, ask(interp, *this, known(name::kHash)));
}

std::string Instance::repr(Interp& interp) {
  const Value value = ask(interp, *this, known(name::kRepr));
  if (value.empty()) return fmt::format("<{} object>", type_->qualname);
  if (const Str* text = value.as<Str>()) return text->text();
  interp.type_error(fmt::format("__repr__ returned non-string (type {})", interp.type_name(value)));
}

std::string Instance::str(Interp& interp) {
  const Value value = ask(interp, *this, known(name::kStr));
  if (value.empty()) return repr(interp);
  if (const Str* text = value.as<Str>()) return text->text();
  interp.type_error(fmt::format("__str__ returned non-string (type {})", interp.type_name(value)));
}

std::string Instance::format(Interp& interp, std::string_view spec) {
  const Value value = ask(interp, *this, known(name::kFormat), {interp.str(std::string(spec))});
  if (const Str* text = value.as<Str>()) return text->text();
  if (!spec.empty()) {
    interp.type_error(fmt::format("unsupported format string passed to {}.__format__",
                                  interp.text(type_->name())));
  }
  return str(interp);
}

Value Instance::deep_copy(Interp& interp, DeepCopies& copies) {
  const Value self = Ref<Instance>(this);
  if (type_->lookup(known(name::kDeepcopy)) != nullptr) {
    return interp.call_special(self, known(name::kDeepcopy), {Value(interp.dict())});
  }
  if (kind() != Kind::kInstance && type_->allocate == nullptr) {
    interp.type_error(fmt::format("cannot copy '{}' object", interp.type_name(self)));
  }
  const Ref<ClassObject> type = type_;
  Ref<Instance> copy = type->allocate != nullptr ? type->allocate(interp, type)
                                                 : make_ref<Instance>(interp.heap(), type);
  copies.add(self, Value(copy));
  Value state = own_state(interp, self);
  if (state.empty() && takes_state(interp, self))
    state = interp.get_attr(self, interp.intern("__dict__"));
  if (!state.empty()) {
    if (!state.is_none()) give_state(interp, Value(copy), interp.deep_copy(state, copies));
    return copy;
  }
  const std::vector<AttrMap::Entry> own = attrs_.listed();
  for (const AttrMap::Entry& entry : own) {
    copy->set_own(entry.name, interp.deep_copy(entry.value, copies));
  }
  return copy;
}

}  // namespace tidemark::lang
