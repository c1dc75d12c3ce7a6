#include <fmt/format.h>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/iterators.h"

/// Dicts out of what has keys, and out of pairs.
namespace tidemark::lang {

Ref<Dict> mapping_of(Interp& interp, const Value& value) {
  if (value.as<Dict>() != nullptr) return value.ref<Dict>();
  if (value.as<Instance>() == nullptr) return nullptr;
  if (interp.type_of(value)->lookup(interp.intern("keys")) == nullptr) return nullptr;
  Ref<Dict> out = interp.dict();
  update_dict(interp, *out, value);
  return out;
}

namespace {

/// Whether an object has keys(), its __getattr__ asked too.
bool has_keys(Interp& in, const Value& from, Name keys) {
  try {
    return !in.find_attr(from, keys).empty();
  } catch (const Raised& raised) {
    if (!raised.exception->type().derives_from(*in.classes().attribute_error)) throw;
  }
  return false;
}

}  // namespace

void update_dict(Interp& in, Dict& dict, const Value& from) {
  if (const Dict* other = from.as<Dict>()) {
    const std::vector<ValueTable::Entry> entries = other->table.entries();
    for (const ValueTable::Entry& entry : entries) {
      if (!entry.key.empty()) dict.table.set(in, entry.key, entry.value);
    }
    return;
  }
  const Name keys = in.intern("keys");
  if (from.as<Instance>() != nullptr && has_keys(in, from, keys)) {
    for (const Value& key : in.unpack(in.call_method(from, keys))) {
      dict.table.set(in, key, in.get_item(from, key));
    }
    return;
  }
  std::size_t n = 0;
  for (const Value& pair : in.unpack(from)) {
    if (!in.iterable(pair)) {
      in.type_error(
          fmt::format("cannot convert dictionary update sequence element #{} to a sequence", n));
    }
    const std::vector<Value> parts = in.unpack(pair);
    if (parts.size() != 2) {
      in.value_error(fmt::format(
          "dictionary update sequence element #{} has length {}; 2 is required", n, parts.size()));
    }
    dict.table.set(in, parts[0], parts[1]);
    ++n;
  }
}

}  // namespace tidemark::lang
