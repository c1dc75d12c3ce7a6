#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/wide_integer.h"

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
    return &list->items.all();
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

namespace {

// Source: CPython 3.11, Objects/longobject.c: long_hash; Python/pyhash.c: _Py_HashDouble;
// Objects/tupleobject.c: tuplehash; Objects/setobject.c: frozenset_hash. -1 means an error there.
constexpr std::int64_t kModulus = (std::int64_t{1} << 61U) - 1;

std::int64_t hash_of_integer(std::int64_t value) {
  if (value > -kModulus && value < kModulus) [[likely]]
    return value == -1 ? -2 : value;
  const std::int64_t left = value % kModulus;
  return left == -1 ? -2 : left;
}

std::int64_t hash_of_real(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e18)
    return hash_of_integer(static_cast<std::int64_t>(value));
  if (std::isinf(value)) return value > 0 ? 314159 : -314159;
  if (std::isnan(value)) return 0;
  constexpr int kBits = 61;
  constexpr int kStep = 28;
  int exponent = 0;
  double part = std::frexp(std::abs(value), &exponent);
  std::uint64_t out = 0;
  while (part != 0) {
    out = ((out << kStep) & kModulus) | out >> (kBits - kStep);
    part *= 1U << kStep;
    exponent -= kStep;
    const auto whole = static_cast<std::uint64_t>(part);
    part -= static_cast<double>(whole);
    out += whole;
    if (out >= kModulus) out -= kModulus;
  }
  const int turn = exponent >= 0 ? exponent % kBits : kBits - 1 - ((-1 - exponent) % kBits);
  out = ((out << turn) & kModulus) | out >> (kBits - turn);
  const std::int64_t signed_hash =
      value < 0 ? -static_cast<std::int64_t>(out) : static_cast<std::int64_t>(out);
  return signed_hash == -1 ? -2 : signed_hash;
}

class TupleHash {
 public:
  void add(std::int64_t hash) {
    sum_ = std::rotl(sum_ + static_cast<std::uint64_t>(hash) * kPrime2, 31) * kPrime1;
    ++count_;
  }
  [[nodiscard]] std::int64_t value() const {
    const std::uint64_t out = sum_ + (count_ ^ (kPrime5 ^ 3527539U));
    return out == UINT64_MAX ? 1546275796 : static_cast<std::int64_t>(out);
  }

 private:
  static constexpr std::uint64_t kPrime1 = 11400714785074694791U;
  static constexpr std::uint64_t kPrime2 = 14029467366897019727U;
  static constexpr std::uint64_t kPrime5 = 2870177450012600261U;
  std::uint64_t sum_ = kPrime5;
  std::uint64_t count_ = 0;
};

std::int64_t hash_of_frozenset(const ValueTable& table) {
  std::uint64_t out = 0;
  for (const ValueTable::Entry& entry : table.entries()) {
    if (entry.key.empty()) continue;
    const auto hash = static_cast<std::uint64_t>(python_hash(entry.hash));
    out ^= ((hash ^ 89869747U) ^ (hash << 16U)) * 3644798167U;
  }
  out ^= (table.size() + 1) * 1927868237U;
  out ^= (out >> 11U) ^ (out >> 25U);
  out = out * 69069U + 907133923U;
  return out == UINT64_MAX ? 590923713 : static_cast<std::int64_t>(out);
}

}  // namespace

std::uint64_t hash_answered(Interp& interp, const Value& answer) {
  // Source: CPython 3.11, Objects/typeobject.c: slot_tp_hash.
  const Value& number = plain_of(answer);
  if (number.is_integral()) return table_hash(number.as_int() == -1 ? -2 : number.as_int());
  if (number.as<WideInteger>() != nullptr) return interp.hash(number);
  interp.type_error("__hash__ method should return an integer");
}

std::uint64_t Interp::hash(const Value& value) {
  const auto of_integer = table_hash;
  switch (value.tag()) {
    case Tag::kBool:
    case Tag::kInt:
      return of_integer(hash_of_integer(value.as_int()));
    case Tag::kFloat:
      return of_integer(hash_of_real(value.as_float()));
    case Tag::kObject:
      break;
    default:
      return static_cast<std::uint64_t>(value.tag()) + 1;
  }
  if (has_code(value)) {
    const Value own = ask_code(value, known(name::kHash));
    if (!own.empty()) return hash_answered(*this, own);
  }
  Object* object = value.object();
  switch (object->kind()) {
    case Kind::kStr:
      return static_cast<Str*>(object)->hash();
    case Kind::kTuple: {
      const NestedCall nested(*this);
      const Value keep = value;
      TupleHash out;
      for (const Value& item : static_cast<Tuple*>(object)->items) out.add(python_hash(hash(item)));
      return of_integer(out.value());
    }
    case Kind::kRange: {
      const auto& range = *static_cast<Range*>(object);
      return of_integer(range.length()) ^
             of_integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(range.start) * 31U +
                                                  static_cast<std::uint64_t>(range.step)));
    }
    case Kind::kSet:
      if (static_cast<Set*>(object)->frozen) {
        return of_integer(hash_of_frozenset(static_cast<Set*>(object)->table));
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
