#include "sim/lang/runtime/containers.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/runtime/annotations.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/list_slots.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/lang/runtime/wide_integer.h"

/// len, in, subscripts.
namespace tidemark::lang {

void Interp::too_long() {
  raise(*classes_->memory_error,
        fmt::format("a sequence of more than {} elements", options_.limits.sequence));
}

std::int64_t Interp::length(const Value& value) {
  if (has_code(value)) {
    const Value size = ask_code(value, known(name::kLen));
    if (size.is_integral()) return size.as_int();
  }
  return builtin_length(value);
}

std::int64_t Interp::builtin_length(const Value& value) {
  if (value.is_object()) {
    Object* object = value.object();
    switch (object->kind()) {
      case Kind::kStr:
        return static_cast<Str*>(object)->length();
      case Kind::kList:
        return static_cast<std::int64_t>(static_cast<List*>(object)->items.size());
      case Kind::kTuple:
        return static_cast<std::int64_t>(static_cast<Tuple*>(object)->items.size());
      case Kind::kDict:
        return static_cast<std::int64_t>(static_cast<Dict*>(object)->table.size());
      case Kind::kSet:
        return static_cast<std::int64_t>(static_cast<Set*>(object)->table.size());
      case Kind::kRange:
        return static_cast<Range*>(object)->length();
      case Kind::kView:
        return static_cast<std::int64_t>(static_cast<DictView*>(object)->dict->table.size());
      case Kind::kInstance:
      case Kind::kHost:
      case Kind::kException: {
        const Value keep = value;
        if (const auto size = static_cast<Instance*>(object)->length(*this)) return *size;
        break;
      }
      default:
        break;
    }
  }
  type_error(fmt::format("object of type '{}' has no len()", type_name(value)));
}

bool Interp::truth(const Value& value) {
  switch (value.tag()) {
    case Tag::kEmpty:
    case Tag::kNone:
      return false;
    case Tag::kBool:
      return value.as_bool();
    case Tag::kInt:
      return value.as_int() != 0;
    case Tag::kFloat:
      return value.as_float() != 0;
    case Tag::kNotImplemented:
    case Tag::kEllipsis:
      return true;
    case Tag::kObject:
      break;
  }
  if (has_code(value)) {
    const Value answer = ask_code(value, known(name::kBool));
    if (answer.is_bool()) return answer.as_bool();
  }
  switch (value.object()->kind()) {
    case Kind::kStr:
      return !static_cast<Str*>(value.object())->text().empty();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kSet:
    case Kind::kRange:
    case Kind::kView:
      return length(value) != 0;
    case Kind::kInstance:
    case Kind::kHost:
    case Kind::kException: {
      const Value keep = value;
      return static_cast<Instance*>(keep.object())->truth(*this);
    }
    default:
      return true;
  }
}

bool Interp::contains(const Value& container, const Value& item) {
  if (is_of_rank(item)) {
    const Value one[] = {item};
    return truth(by_rank(*this, one, [&](std::span<const Value> of) {
      return Value::boolean(contains(container, of[0]));
    }));
  }
  if (has_code(container)) {
    const Value answer = ask_code(container, known(name::kContains), {item});
    if (!answer.empty()) return truth(answer);
  }
  return builtin_contains(container, item);
}

bool Interp::builtin_contains(const Value& container, const Value& item) {
  if (container.is_object()) {
    Object* object = container.object();
    switch (object->kind()) {
      case Kind::kStr: {
        const Str* part = plain_of(item).as<Str>();
        if (part == nullptr) {
          type_error(fmt::format("'in <string>' requires string as left operand, not {}",
                                 type_name(item)));
        }
        return static_cast<Str*>(object)->find(part->text()) != std::string_view::npos;
      }
      case Kind::kDict: {
        const Value keep = container;
        return static_cast<Dict*>(object)->table.find(*this, item) != nullptr;
      }
      case Kind::kSet: {
        const Value keep = container;
        return static_cast<Set*>(object)->table.find(*this, item) != nullptr;
      }
      case Kind::kView: {
        const Value keep = container;
        const auto& view = *static_cast<DictView*>(object);
        if (view.part == DictPart::kKeys) return view.dict->table.find(*this, item) != nullptr;
        break;
      }
      case Kind::kRange: {
        if (!item.is_integral()) break;
        const auto& range = *static_cast<Range*>(object);
        const std::int64_t i = item.as_int();
        const bool up = range.step > 0;
        const bool inside =
            up ? i >= range.start && i < range.stop : i <= range.start && i > range.stop;
        const auto low = static_cast<std::uint64_t>(up ? range.start : i);
        const auto high = static_cast<std::uint64_t>(up ? i : range.start);
        return inside && (high - low) % range.width() == 0;
      }
      case Kind::kList:
      case Kind::kTuple: {
        const Value keep = container;
        const std::vector<Value>& items = object->kind() == Kind::kList
                                              ? static_cast<List*>(object)->items.all()
                                              : static_cast<Tuple*>(object)->items;
        const Str* text = item.as<Str>();
        for (std::size_t i = 0; i < items.size(); ++i) {  // An item's code may change the list
          step();
          if (items[i].same_as(item)) return true;
          if (const Str* other = text == nullptr ? nullptr : items[i].as<Str>()) {
            if (other->text() == text->text()) return true;
            continue;
          }
          const Value next = items[i];
          if (equal(next, item)) return true;
        }
        return false;
      }
      case Kind::kInstance:
      case Kind::kHost: {
        const Value keep = container;
        if (const auto found = static_cast<Instance*>(object)->contains(*this, item)) return *found;
        break;
      }
      default:
        break;
    }
  }
  if (!iterable(container)) {
    type_error(fmt::format("argument of type '{}' is not iterable", type_name(container)));
  }
  const Ref<Iterator> iterator = iterate(container);
  while (true) {
    const Value next = iterator->next(*this);
    if (next.empty()) return false;
    step();
    if (next.same_as(item) || equal(next, item)) return true;
  }
}

std::size_t Interp::checked_index(std::int64_t index, std::size_t size, std::string_view kind) {
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t at = index < 0 ? index + count : index;
  if (at < 0 || at >= count) {
    raise(*classes_->index_error, fmt::format("{} index out of range", kind));
  }
  return static_cast<std::size_t>(at);
}

namespace {

/// Whether a class takes [...] for types, as the containers that it derives from do.
bool is_generic(Interp& in, const ClassObject& type) {
  const BuiltinClasses& c = in.classes();
  for (const Ref<ClassObject>& base : {c.list, c.tuple, c.dict, c.set, c.frozenset, c.type}) {
    if (type.derives_from(*base)) return true;
  }
  return false;
}

// The integer an index is, by __index__ where it is an object. Code runs there, which may change
// the container: its size is asked afterwards. Errors: TypeError.
std::int64_t index_of(Interp& in, const Value& key, std::string_view kind) {
  if (key.is_integral()) return key.as_int();
  if (key.as<WideInteger>() != nullptr)
    in.raise(*in.classes().index_error, "cannot fit 'int' into an index-sized integer");
  if (key.as<Instance>() != nullptr) {
    const Value value = in.call_special(key, known(name::kIndex));
    if (value.is_integral()) return value.as_int();
  }
  if (kind == "string") {
    in.type_error(fmt::format("string indices must be integers, not '{}'", in.type_name(key)));
  }
  in.type_error(
      fmt::format("{} indices must be integers or slices, not {}", kind, in.type_name(key)));
}

// A slice of integers and None, by __index__ where its parts are objects. Code runs there, as in
// index_of.
Ref<Slice> plain_slice(Interp& in, const Slice& slice) {
  const auto part = [&](const Value& value) -> Value {
    if (value.is_none() || value.is_integral()) return value;
    if (value.as<WideInteger>() != nullptr) {
      const bool below = in.truth(in.compare(CompareOp::kLt, value, Value::integer(0)));
      return Value::integer(below ? std::numeric_limits<std::int64_t>::min() + 1
                                  : std::numeric_limits<std::int64_t>::max());
    }
    if (value.as<Instance>() != nullptr) {
      Value index = in.call_special(value, known(name::kIndex));
      if (index.is_integral()) return index;
    }
    in.type_error("slice indices must be integers or None or have an __index__ method");
  };
  Value start = part(slice.start);
  Value stop = part(slice.stop);
  Value step = part(slice.step);
  if (step.is_integral() && step.as_int() == 0) in.value_error("slice step cannot be zero");
  return make_ref<Slice>(in.heap(), std::move(start), std::move(stop), std::move(step));
}

// The positions that a plain_slice means. Nothing runs from here to their use.
Slice::Indices positions(const Ref<Slice>& plain, std::size_t length) {
  return *plain->indices(static_cast<std::int64_t>(length));
}

std::vector<Value> sliced(Interp& in, const std::vector<Value>& items, const Slice& slice) {
  const Ref<Slice> plain = plain_slice(in, slice);
  const Slice::Indices at = positions(plain, items.size());
  std::vector<Value> out;
  out.reserve(static_cast<std::size_t>(at.count));
  for (std::int64_t n = 0; n < at.count; ++n)
    out.push_back(items[static_cast<std::size_t>(at.start + n * at.step)]);
  return out;
}

std::int64_t multiplied(Interp& in, std::int64_t a, std::int64_t b) {
  return in.binary(BinaryOp::kMul, Value::integer(a), Value::integer(b)).as_int();
}

// Where the i-th of a range would be, the one behind its last among them. Errors: OverflowError.
std::int64_t range_end(Interp& in, const Range& range, std::int64_t i) {
  const std::int64_t distance = multiplied(in, i, range.step);
  return in.binary(BinaryOp::kAdd, Value::integer(range.start), Value::integer(distance)).as_int();
}

Value text_item(Interp& in, const Str& string, const Value& key) {
  const std::string& text = string.text();
  const std::int64_t length = string.length();
  const auto between = [&](std::int64_t first, std::int64_t end) {
    const std::size_t begin = string.offset(first);
    return text.substr(begin, string.offset(end) - begin);
  };
  if (const Slice* slice = key.as<Slice>()) {
    const Slice::Indices at = positions(plain_slice(in, *slice), static_cast<std::size_t>(length));
    if (at.step == 1) return in.str(between(at.start, at.start + at.count));
    std::string out;
    for (std::int64_t n = 0; n < at.count; ++n) {
      const std::int64_t i = at.start + n * at.step;
      out += between(i, i + 1);
    }
    return in.str(std::move(out));
  }
  const auto i = static_cast<std::int64_t>(
      in.checked_index(index_of(in, key, "string"), static_cast<std::size_t>(length), "string"));
  return in.str(between(i, i + 1));
}

}  // namespace

Value Interp::get_item(const Value& container, const Value& key) {
  if (has_code(container)) {
    Value found = ask_code(container, known(name::kGetitem), {key});
    if (!found.empty()) return found;
  }
  return builtin_get_item(container, key);
}

namespace {

/// items[index] of an index that is another on other ranks: of plain values each rank's own, of
/// others what is known to be alike.
Value item_of_ranks(Interp& in, const Value& container, const std::vector<Value>& items,
                    RankValue& index) {
  if (index.alike().pick) {
    Value picked = index.alike().pick(in, items, index);
    if (!picked.empty()) return picked;
  }
  const Value one[] = {Ref<Instance>(&index)};
  return by_rank(in, one,
                 [&](std::span<const Value> of) { return in.builtin_get_item(container, of[0]); });
}

/// lines[i] and lines[i:j]. Empty: it is not known without all of the lines.
Value item_of_lines(Interp& in, const ListItems& items, const Value& key) {
  if (key.is_int())
    return key.as_int() >= 0 ? items.get(static_cast<std::size_t>(key.as_int())) : Value();
  const Slice* slice = key.as<Slice>();
  const auto is_plain = [](const Value& part) { return part.is_none() || part.is_int(); };
  if (slice != nullptr && slice->start.is_int() && slice->start.as_int() >= 0 &&
      slice->stop.is_none() && slice->step.is_none()) {
    const std::size_t line = items.first_line() + static_cast<std::size_t>(slice->start.as_int());
    if (items.lines()->begin_of(line) == std::string_view::npos) return in.list({});
    return make_ref<List>(in.heap(), ListItems(items.lines(), line));
  }
  if (slice == nullptr || !is_plain(slice->start) || !is_plain(slice->stop)) return {};
  const auto size = static_cast<std::int64_t>(items.size());
  const auto at = slice->indices(size);
  if (!at || at->step != 1 || at->count == 0) return {};
  const auto first = static_cast<std::size_t>(at->start);
  if (at->start + at->count == size)
    return make_ref<List>(in.heap(), ListItems(items.lines(), items.first_line() + first));
  constexpr std::int64_t kFew = 32;
  if (at->count > kFew) return {};
  std::vector<Value> out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(at->count); ++i)
    out.push_back(items.get(first + i));
  return in.list(std::move(out));
}

}  // namespace

Value Interp::builtin_get_item(const Value& container, const Value& key) {
  if (auto* index = key.as<RankValue>()) {
    if (const List* list = container.as<List>())
      return item_of_ranks(*this, container, list->items, *index);
    if (const Tuple* tuple = container.as<Tuple>())
      return item_of_ranks(*this, container, tuple->items, *index);
  }
  if (container.is_object()) {
    Object* object = container.object();
    switch (object->kind()) {
      case Kind::kList: {
        if (static_cast<List*>(object)->items.lines()) [[unlikely]] {
          Value found = item_of_lines(*this, static_cast<List*>(object)->items, key);
          if (!found.empty()) return found;
        }
        const std::vector<Value>& items = static_cast<List*>(object)->items;
        if (key.is_int()) return items[checked_index(key.as_int(), items.size(), "list")];
        const Value keep = container;
        if (const Slice* slice = key.as<Slice>()) return list(sliced(*this, items, *slice));
        if (const auto* unknown = key.as<Unknown>()) {
          if (Value one = one_of(*this, *unknown, container); !one.empty()) return one;
        }
        const std::int64_t i = index_of(*this, key, "list");
        return items[checked_index(i, items.size(), "list")];
      }
      case Kind::kTuple: {
        const Value keep = container;
        const auto& sequence = *static_cast<Tuple*>(object);
        if (const Slice* slice = key.as<Slice>()) {
          // torch.Size stays torch.Size; a named tuple and a user's become plain ones.
          ClassObject* type = sequence.type();
          const bool keeps =
              type != nullptr && !type->user_defined && type->lookup(intern("_fields")) == nullptr;
          return make_ref<Tuple>(heap(), sliced(*this, sequence.items, *slice),
                                 Ref<ClassObject>(keeps ? type : nullptr));
        }
        return sequence
            .items[checked_index(index_of(*this, key, "tuple"), sequence.items.size(), "tuple")];
      }
      case Kind::kStr: {
        const Value keep = container;
        return text_item(*this, *static_cast<Str*>(object), key);
      }
      case Kind::kDict: {
        const Value keep = container;
        auto& dict = *static_cast<Dict*>(object);
        if (const auto* unknown = key.as<Unknown>()) {
          if (Value one = one_of(*this, *unknown, container); !one.empty()) return one;
        }
        if (const Value* found = dict.table.find(*this, key)) return *found;
        if (!dict.default_factory.empty() && !dict.default_factory.is_none() &&
            dict.default_factory.as<LateAnnotations>() == nullptr) {
          const Value factory = dict.default_factory;
          Value made = call(factory);
          dict.table.set(*this, key, made);
          return made;
        }
        if (dict.type() != nullptr) {
          Value missing = call_special(container, known(name::kMissing), {key});
          if (!missing.empty()) return missing;
        }
        raise(make_exception(*classes_->key_error, {key}));
      }
      case Kind::kRange: {
        const auto& range = *static_cast<Range*>(object);
        if (const Slice* slice = key.as<Slice>()) {
          const Ref<Slice> plain = plain_slice(*this, *slice);
          const Slice::Indices at = positions(plain, static_cast<std::size_t>(range.length()));
          return make_ref<Range>(range_end(*this, range, at.start),
                                 range_end(*this, range, at.stop),
                                 multiplied(*this, range.step, at.step));
        }
        const std::int64_t wanted = index_of(*this, key, "range");
        const std::size_t i =
            checked_index(wanted, static_cast<std::size_t>(range.length()), "range object");
        return Value::integer(range.start + static_cast<std::int64_t>(i) * range.step);
      }
      case Kind::kClass: {
        const auto& type = *static_cast<ClassObject*>(object);
        if (const Value* method = type.lookup(intern("__class_getitem__"))) {
          const Value function = *method;
          return call(bind(function, container, *static_cast<ClassObject*>(object)), {key});
        }
        if (is_generic(*this, type)) {  // list[int]
          const Value keep = container;
          const Value alias = get_attr(import("types"), intern("GenericAlias"));
          return call(alias, {keep, key});
        }
        // The library's classes take any: types are not checked.
        if (!type.user_defined || importer_->is_own(type.module())) return container;
        type_error(fmt::format("type '{}' is not subscriptable", text(type.name())));
      }
      case Kind::kInstance:
      case Kind::kHost:
      case Kind::kException: {
        const Value keep = container;
        Value found = static_cast<Instance*>(object)->get_item(*this, key);
        if (!found.empty()) return found;
        break;
      }
      default:
        break;
    }
  }
  type_error(fmt::format("'{}' object is not subscriptable", type_name(container)));
}

void Interp::set_item(const Value& container, const Value& key, const Value& value) {
  const bool done =
      has_code(container) && !ask_code(container, known(name::kSetitem), {key, value}).empty();
  if (!done) builtin_set_item(container, key, value);
}

void Interp::builtin_set_item(const Value& container, const Value& key, const Value& value) {
  if (container.is_object()) {
    Object* object = container.object();
    switch (object->kind()) {
      case Kind::kList: {
        const Value keep = container;
        std::vector<Value>& items = static_cast<List*>(object)->items;
        const Slice* slice = key.as<Slice>();
        if (slice == nullptr) {
          const std::int64_t i = index_of(*this, key, "list");
          items[checked_index(i, items.size(), "list assignment")] = value;
          return;
        }
        if (!iterable(value)) type_error("can only assign an iterable");
        std::vector<Value> given = unpack(value);
        const Ref<Slice> plain = plain_slice(*this, *slice);
        const Slice::Indices at = positions(plain, items.size());
        if (at.step != 1) {
          if (static_cast<std::int64_t>(given.size()) != at.count) {
            value_error(
                fmt::format("attempt to assign sequence of size {} to extended slice of size {}",
                            given.size(), at.count));
          }
          for (std::int64_t n = 0; n < at.count; ++n) {
            items[static_cast<std::size_t>(at.start + n * at.step)].swap(
                given[static_cast<std::size_t>(n)]);
          }
          drop_forward(heap(), given);
          return;
        }
        const auto first = items.begin() + at.start;
        std::vector<Value> removed(std::make_move_iterator(first),
                                   std::make_move_iterator(first + at.count));
        const auto hole = items.erase(first, first + at.count);
        items.insert(hole, std::make_move_iterator(given.begin()),
                     std::make_move_iterator(given.end()));
        drop_backward(heap(), removed);
        return;
      }
      case Kind::kDict: {
        const Value keep = container;
        static_cast<Dict*>(object)->table.set(*this, key, value);
        return;
      }
      case Kind::kInstance:
      case Kind::kHost: {
        const Value keep = container;
        if (static_cast<Instance*>(object)->set_item(*this, key, value)) return;
        break;
      }
      default:
        break;
    }
  }
  type_error(fmt::format("'{}' object does not support item assignment", type_name(container)));
}

void Interp::del_item(const Value& container, const Value& key) {
  const bool done =
      has_code(container) && !ask_code(container, known(name::kDelitem), {key}).empty();
  if (!done) builtin_del_item(container, key);
}

void Interp::builtin_del_item(const Value& container, const Value& key) {
  if (container.is_object()) {
    Object* object = container.object();
    switch (object->kind()) {
      case Kind::kList: {
        const Value keep = container;
        std::vector<Value>& items = static_cast<List*>(object)->items;
        if (const Slice* slice = key.as<Slice>()) {
          const Ref<Slice> plain = plain_slice(*this, *slice);
          const Slice::Indices at = positions(plain, items.size());
          std::vector<Value> removed;
          std::vector<Value> kept;
          for (std::size_t i = 0; i < items.size(); ++i) {
            const std::int64_t offset = static_cast<std::int64_t>(i) - at.start;
            const bool taken = at.count > 0 && offset % at.step == 0 && offset / at.step >= 0 &&
                               offset / at.step < at.count;
            (taken ? removed : kept).push_back(std::move(items[i]));
          }
          items = std::move(kept);
          drop_backward(heap(), removed);
          return;
        }
        const std::int64_t wanted = index_of(*this, key, "list");
        const std::size_t i = checked_index(wanted, items.size(), "list assignment");
        const Value removed = taken_out(items, i);
        return;
      }
      case Kind::kDict: {
        const Value keep = container;
        const ValueTable::Entry removed = static_cast<Dict*>(object)->table.remove(*this, key);
        if (removed.key.empty()) raise(make_exception(*classes_->key_error, {key}));
        return;
      }
      case Kind::kInstance:
      case Kind::kHost: {
        const Value keep = container;
        if (static_cast<Instance*>(object)->del_item(*this, key)) return;
        break;
      }
      default:
        break;
    }
  }
  // Source: CPython's PyObject_DelItem, which leaves places to PySequence_DelItem.
  const bool has_places = container.is_object() && container.as<Function>() == nullptr &&
                          container.as<Builtin>() == nullptr &&
                          container.as<ClassObject>() == nullptr;
  const bool is_place = has_places && key.is_integral();
  type_error(fmt::format("'{}' object {} support item deletion", type_name(container),
                         is_place ? "doesn't" : "does not"));
}

}  // namespace tidemark::lang
