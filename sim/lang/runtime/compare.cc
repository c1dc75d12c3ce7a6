#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/iterators.h"

/// Comparisons and hashes.
namespace tidemark::lang {

// A set of a set or of a dict's keys view; nullptr for anything else.
ValueTable* set_table(const Value& value) {
  if (Set* set = value.as<Set>()) return &set->table;
  if (auto* view = value.as<DictView>(); view != nullptr && view->part == DictPart::kKeys) {
    return &view->dict->table;
  }
  return nullptr;
}

namespace {

template <class T>
bool ordered(CompareOp op, const T& a, const T& b) {
  switch (op) {
    case CompareOp::kEq:
      return a == b;
    case CompareOp::kNe:
      return a != b;
    case CompareOp::kLt:
      return a < b;
    case CompareOp::kLe:
      return a <= b;
    case CompareOp::kGt:
      return a > b;
    case CompareOp::kGe:
      return a >= b;
  }
  return false;
}

const std::vector<Value>* sequence_of(const Value& a, const Value& b, bool& same_kind) {
  if (const List* list = a.as<List>()) {
    same_kind = b.as<List>() != nullptr;
    return &list->items;
  }
  if (const Tuple* tuple = a.as<Tuple>()) {
    same_kind = b.as<Tuple>() != nullptr;
    return &tuple->items;
  }
  return nullptr;
}

// Empty: these two cannot be compared so.
Value compare_containers(Interp& in, CompareOp op, const Value& left, const Value& right) {
  bool same_kind = false;
  if (const auto* a = sequence_of(left, right, same_kind); a != nullptr && same_kind) {
    bool unused = false;
    const auto* b = sequence_of(right, left, unused);
    if ((op == CompareOp::kEq || op == CompareOp::kNe) && a->size() != b->size()) {
      return Value::boolean(op == CompareOp::kNe);
    }
    // Code may run in every comparison and change both: their sizes are asked each time.
    for (std::size_t i = 0; i < a->size() && i < b->size(); ++i) {
      if ((*a)[i].same_as((*b)[i])) continue;
      const Value first = (*a)[i];
      const Value second = (*b)[i];
      if (in.equal(first, second)) continue;
      if (op == CompareOp::kEq) return Value::boolean(false);
      if (op == CompareOp::kNe) return Value::boolean(true);
      return in.compare(op, first, second);
    }
    return Value::boolean(ordered(op, a->size(), b->size()));
  }
  const auto pairs = [](const Value& value) {
    const auto* view = value.as<DictView>();
    return view != nullptr && view->part == DictPart::kItems;
  };
  if (pairs(left) || pairs(right)) {
    // d.items() is a set of pairs.
    const auto as_set = [&](const Value& value) {
      return pairs(value) ? in.call(in.classes().set, {value}) : value;
    };
    const Value first = as_set(left);
    const Value second = as_set(right);
    if (set_table(first) == nullptr || set_table(second) == nullptr) return {};
    return compare_containers(in, op, first, second);
  }
  ValueTable* a = set_table(left);
  ValueTable* b = set_table(right);
  const bool dicts = left.as<Dict>() != nullptr && right.as<Dict>() != nullptr;
  if (dicts && (op == CompareOp::kEq || op == CompareOp::kNe)) {
    a = &left.as<Dict>()->table;
    b = &right.as<Dict>()->table;
  } else if (a == nullptr || b == nullptr) {
    return {};
  }
  const auto inside = [&](const ValueTable& small, ValueTable& large) {
    const std::vector<ValueTable::Entry> entries = small.entries();
    return std::all_of(entries.begin(), entries.end(), [&](const ValueTable::Entry& entry) {
      if (entry.key.empty()) return true;
      const Value* found = large.find(in, entry.key);
      if (found == nullptr || !dicts) return found != nullptr;
      const Value other = *found;
      return entry.value.same_as(other) || in.equal(entry.value, other);
    });
  };
  switch (op) {
    case CompareOp::kEq:
      return Value::boolean(a->size() == b->size() && inside(*a, *b));
    case CompareOp::kNe:
      return Value::boolean(a->size() != b->size() || !inside(*a, *b));
    case CompareOp::kLe:
      return Value::boolean(inside(*a, *b));
    case CompareOp::kLt:
      return Value::boolean(a->size() < b->size() && inside(*a, *b));
    case CompareOp::kGe:
      return Value::boolean(inside(*b, *a));
    case CompareOp::kGt:
      return Value::boolean(b->size() < a->size() && inside(*b, *a));
  }
  return {};
}

}  // namespace

Value Interp::builtin_compare(CompareOp op, const Value& left, const Value& right) {
  const NestedCall nested(*this);
  const Value keep_left = left;
  const Value keep_right = right;
  return compare_containers(*this, op, keep_left, keep_right);
}

Value Interp::compare(CompareOp op, const Value& left, const Value& right) {
  if (left.is_int() && right.is_int()) {
    return Value::boolean(ordered(op, left.as_int(), right.as_int()));
  }
  if (left.is_number() && right.is_number()) {
    if (left.is_integral() && right.is_integral()) {
      return Value::boolean(ordered(op, left.as_int(), right.as_int()));
    }
    return Value::boolean(ordered(op, left.number(), right.number()));
  }
  auto* a = left.as<Instance>();
  auto* b = right.as<Instance>();
  if (a != nullptr || b != nullptr) {
    const auto ask = [&](Instance* object, CompareOp wanted, const Value& other) {
      Value out = object->compare(*this, wanted, other);
      if (!out.empty() || wanted != CompareOp::kNe) return out;
      // Without __ne__: the opposite of __eq__.
      out = object->compare(*this, CompareOp::kEq, other);
      return out.empty() ? Value() : Value::boolean(!truth(out));
    };
    Value out;
    if (a != nullptr) out = ask(a, op, right);
    if (out.empty() && b != nullptr) out = ask(b, swapped(op), left);
    if (!out.empty()) return out;
  } else {
    const Str* text = left.as<Str>();
    const Str* other_text = right.as<Str>();
    if (text != nullptr && other_text != nullptr) {
      return Value::boolean(ordered(op, text->text(), other_text->text()));
    }
    const auto ask = [&](const Value& object, CompareOp wanted, const Value& other) {
      if (!has_code(object)) return Value();
      Value answer = ask_code(object, dunder(wanted), {other});
      if (!answer.empty() || wanted != CompareOp::kNe) return answer;
      answer = ask_code(object, dunder(CompareOp::kEq), {other});
      return answer.empty() ? Value() : Value::boolean(!truth(answer));
    };
    Value out = ask(left, op, right);
    if (out.empty()) out = ask(right, swapped(op), left);
    if (out.empty()) out = builtin_compare(op, left, right);
    if (!out.empty()) return out;
    if (const auto* range = left.as<Range>()) {
      const auto* second = right.as<Range>();
      if (second != nullptr && (op == CompareOp::kEq || op == CompareOp::kNe)) {
        const std::int64_t size = range->length();
        const bool same =
            size == second->length() && (size == 0 || (range->start == second->start &&
                                                       (size == 1 || range->step == second->step)));
        return Value::boolean(same == (op == CompareOp::kEq));
      }
    }
    if (const auto* method = left.as<BoundMethod>()) {
      const auto* second = right.as<BoundMethod>();
      if (second != nullptr && (op == CompareOp::kEq || op == CompareOp::kNe)) {
        const bool same =
            method->self.same_as(second->self) && method->function.same_as(second->function);
        return Value::boolean(same == (op == CompareOp::kEq));
      }
    }
  }
  if (op == CompareOp::kEq) return Value::boolean(left.same_as(right));
  if (op == CompareOp::kNe) return Value::boolean(!left.same_as(right));
  type_error(fmt::format("'{}' not supported between instances of '{}' and '{}'", symbol(op),
                         type_name(left), type_name(right)));
}

bool Interp::equal(const Value& left, const Value& right) {
  if (const Str* text = left.as<Str>()) {
    if (const Str* other = right.as<Str>()) return text->text() == other->text();
  }
  return truth(compare(CompareOp::kEq, left, right));
}

// Odd, so that it has an inverse: each integer has a hash of its own, and each hash an integer.
constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15U;
constexpr std::uint64_t kGather = 0xf1de83e19937733dU;
static_assert(kSpread * kGather == 1);

std::uint64_t table_hash(std::int64_t python_hash) {
  return static_cast<std::uint64_t>(python_hash) * kSpread;
}

std::int64_t python_hash(std::uint64_t table_hash) {
  return static_cast<std::int64_t>(table_hash * kGather);
}

std::uint64_t Interp::hash(const Value& value) {
  const auto of_integer = table_hash;
  switch (value.tag()) {
    case Tag::kBool:
    case Tag::kInt:
      return of_integer(value.as_int());
    case Tag::kFloat: {
      const double real = value.as_float();
      if (real == std::floor(real) && std::abs(real) < 9e18) {
        return of_integer(static_cast<std::int64_t>(real));
      }
      return hash_text(fmt::format("{}", real));
    }
    case Tag::kObject:
      break;
    default:
      return static_cast<std::uint64_t>(value.tag()) + 1;
  }
  if (has_code(value)) {
    const Value own = ask_code(value, known(name::kHash));
    if (own.is_integral()) return table_hash(own.as_int());
  }
  Object* object = value.object();
  switch (object->kind()) {
    case Kind::kStr:
      return static_cast<Str*>(object)->hash();
    case Kind::kTuple: {
      const NestedCall nested(*this);
      const Value keep = value;
      std::uint64_t out = 0x345678U;
      for (const Value& item : static_cast<Tuple*>(object)->items)
        out = (out ^ hash(item)) * 0x100000001b3U;
      return out;
    }
    case Kind::kRange: {
      const auto& range = *static_cast<Range*>(object);
      return of_integer(range.length()) ^
             of_integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(range.start) * 31U +
                                                  static_cast<std::uint64_t>(range.step)));
    }
    case Kind::kSet:
      if (static_cast<Set*>(object)->frozen) {
        std::uint64_t out = 0;
        for (const ValueTable::Entry& entry : static_cast<Set*>(object)->table.entries()) {
          if (!entry.key.empty()) out ^= entry.hash;
        }
        return out;
      }
      break;
    case Kind::kList:
    case Kind::kDict:
    case Kind::kSlice:
    case Kind::kView:
      break;
    case Kind::kBoundMethod: {
      const NestedCall nested(*this);
      const auto& method = *static_cast<BoundMethod*>(object);
      return hash(method.function) ^ reinterpret_cast<std::uintptr_t>(method.self.object());
    }
    case Kind::kInstance:
    case Kind::kHost:
    case Kind::kException: {
      const Value keep = value;
      if (const auto found = static_cast<Instance*>(object)->hash(*this)) return *found;
      break;
    }
    default:
      return reinterpret_cast<std::uintptr_t>(object) >> 4U;
  }
  type_error(fmt::format("unhashable type: '{}'", type_name(value)));
}

}  // namespace tidemark::lang
