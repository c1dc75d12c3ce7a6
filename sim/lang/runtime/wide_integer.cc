#include "sim/lang/runtime/wide_integer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/interp.h"
#include "sim/lang/runtime/unknown.h"

namespace tidemark::lang {

namespace {

using Pieces = std::vector<std::uint32_t>;

constexpr unsigned kBits = 32;
constexpr std::size_t kMostBits = std::size_t{1} << 16U;
/// More digits Python does not print unless it is told to.
constexpr std::size_t kMostDigits = 4300;

void trim(Pieces& pieces) {
  while (!pieces.empty() && pieces.back() == 0) pieces.pop_back();
}

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

int order(const Pieces& a, const Pieces& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

int order(const Wide& a, const Wide& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  return a.negative ? order(b.pieces, a.pieces) : order(a.pieces, b.pieces);
}

Pieces sum(const Pieces& a, const Pieces& b) {
  Pieces out(std::max(a.size(), b.size()) + 1);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    carry += (i < a.size() ? a[i] : 0ULL) + (i < b.size() ? b[i] : 0ULL);
    out[i] = low(carry);
    carry >>= kBits;
  }
  trim(out);
  return out;
}

/// Requires: a is not less than b.
Pieces difference(const Pieces& a, const Pieces& b) {
  Pieces out(a.size());
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t taken = (i < b.size() ? b[i] : 0ULL) + borrow;
    borrow = a[i] < taken ? 1 : 0;
    out[i] = low(a[i] - taken);
  }
  trim(out);
  return out;
}

Pieces product(const Pieces& a, const Pieces& b) {
  Pieces out(a.size() + b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      carry += static_cast<std::uint64_t>(a[i]) * b[j] + out[i + j];
      out[i + j] = low(carry);
      carry >>= kBits;
    }
    out[i + b.size()] = low(carry);
  }
  trim(out);
  return out;
}

/// Divides in place; gives the remainder.
std::uint32_t divide_by(Pieces& a, std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    rest = rest << kBits | a[i];
    a[i] = low(rest / divisor);
    rest %= divisor;
  }
  trim(a);
  return low(rest);
}

Pieces shifted_up(const Pieces& a, std::size_t count) {
  if (a.empty()) return a;
  const std::size_t whole = count / kBits;
  const auto part = static_cast<unsigned>(count % kBits);
  Pieces out(a.size() + whole + 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t moved = static_cast<std::uint64_t>(a[i]) << part;
    out[i + whole] |= low(moved);
    out[i + whole + 1] = low(moved >> kBits);
  }
  trim(out);
  return out;
}

Pieces shifted_down(const Pieces& a, std::size_t count) {
  const std::size_t whole = count / kBits;
  const auto part = static_cast<unsigned>(count % kBits);
  if (whole >= a.size()) return {};
  Pieces out(a.size() - whole);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t above = i + whole + 1 < a.size() ? a[i + whole + 1] : 0;
    out[i] = low((above << kBits | a[i + whole]) >> part);
  }
  trim(out);
  return out;
}

struct Division {
  Pieces quotient;
  Pieces remainder;
};

/// Knuth's algorithm D. Requires: the divisor is not zero.
Division divide(const Pieces& a, const Pieces& b) {
  if (order(a, b) < 0) return {{}, a};
  if (b.size() == 1) {
    Division out{a, {}};
    if (const std::uint32_t rest = divide_by(out.quotient, b[0]); rest != 0) out.remainder = {rest};
    return out;
  }
  const auto shift = static_cast<std::size_t>(std::countl_zero(b.back()));
  const Pieces v = shifted_up(b, shift);
  Pieces u = shifted_up(a, shift);
  u.resize(std::max(u.size(), a.size()) + 1);
  const std::size_t n = v.size();
  Pieces quotient(u.size() - n);
  for (std::size_t j = quotient.size(); j-- > 0;) {
    const std::uint64_t top = static_cast<std::uint64_t>(u[j + n]) << kBits | u[j + n - 1];
    std::uint64_t guess = top / v[n - 1];
    std::uint64_t rest = top % v[n - 1];
    while (guess >> kBits != 0 || guess * v[n - 2] > (rest << kBits | u[j + n - 2])) {
      --guess;
      rest += v[n - 1];
      if (rest >> kBits != 0) break;
    }
    std::uint64_t carry = 0;
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < n; ++i) {
      carry += guess * v[i];
      const std::uint64_t taken = low(carry) + borrow;
      borrow = u[i + j] < taken ? 1 : 0;
      u[i + j] = low(u[i + j] - taken);
      carry >>= kBits;
    }
    const std::uint64_t taken = carry + borrow;
    const bool too_much = u[j + n] < taken;
    u[j + n] = low(u[j + n] - taken);
    if (too_much) {
      --guess;
      std::uint64_t more = 0;
      for (std::size_t i = 0; i < n; ++i) {
        more += static_cast<std::uint64_t>(u[i + j]) + v[i];
        u[i + j] = low(more);
        more >>= kBits;
      }
      u[j + n] = low(u[j + n] + more);
    }
    quotient[j] = low(guess);
  }
  trim(quotient);
  trim(u);
  return {std::move(quotient), shifted_down(u, shift)};
}

Wide plus(const Wide& a, const Wide& b) {
  if (a.negative == b.negative) return {a.negative, sum(a.pieces, b.pieces)};
  const int which = order(a.pieces, b.pieces);
  if (which == 0) return {};
  return which > 0 ? Wide{a.negative, difference(a.pieces, b.pieces)}
                   : Wide{b.negative, difference(b.pieces, a.pieces)};
}

Wide negated(Wide a) {
  a.negative = !a.negative && !a.pieces.empty();
  return a;
}

struct WideDivision {
  Wide quotient;
  Wide remainder;
};

/// Rounded down, as Python divides. Requires: b is not zero.
WideDivision floor_divided(const Wide& a, const Wide& b) {
  Division parts = divide(a.pieces, b.pieces);
  WideDivision out{{a.negative != b.negative, std::move(parts.quotient)},
                   {a.negative, std::move(parts.remainder)}};
  if (!out.remainder.pieces.empty() && a.negative != b.negative) {
    out.quotient.pieces = sum(out.quotient.pieces, {1});
    out.remainder = plus(out.remainder, b);
  }
  if (out.quotient.pieces.empty()) out.quotient.negative = false;
  if (out.remainder.pieces.empty()) out.remainder.negative = false;
  return out;
}

[[noreturn]] void too_wide(Interp& in) {
  in.refuse(fmt::format("an integer of more than {} bits is not modelled", kMostBits));
}

Wide power(Interp& in, Wide base, std::uint64_t exponent) {
  const bool is_small = base.pieces.empty() || (base.pieces.size() == 1 && base.pieces[0] == 1);
  if (!is_small && exponent > kMostBits / std::max<std::size_t>(bits_of(base) - 1, 1)) too_wide(in);
  if (is_small) exponent = exponent == 0 ? 0 : 2 - exponent % 2;
  Wide out{false, {1}};
  for (; exponent > 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0)
      out = {out.negative != base.negative, product(out.pieces, base.pieces)};
    if (exponent > 1) base = {false, product(base.pieces, base.pieces)};
  }
  if (out.pieces.empty()) out.negative = false;
  return out;
}

/// How far an integer shifts; nullopt: further than any number is long.
std::optional<std::size_t> shift_of(Interp& in, const Wide& count) {
  if (count.negative) in.value_error("negative shift count");
  if (bits_of(count) > kBits) return std::nullopt;
  return count.pieces.empty() ? 0 : count.pieces[0];
}

Wide shifted_down(const Wide& a, std::optional<std::size_t> count) {
  if (!count) return a.negative ? Wide{true, {1}} : Wide{};
  Wide out{a.negative, shifted_down(a.pieces, *count)};
  if (a.negative && order(shifted_up(out.pieces, *count), a.pieces) != 0)
    out.pieces = sum(out.pieces, {1});
  return out;
}

Wide bitwise(BinaryOp op, const Wide& a, const Wide& b) {
  const std::size_t count = std::max(a.pieces.size(), b.pieces.size()) + 1;
  Pieces left = complement_of(a, count);
  const Pieces right = complement_of(b, count);
  for (std::size_t i = 0; i < count; ++i) {
    left[i] = op == BinaryOp::kAnd  ? left[i] & right[i]
              : op == BinaryOp::kOr ? left[i] | right[i]
                                    : left[i] ^ right[i];
  }
  return from_complement(std::move(left));
}

/// Without a sign.
std::string digits_of(Interp& in, Pieces pieces, unsigned base) {
  if (pieces.empty()) return "0";
  // What 32 bits hold of the base's powers, and how many digits that are.
  std::uint32_t unit = base;
  unsigned width = 1;
  for (; static_cast<std::uint64_t>(unit) * base <= 0xFFFFFFFFU; ++width) unit *= base;
  std::string out;
  while (!pieces.empty()) {
    std::uint32_t part = divide_by(pieces, unit);
    for (unsigned i = 0; i < width && (part != 0 || !pieces.empty()); ++i) {
      out += "0123456789abcdef"[part % base];
      part /= base;
    }
    if (base == 10 && out.size() > kMostDigits) {
      in.value_error(
          fmt::format("Exceeds the limit ({} digits) for integer string conversion; use "
                      "sys.set_int_max_str_digits() to increase the limit",
                      kMostDigits));
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

std::size_t bits_of(const Wide& number) {
  if (number.pieces.empty()) return 0;
  return number.pieces.size() * kBits -
         static_cast<std::size_t>(std::countl_zero(number.pieces.back()));
}

std::vector<std::uint32_t> complement_of(const Wide& number, std::size_t count) {
  Pieces out = number.pieces;
  out.resize(count);
  if (!number.negative) return out;
  std::uint64_t carry = 1;
  for (std::uint32_t& piece : out) {
    carry += low(~piece);
    piece = low(carry);
    carry >>= kBits;
  }
  return out;
}

Wide from_complement(std::vector<std::uint32_t> pieces) {
  const bool negative = !pieces.empty() && pieces.back() >> (kBits - 1) != 0;
  if (negative) pieces = complement_of({true, pieces}, pieces.size());
  trim(pieces);
  return {negative, std::move(pieces)};
}

std::optional<Wide> wide_of(const Value& given) {
  const Value& value = plain_of(given);
  if (const auto* wide = value.as<WideInteger>()) return wide->number;
  if (!value.is_integral()) return std::nullopt;
  const std::int64_t number = value.as_int();
  const auto bits = static_cast<std::uint64_t>(number);
  const std::uint64_t magnitude = number < 0 ? ~bits + 1 : bits;
  Wide out{number < 0, {low(magnitude), low(magnitude >> kBits)}};
  trim(out.pieces);
  return out;
}

Value integer_of(Interp& interp, Wide number) {
  if (number.pieces.size() <= 2) {
    std::uint64_t magnitude = 0;
    for (std::size_t i = number.pieces.size(); i-- > 0;)
      magnitude = magnitude << kBits | number.pieces[i];
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 63U;
    if (magnitude < kLeast || (number.negative && magnitude == kLeast))
      return Value::integer(
          static_cast<std::int64_t>(number.negative ? ~magnitude + 1 : magnitude));
  }
  if (bits_of(number) > kMostBits) too_wide(interp);
  return make_ref<WideInteger>(interp.heap(), interp.classes().integer, std::move(number));
}

Wide wide_from(Interp& interp, std::string_view digits, int base) {
  // (A digit has at least one bit.)
  if (digits.size() > kMostBits) too_wide(interp);
  if (base == 10 && digits.size() > kMostDigits) {
    interp.value_error(
        fmt::format("Exceeds the limit ({} digits) for integer string conversion: value has {} "
                    "digits; use sys.set_int_max_str_digits() to increase the limit",
                    kMostDigits, digits.size()));
  }
  Wide out;
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    std::uint64_t carry = static_cast<std::uint64_t>(digit);
    for (std::uint32_t& piece : out.pieces) {
      carry += static_cast<std::uint64_t>(piece) * static_cast<std::uint64_t>(base);
      piece = low(carry);
      carry >>= kBits;
    }
    if (carry != 0) out.pieces.push_back(low(carry));
  }
  return out;
}

Wide wide_from(double number) {
  int exponent = 0;
  constexpr int kMantissa = 53;
  const double fraction = std::frexp(std::abs(std::trunc(number)), &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, kMantissa));
  Wide out{number < 0, {low(mantissa), low(mantissa >> kBits)}};
  trim(out.pieces);
  const int shift = exponent - kMantissa;
  out.pieces = shift >= 0 ? shifted_up(out.pieces, static_cast<std::size_t>(shift))
                          : shifted_down(out.pieces, static_cast<std::size_t>(-shift));
  return out;
}

double real_of(Interp& interp, const Wide& number) {
  const std::size_t bits = bits_of(number);
  const std::size_t below = bits > 64 ? bits - 64 : 0;
  const Pieces top = shifted_down(number.pieces, below);
  std::uint64_t high = 0;
  for (std::size_t i = top.size(); i-- > 0;) high = high << kBits | top[i];
  // What lies below decides a tie.
  if (order(shifted_up(top, below), number.pieces) != 0) high |= 1U;
  const double out = std::ldexp(static_cast<double>(high), static_cast<int>(below));
  if (std::isinf(out))
    interp.raise(*interp.classes().overflow_error, "int too large to convert to float");
  return number.negative ? -out : out;
}

/// a / b rounded once: 66 bits of it, of which the last says whether there are more. Requires: b is
/// not zero. Errors: OverflowError.
double quotient_of(Interp& interp, const Wide& a, const Wide& b) {
  if (a.pieces.empty()) return 0;
  constexpr std::int64_t kLowest = 1076;  // two bits below the least that a double has
  const auto apart = static_cast<std::int64_t>(bits_of(b)) - static_cast<std::int64_t>(bits_of(a));
  const std::int64_t shift = std::min(apart + 66, kLowest);
  const Pieces top = shift > 0 ? shifted_up(a.pieces, static_cast<std::size_t>(shift)) : a.pieces;
  const Pieces below =
      shift < 0 ? shifted_up(b.pieces, static_cast<std::size_t>(-shift)) : b.pieces;
  Division parts = divide(top, below);
  if (!parts.remainder.empty()) {
    if (parts.quotient.empty()) parts.quotient = {0};
    parts.quotient[0] |= 1U;
  }
  const double size = real_of(interp, Wide{false, std::move(parts.quotient)});
  const double out = std::ldexp(size, static_cast<int>(-shift));
  if (std::isinf(out)) {
    interp.raise(*interp.classes().overflow_error, "integer division result too large for a float");
  }
  return a.negative != b.negative ? -out : out;
}

Value wide_binary(Interp& interp, BinaryOp op, const Value& left, const Value& right) {
  const Wide a = *wide_of(left);
  const Wide b = *wide_of(right);
  const bool divides =
      op == BinaryOp::kTrueDiv || op == BinaryOp::kFloorDiv || op == BinaryOp::kMod;
  if (divides && b.pieces.empty()) {
    interp.raise(*interp.classes().zero_division_error,
                 op == BinaryOp::kTrueDiv ? "division by zero"
                 : op == BinaryOp::kMod   ? "integer modulo by zero"
                                          : "integer division or modulo by zero");
  }
  switch (op) {
    case BinaryOp::kAdd:
      return integer_of(interp, plus(a, b));
    case BinaryOp::kSub:
      return integer_of(interp, plus(a, negated(b)));
    case BinaryOp::kMul: {
      Wide out{a.negative != b.negative, product(a.pieces, b.pieces)};
      if (out.pieces.empty()) out.negative = false;
      return integer_of(interp, std::move(out));
    }
    case BinaryOp::kTrueDiv:
      return Value::real(quotient_of(interp, a, b));
    case BinaryOp::kFloorDiv:
      return integer_of(interp, floor_divided(a, b).quotient);
    case BinaryOp::kMod:
      return integer_of(interp, floor_divided(a, b).remainder);
    case BinaryOp::kPow: {
      if (b.negative)
        return interp.binary(op, Value::real(real_of(interp, a)), Value::real(real_of(interp, b)));
      std::uint64_t exponent = kMostBits;  // beyond which only 0, 1 and -1 have powers
      if (bits_of(b) <= kBits)
        exponent = b.pieces.empty() ? 0 : b.pieces[0];
      else if ((b.pieces[0] & 1U) != 0)
        ++exponent;
      return integer_of(interp, power(interp, a, exponent));
    }
    case BinaryOp::kLShift: {
      const std::optional<std::size_t> count = shift_of(interp, b);
      if (a.pieces.empty()) return Value::integer(0);
      if (!count || *count > kMostBits) too_wide(interp);
      return integer_of(interp, {a.negative, shifted_up(a.pieces, *count)});
    }
    case BinaryOp::kRShift:
      return integer_of(interp, shifted_down(a, shift_of(interp, b)));
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      return integer_of(interp, bitwise(op, a, b));
    case BinaryOp::kMatMul:
      break;
  }
  return {};
}

Value WideInteger::unary(Interp& interp, UnaryOp op) {
  switch (op) {
    case UnaryOp::kNeg:
      return integer_of(interp, negated(number));
    case UnaryOp::kPos:
      return Value(Ref<Instance>(this));
    case UnaryOp::kInvert:
      return integer_of(interp, plus(negated(number), {true, {1}}));
  }
  return {};
}

Value WideInteger::binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) {
  const Value& plain = plain_of(other);
  const Value own(Ref<Instance>(this));
  if (const auto* unknown = plain.as<Unknown>()) {
    const bool is_real = op == BinaryOp::kTrueDiv || unknown->kind() == Unknown::Type::kReal;
    return unknown->another(interp, is_real ? Unknown::Type::kReal : Unknown::Type::kInt);
  }
  if (plain.is_float()) {
    const Value real = Value::real(real_of(interp, number));
    return reflected ? interp.binary(op, plain, real) : interp.binary(op, real, plain);
  }
  const bool is_sequence =
      plain.as<List>() != nullptr || plain.as<Tuple>() != nullptr || plain.as<Str>() != nullptr;
  if (op == BinaryOp::kMul && is_sequence) {
    interp.raise(*interp.classes().overflow_error, "cannot fit 'int' into an index-sized integer");
  }
  if (!wide_of(plain)) return {};
  return reflected ? wide_binary(interp, op, plain, own) : wide_binary(interp, op, own, plain);
}

Value WideInteger::compare(Interp& /*interp*/, CompareOp op, const Value& other) {
  const Value& plain = plain_of(other);
  int which = 0;
  if (plain.is_float()) {
    const double real = plain.as_float();
    if (std::isnan(real)) return Value::boolean(op == CompareOp::kNe);
    which = std::isinf(real) ? (real > 0 ? -1 : 1) : order(number, wide_from(real));
    if (which == 0 && real != std::trunc(real)) which = real > 0 ? -1 : 1;
  } else if (const std::optional<Wide> wide = wide_of(plain)) {
    which = order(number, *wide);
  } else {
    return {};
  }
  switch (op) {
    case CompareOp::kEq:
      return Value::boolean(which == 0);
    case CompareOp::kNe:
      return Value::boolean(which != 0);
    case CompareOp::kLt:
      return Value::boolean(which < 0);
    case CompareOp::kLe:
      return Value::boolean(which <= 0);
    case CompareOp::kGt:
      return Value::boolean(which > 0);
    case CompareOp::kGe:
      return Value::boolean(which >= 0);
  }
  return {};
}

bool WideInteger::truth(Interp& /*interp*/) { return true; }

std::optional<std::uint64_t> WideInteger::hash(Interp& /*interp*/) {
  // Source: CPython 3.11, Objects/longobject.c: long_hash.
  constexpr std::uint64_t kModulus = (std::uint64_t{1} << 61U) - 1;
  std::uint64_t out = 0;
  for (auto piece = number.pieces.rbegin(); piece != number.pieces.rend(); ++piece) {
    out = ((out << 32U) & kModulus) | out >> 29U;
    out += *piece;
    if (out >= kModulus) out -= kModulus;
  }
  const auto hash =
      number.negative ? -static_cast<std::int64_t>(out) : static_cast<std::int64_t>(out);
  return table_hash(hash == -1 ? -2 : hash);
}

std::string WideInteger::repr(Interp& interp) {
  return (number.negative ? "-" : "") + digits_of(interp, number.pieces, 10);
}

std::string WideInteger::format(Interp& interp, std::string_view spec) {
  const char type = spec.empty() ? 'd' : spec.back();
  const unsigned base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  if (std::string_view("eEfFgG%").find(type) != std::string_view::npos)
    return interp.format(Value::real(real_of(interp, number)), spec);
  if (base != 10 || type == 'd' || type == 'n') spec.remove_suffix(spec.empty() ? 0 : 1);
  std::size_t at = 0;
  std::string aligned;  // how the text as a whole is set
  if (spec.size() > 1 && std::string_view("<>^=").find(spec[1]) != std::string_view::npos)
    at = 2;
  else if (!spec.empty() && std::string_view("<>^=").find(spec[0]) != std::string_view::npos)
    at = 1;
  aligned = spec.substr(0, at);
  std::string sign = number.negative ? "-" : "";
  if (at < spec.size() && std::string_view("+- ").find(spec[at]) != std::string_view::npos) {
    if (!number.negative && spec[at] != '-') sign = spec[at];
    ++at;
  }
  if (at < spec.size() && spec[at] == '#') {
    if (base != 10) sign += std::string("0") + type;
    ++at;
  }
  const bool zeros = at < spec.size() && spec[at] == '0';
  if (zeros) ++at;
  std::size_t width = 0;
  for (; at < spec.size() && spec[at] >= '0' && spec[at] <= '9'; ++at)
    width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(spec[at] - '0'), kMostBits);
  const char group = at < spec.size() && (spec[at] == ',' || spec[at] == '_') ? spec[at++] : '\0';
  if (at != spec.size()) interp.value_error("Invalid format specifier");
  std::string digits = digits_of(interp, number.pieces, base);
  if (type == 'X')
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](char c) { return c >= 'a' ? static_cast<char>(c - 0x20) : c; });
  if (group != '\0') {
    const std::size_t each = base == 10 ? 3 : 4;
    for (std::size_t i = digits.size(); i > each;) digits.insert(i -= each, 1, group);
  }
  if (zeros && aligned.empty() && sign.size() + digits.size() < width)
    digits.insert(0, width - sign.size() - digits.size(), '0');
  std::string text = sign + digits;
  if (text.size() >= width) return text;
  return interp.format(interp.str(text), (aligned.empty() ? ">" : aligned) + std::to_string(width));
}

Value WideInteger::deep_copy(Interp& /*interp*/, DeepCopies& /*copies*/) {
  return Value(Ref<Instance>(this));
}

}  // namespace tidemark::lang
