#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/lang/runtime/complex.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/set_order.h"
#include "sim/lang/runtime/text.h"
#include "sim/lang/runtime/wide_integer.h"

/// Arithmetic.
namespace tidemark::lang {

namespace {

[[noreturn]] void no_division(Interp& in, std::string_view message) {
  in.raise(*in.classes().zero_division_error, std::string(message));
}

Value integer_power(Interp& in, std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) no_division(in, "0.0 cannot be raised to a negative power");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  const Value wide[] = {Value::integer(base), Value::integer(exponent)};
  const auto beyond = [&] { return wide_binary(in, BinaryOp::kPow, wide[0], wide[1]); };
  std::int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return beyond();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return beyond();
  }
  return Value::integer(result);
}

Value integers(Interp& in, BinaryOp op, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kExactly = std::int64_t{1} << 53;  // what a double holds of each
  std::int64_t out = 0;
  const auto beyond = [&] { return wide_binary(in, op, Value::integer(a), Value::integer(b)); };
  switch (op) {
    case BinaryOp::kAdd:
      if (__builtin_add_overflow(a, b, &out)) return beyond();
      return Value::integer(out);
    case BinaryOp::kSub:
      if (__builtin_sub_overflow(a, b, &out)) return beyond();
      return Value::integer(out);
    case BinaryOp::kMul:
      if (__builtin_mul_overflow(a, b, &out)) return beyond();
      return Value::integer(out);
    case BinaryOp::kTrueDiv:
      if (b == 0) no_division(in, "division by zero");
      if (a > kExactly || a < -kExactly || b > kExactly || b < -kExactly) return beyond();
      return Value::real(static_cast<double>(a) / static_cast<double>(b));
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: {
      if (b == 0) {
        no_division(in, op == BinaryOp::kMod ? "integer modulo by zero"
                                             : "integer division or modulo by zero");
      }
      if (b == -1)
        return op == BinaryOp::kMod ? Value::integer(0) : integers(in, BinaryOp::kSub, 0, a);
      std::int64_t quotient = a / b;
      std::int64_t remainder = a % b;
      if (remainder != 0 && ((remainder < 0) != (b < 0))) {
        remainder += b;
        --quotient;
      }
      return Value::integer(op == BinaryOp::kMod ? remainder : quotient);
    }
    case BinaryOp::kPow:
      return integer_power(in, a, b);
    case BinaryOp::kLShift:
      if (b < 0) in.value_error("negative shift count");
      if (a == 0) return Value::integer(0);
      if (b > 62 || __builtin_mul_overflow(a, std::int64_t{1} << b, &out)) return beyond();
      return Value::integer(out);
    case BinaryOp::kRShift:
      if (b < 0) in.value_error("negative shift count");
      return Value::integer(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
    case BinaryOp::kAnd:
      return Value::integer(a & b);
    case BinaryOp::kOr:
      return Value::integer(a | b);
    case BinaryOp::kXor:
      return Value::integer(a ^ b);
    case BinaryOp::kMatMul:
      break;
  }
  return {};
}

Value reals(Interp& in, BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value::real(a + b);
    case BinaryOp::kSub:
      return Value::real(a - b);
    case BinaryOp::kMul:
      return Value::real(a * b);
    case BinaryOp::kTrueDiv:
      if (b == 0) no_division(in, "float division by zero");
      return Value::real(a / b);
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: {
      if (b == 0) {
        no_division(in, op == BinaryOp::kMod ? "float modulo" : "float floor division by zero");
      }
      double remainder = std::fmod(a, b);
      double quotient = (a - remainder) / b;
      if (remainder != 0 && ((remainder < 0) != (b < 0))) {
        remainder += b;
        quotient -= 1;
      }
      if (op == BinaryOp::kMod)
        return Value::real(remainder == 0 ? std::copysign(0.0, b) : remainder);
      double whole = std::floor(quotient);
      if (quotient - whole > 0.5) whole += 1;
      return Value::real(quotient == 0 ? std::copysign(0.0, a / b) : whole);
    }
    case BinaryOp::kPow:
      if (a == 0 && b < 0) no_division(in, "0.0 cannot be raised to a negative power");
      if (a < 0 && std::isfinite(b) && b != std::floor(b)) {
        return in.binary(op, make_complex(in, a), Value::real(b));
      }
      if (const double out = std::pow(a, b);
          std::isinf(out) && std::isfinite(a) && std::isfinite(b)) {
        in.raise(*in.classes().overflow_error, "(34, 'Numerical result out of range')");
      } else {
        return Value::real(out);
      }
    default:
      return {};
  }
}

// sequence * count.
std::size_t repeats(Interp& in, std::size_t size, std::int64_t count) {
  if (count <= 0 || size == 0) return 0;
  if (static_cast<std::uint64_t>(count) > in.limits().sequence / size) in.too_long();
  return static_cast<std::size_t>(count);
}

std::vector<Value> repeated(Interp& in, const std::vector<Value>& items, std::int64_t count) {
  const std::size_t times = repeats(in, items.size(), count);
  std::vector<Value> out;
  out.reserve(items.size() * times);
  for (std::size_t n = 0; n < times; ++n) out.insert(out.end(), items.begin(), items.end());
  return out;
}

Value repeated_text(Interp& in, const std::string& text, std::int64_t count) {
  const std::size_t times = repeats(in, text.size(), count);
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t n = 0; n < times; ++n) out += text;
  return in.str(std::move(out));
}

std::vector<Value> joined(const std::vector<Value>& a, const std::vector<Value>& b) {
  std::vector<Value> out;
  out.reserve(a.size() + b.size());
  out.insert(out.end(), a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

Value containers(Interp& in, BinaryOp op, const Value& left, const Value& right) {
  if (op == BinaryOp::kAdd) {
    if (const Str* a = left.as<Str>()) {
      const Str* b = right.as<Str>();
      if (b == nullptr) {
        in.type_error(
            fmt::format("can only concatenate str (not \"{}\") to str", in.type_name(right)));
      }
      return in.str(a->text() + b->text());
    }
    if (const List* a = left.as<List>()) {
      const List* b = right.as<List>();
      if (b == nullptr) {
        in.type_error(
            fmt::format("can only concatenate list (not \"{}\") to list", in.type_name(right)));
      }
      return in.list(joined(a->items, b->items));
    }
    if (const Tuple* a = left.as<Tuple>()) {
      const Tuple* b = right.as<Tuple>();
      if (b == nullptr) {
        in.type_error(
            fmt::format("can only concatenate tuple (not \"{}\") to tuple", in.type_name(right)));
      }
      return in.tuple(joined(a->items, b->items));
    }
  }
  if (op == BinaryOp::kMul) {
    const bool left_counts = left.is_integral();
    const Value& sequence = left_counts ? right : left;
    const Value& count = left_counts ? left : right;
    const bool is_sequence = sequence.as<Str>() != nullptr || sequence.as<List>() != nullptr ||
                             sequence.as<Tuple>() != nullptr;
    if (is_sequence && !count.is_integral()) {
      in.type_error(
          fmt::format("can't multiply sequence by non-int of type '{}'", in.type_name(count)));
    }
    if (const Str* text = sequence.as<Str>())
      return repeated_text(in, text->text(), count.as_int());
    if (const List* list = sequence.as<List>()) {
      return in.list(repeated(in, list->items, count.as_int()));
    }
    if (const Tuple* tuple = sequence.as<Tuple>()) {
      return in.tuple(repeated(in, tuple->items, count.as_int()));
    }
  }
  if (op == BinaryOp::kMod) {
    if (const Str* format = left.as<Str>())
      return in.str(percent_format(in, format->text(), right));
  }
  if (Value sets = set_operation(in, op, left, right); !sets.empty()) return sets;
  if (op == BinaryOp::kOr && left.as<Dict>() != nullptr && right.as<Dict>() != nullptr) {
    Ref<Dict> out = make_ref<Dict>(in.heap(), class_of_copy(in, *left.as<Dict>()));
    out->default_factory = left.as<Dict>()->default_factory;
    for (const Value* from : {&left, &right}) {
      const std::vector<ValueTable::Entry> entries = from->as<Dict>()->table.entries();
      for (const ValueTable::Entry& entry : entries) {
        if (!entry.key.empty()) out->table.set(in, entry.key, entry.value);
      }
    }
    return out;
  }
  return {};
}

/// Whether a subclass has a method of its own: its reflected method goes first then, and only then.
bool overrides(const ClassObject& derived, const ClassObject& base, Name method) {
  const Value* own = derived.lookup(method);
  if (own == nullptr) return false;
  const Value* inherited = base.lookup(method);
  return inherited == nullptr || !own->same_as(*inherited);
}

Value binary_or_empty(Interp& in, BinaryOp op, const Value& left, const Value& right) {
  if (left.is_int() && right.is_int()) return integers(in, op, left.as_int(), right.as_int());
  if (left.is_number() && right.is_number()) {
    if (left.is_bool() && right.is_bool()) {
      const bool a = left.as_bool();
      const bool b = right.as_bool();
      if (op == BinaryOp::kAnd) return Value::boolean(a && b);
      if (op == BinaryOp::kOr) return Value::boolean(a || b);
      if (op == BinaryOp::kXor) return Value::boolean(a != b);
    }
    if (left.is_integral() && right.is_integral()) {
      return integers(in, op, left.as_int(), right.as_int());
    }
    return reals(in, op, left.number(), right.number());
  }
  auto* a = left.as<Instance>();
  auto* b = right.as<Instance>();
  if (const Tuple* parts =
          op == BinaryOp::kMod && left.as<Str>() != nullptr ? right.as<Tuple>() : nullptr;
      parts != nullptr && any_of_rank(parts->items)) {
    return by_rank(in, parts->items, [&](std::span<const Value> of) {
      return in.binary(op, left, in.tuple({of.begin(), of.end()}));
    });
  }
  if (op == BinaryOp::kMod && left.as<Str>() != nullptr && right.as<BuiltinValue>() != nullptr)
    return containers(in, op, left, right);
  if (a != nullptr || b != nullptr) {
    const bool right_first = a != nullptr && b != nullptr && &a->type() != &b->type() &&
                             b->type().derives_from(a->type()) &&
                             overrides(b->type(), a->type(), reflected_dunder(op));
    Value out;
    if (right_first) out = b->binary(in, op, left, true);
    if (out.empty() && a != nullptr) out = a->binary(in, op, right, false);
    if (out.empty() && b != nullptr && !right_first && (a == nullptr || &a->type() != &b->type())) {
      out = b->binary(in, op, left, true);
    }
    if (!out.empty()) return out;
    if (op == BinaryOp::kMod && left.as<Str>() != nullptr) return containers(in, op, left, right);
    // A sequence as often as an object's __index__ says.
    const Value& sequence = a != nullptr ? right : left;
    const Instance* counts = a != nullptr ? a : b;
    const bool repeats =
        op == BinaryOp::kMul && (sequence.as<Str>() != nullptr || sequence.as<List>() != nullptr ||
                                 sequence.as<Tuple>() != nullptr);
    if (!repeats || counts->type().lookup(known(name::kIndex)) == nullptr) return {};
    const Value count = in.call_special(a != nullptr ? left : right, known(name::kIndex));
    return count.is_integral() ? containers(in, op, sequence, count) : Value();
  }
  if (has_code(left)) {
    Value out = in.ask_code(left, dunder(op), {right});
    if (!out.empty()) return out;
  }
  if (has_code(right)) {
    Value out = in.ask_code(right, reflected_dunder(op), {left});
    if (!out.empty()) return out;
  }
  const auto is_type = [](const Value& value) {
    return value.is_none() || value.as<ClassObject>() != nullptr;
  };
  if (op == BinaryOp::kOr && is_type(left) && is_type(right) &&
      !(left.is_none() && right.is_none())) {
    const auto kind = [&](const Value& value) {
      return value.is_none() ? Value(in.type_of(value)) : value;
    };
    std::vector<Value> kinds = {kind(left), kind(right)};
    // One class is one, whatever its metaclass says of "==".
    if (kinds[0].same_as(kinds[1])) return kinds[0];
    const Value type = in.get_attr(in.import("typing"), in.intern("UnionType"));
    return in.call(type, {in.tuple(std::move(kinds))});
  }
  return containers(in, op, left, right);
}

[[noreturn]] void unsupported(Interp& in, std::string_view sign, const Value& left,
                              const Value& right) {
  in.type_error(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", sign,
                            in.type_name(left), in.type_name(right)));
}

}  // namespace

Value Interp::binary(BinaryOp op, const Value& left, const Value& right) {
  Value out = binary_or_empty(*this, op, left, right);
  if (out.empty()) unsupported(*this, symbol(op), left, right);
  return out;
}

Value Interp::inplace(BinaryOp op, const Value& left, const Value& right) {
  if (auto* instance = left.as<Instance>()) {
    const Value keep = left;
    Value out = instance->inplace(*this, op, right);
    if (!out.empty()) return out;
  } else if (Value own = has_code(left) ? ask_code(left, inplace_dunder(op), {right}) : Value();
             !own.empty()) {
    return own;
  } else if (List* list = left.as<List>()) {
    if (op == BinaryOp::kAdd && right.as<Instance>() == nullptr) {
      extend(*this, *list, right);
      return left;
    }
    if (op == BinaryOp::kMul && right.is_integral()) {
      std::vector<Value> items = repeated(*this, list->items, right.as_int());
      items.swap(list->items.all());
      drop_backward(heap(), items);
      return left;
    }
  } else if (Set* set = left.as<Set>(); set != nullptr && !set->frozen) {
    const bool is_set_operator =
        op == BinaryOp::kOr || op == BinaryOp::kAnd || op == BinaryOp::kXor || op == BinaryOp::kSub;
    if (right.as<Set>() != nullptr && is_set_operator) {
      Value keep = left;
      change_set(*this, op, *set, right);
      return keep;
    }
  } else if (Dict* dict = left.as<Dict>(); dict != nullptr && op == BinaryOp::kOr) {
    if (const Dict* other = right.as<Dict>()) {
      const std::vector<ValueTable::Entry> entries = other->table.entries();
      for (const ValueTable::Entry& entry : entries) {
        if (!entry.key.empty()) dict->table.set(*this, entry.key, entry.value);
      }
      return left;
    }
  }
  Value out = binary_or_empty(*this, op, left, right);
  if (out.empty()) {
    const std::string_view sign = op == BinaryOp::kPow ? "**" : symbol(op);
    unsupported(*this, std::string(sign) + "=", left, right);
  }
  return out;
}

Value Interp::unary(UnaryOp op, const Value& operand) {
  if (operand.is_integral()) {
    const std::int64_t value = operand.as_int();
    switch (op) {
      case UnaryOp::kNeg:
        return integers(*this, BinaryOp::kSub, 0, value);
      case UnaryOp::kPos:
        return Value::integer(value);
      case UnaryOp::kInvert:
        return Value::integer(~value);
    }
  }
  if (operand.is_float() && op != UnaryOp::kInvert) {
    return Value::real(op == UnaryOp::kNeg ? -operand.as_float() : operand.as_float());
  }
  if (auto* instance = operand.as<Instance>()) {
    Value out = instance->unary(*this, op);
    if (!out.empty()) return out;
  }
  type_error(fmt::format("bad operand type for unary {}: '{}'", symbol(op), type_name(operand)));
}

}  // namespace tidemark::lang
