#include "sim/lang/builtins/integer_functions.h"

#include <fmt/format.h>

#include <utility>

#include "sim/lang/runtime/interp.h"
#include "sim/lang/runtime/wide_integer.h"

namespace tidemark::lang {

namespace {

/// An integer of any size. Errors: TypeError.
Value whole_number(Interp& in, const Value& value) {
  if (wide_of(value)) return value;
  Value made;
  if (value.as<Instance>() != nullptr) made = in.call_special(value, known(name::kIndex));
  if (!made.empty() && wide_of(made)) return made;
  in.type_error(
      fmt::format("'{}' object cannot be interpreted as an integer", in.type_name(value)));
}

Value common_divisor(Interp& in, Value a, Value b) {
  while (in.truth(b)) {
    Value rest = in.binary(BinaryOp::kMod, a, b);
    a = std::exchange(b, std::move(rest));
  }
  return a;
}

Value absolute(Interp& in, const Value& number) {
  const bool is_negative = in.truth(in.compare(CompareOp::kLt, number, Value::integer(0)));
  return is_negative ? in.unary(UnaryOp::kNeg, number) : number;
}

}  // namespace

Value gcd(Interp& in, Arguments& args) {
  Value out = Value::integer(0);
  for (const Value& item : in.unpack(args[0]))
    out = common_divisor(in, out, whole_number(in, item));
  return absolute(in, out);
}

Value lcm(Interp& in, Arguments& args) {
  Value out = Value::integer(1);
  for (const Value& item : in.unpack(args[0])) {
    const Value number = whole_number(in, item);
    if (!in.truth(number)) {
      out = Value::integer(0);
      continue;
    }
    const Value divisor = common_divisor(in, out, number);
    out = absolute(in,
                   in.binary(BinaryOp::kMul, in.binary(BinaryOp::kFloorDiv, out, divisor), number));
  }
  return out;
}

/// Newton's steps from above: the root's digits double with each.
Value isqrt(Interp& in, Arguments& args) {
  const Value n = whole_number(in, args[0]);
  if (in.truth(in.compare(CompareOp::kLt, n, Value::integer(0))))
    in.value_error("isqrt() argument must be nonnegative");
  if (!in.truth(n)) return Value::integer(0);
  const auto bits = static_cast<std::int64_t>(bits_of(*wide_of(n)));
  Value root = in.binary(BinaryOp::kLShift, Value::integer(1), Value::integer((bits + 1) / 2));
  while (true) {
    const Value sum = in.binary(BinaryOp::kAdd, root, in.binary(BinaryOp::kFloorDiv, n, root));
    Value next = in.binary(BinaryOp::kRShift, sum, Value::integer(1));
    if (!in.truth(in.compare(CompareOp::kLt, next, root))) return root;
    root = std::move(next);
  }
}

Value combinations(Interp& in, Arguments& args) {
  const std::int64_t n = args.integer(0);
  std::int64_t k = args.integer(1);
  if (n < 0 || k < 0) in.value_error("n and k must be non-negative integers");
  if (k > n) return Value::integer(0);
  if (k > n - k) k = n - k;
  Value out = Value::integer(1);
  for (std::int64_t i = 1; i <= k; ++i) {
    out = in.binary(BinaryOp::kFloorDiv, in.binary(BinaryOp::kMul, out, Value::integer(n - k + i)),
                    Value::integer(i));
  }
  return out;
}

Value permutations(Interp& in, Arguments& args) {
  const std::int64_t n = args.integer(0);
  const std::int64_t k = args[1].is_none() ? n : args.integer(1);
  if (n < 0 || k < 0) in.value_error("n and k must be non-negative integers");
  if (k > n) return Value::integer(0);
  Value out = Value::integer(1);
  for (std::int64_t i = n - k + 1; i <= n; ++i)
    out = in.binary(BinaryOp::kMul, out, Value::integer(i));
  return out;
}

Value factorial(Interp& in, Arguments& args) {
  const std::int64_t n = args.integer(0);
  if (n < 0) in.value_error("factorial() not defined for negative values");
  Value out = Value::integer(1);
  for (std::int64_t i = 2; i <= n; ++i) out = in.binary(BinaryOp::kMul, out, Value::integer(i));
  return out;
}

}  // namespace tidemark::lang
