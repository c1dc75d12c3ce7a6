#include "sim/lang/runtime/copying.h"

#include <string_view>
#include <utility>
#include <vector>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

namespace {

constexpr std::string_view kSetState = "__setstate__";

bool has_own(Interp& in, const Value& value, std::string_view method) {
  const Ref<ClassObject> type = in.type_of(value);
  ClassObject* owner = nullptr;
  const Value* found = type->lookup(in.intern(method), &owner);
  return found != nullptr && !found->is_none() && owner->user_defined;
}

Value call_own(Interp& in, const Value& value, std::string_view method,
               std::vector<Value> given = {}) {
  return in.call_method(value, in.intern(method), std::move(given));
}

void add_attributes(Interp& in, const Value& copy, const Value& state) {
  const auto* names = state.as<Dict>();
  if (names == nullptr) return;
  const Value table = in.get_attr(copy, in.intern("__dict__"));
  call_own(in, table, "update", {state});
}

}  // namespace

bool takes_state(Interp& interp, const Value& value) { return has_own(interp, value, kSetState); }

Value own_state(Interp& interp, const Value& value) {
  if (!has_own(interp, value, "__getstate__")) return {};
  return call_own(interp, value, "__getstate__");
}

void give_state(Interp& interp, const Value& copy, const Value& state) {
  if (has_own(interp, copy, kSetState)) {
    call_own(interp, copy, kSetState, {state});
    return;
  }
  const auto* parts = state.as<Tuple>();
  if (parts == nullptr || parts->items.size() != 2) return add_attributes(interp, copy, state);
  // Attributes, and those that have slots.
  const Value slots = parts->items[1];
  add_attributes(interp, copy, parts->items[0]);
  if (const auto* named = slots.as<Dict>()) {
    const std::vector<ValueTable::Entry> entries = named->table.entries();
    for (const ValueTable::Entry& entry : entries) {
      if (!entry.key.empty())
        interp.set_attr(copy, interp.intern(interp.to_str(entry.key)), entry.value);
    }
  }
}

Value copied_by_reduce(Interp& interp, const Value& value, DeepCopies* copies) {
  Value reduced;
  if (has_own(interp, value, "__reduce_ex__")) {
    reduced = call_own(interp, value, "__reduce_ex__", {Value::integer(4)});
  } else if (has_own(interp, value, "__reduce__")) {
    reduced = call_own(interp, value, "__reduce__");
  } else {
    return {};
  }
  if (reduced.as<Str>() != nullptr) return value;  // a global's name: it is its own copy
  const auto* parts = reduced.as<Tuple>();
  if (parts == nullptr || parts->items.size() < 2)
    interp.type_error("__reduce__ must return a string or tuple");
  const std::vector<Value> items = parts->items;
  const auto given = [&](const Value& part) {
    return copies != nullptr ? interp.deep_copy(part, *copies) : part;
  };
  const auto part = [&](std::size_t i) { return i < items.size() ? items[i] : Value::none(); };
  std::vector<Value> arguments;
  for (const Value& each : interp.unpack(items[1])) arguments.push_back(given(each));
  Value copy = interp.call(items[0], std::move(arguments));
  if (copies != nullptr && value.is_object() && copies->find(value) == nullptr)
    copies->add(value, copy);
  if (!part(2).is_none()) give_state(interp, copy, given(part(2)));
  if (!part(3).is_none()) {
    for (const Value& each : interp.unpack(part(3)))
      call_own(interp, copy, "append", {given(each)});
  }
  if (!part(4).is_none()) {
    for (const Value& each : interp.unpack(part(4))) {
      const std::vector<Value> pair = interp.unpack(each);
      if (pair.size() != 2) interp.type_error("__reduce__: the fifth part has pairs");
      const Value key = given(pair[0]);
      interp.set_item(copy, key, given(pair[1]));
    }
  }
  return copy;
}

}  // namespace tidemark::lang
