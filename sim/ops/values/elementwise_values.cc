#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/ops/values/rule.h"

/// One number of the result comes of one of each argument.
namespace tidemark::ops {

bool places_of_nonzero(const ValueCall& call, Numbers& out);  // selecting_values.cc

namespace {

using Kind = ValueRule::Kind;

/// Integers that a double does not hold are not computed with.
bool is_exact(const Numbers& numbers) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53U;
  return std::all_of(numbers.whole.begin(), numbers.whole.end(),
                     [](std::int64_t n) { return n >= -kMost && n <= kMost; });
}

template <class Function>
bool each(const std::optional<Numbers>& x, const std::optional<Numbers>& y, Numbers& out,
          Function function) {
  if (!x || !y || !is_exact(*x) || !is_exact(*y)) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value = function(x->at(i), y->at(i));
    if (out.is_whole() && !std::isfinite(value)) return false;
    out.set(i, value);
  }
  return true;
}

/// x * 0, x & 0 and x | true are `by` everywhere, whatever x is. A float may be NaN.
bool settled(const std::optional<Numbers>& x, const std::optional<Numbers>& y, std::int64_t by,
             Numbers& out) {
  const auto settles = [by](const std::optional<Numbers>& side) {
    return side && side->is_whole() &&
           std::all_of(side->whole.begin(), side->whole.end(),
                       [by](std::int64_t n) { return n == by; });
  };
  if (!out.is_whole() || !(settles(x) || settles(y))) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set_whole(i, by);
  return true;
}

bool product(const ValueCall& call, Numbers& out) {
  const auto x = call.spread(0);
  const auto y = call.spread(1);
  return each(x, y, out, [](double p, double q) { return p * q; }) || settled(x, y, 0, out);
}

/// Of truths: by false both are settled, by true one is.
template <bool kSettling>
bool both_truths(const ValueCall& call, Numbers& out) {
  const auto x = call.spread(0);
  const auto y = call.spread(1);
  const auto function = [](double p, double q) {
    const bool one = p != 0;
    const bool other = q != 0;
    return (kSettling ? one || other : one && other) ? 1.0 : 0.0;
  };
  return each(x, y, out, function) || settled(x, y, kSettling ? 1 : 0, out);
}

/// Of 64 bits, exactly.
template <class Function>
bool bits(const ValueCall& call, Numbers& out, Function function) {
  const auto x = call.spread(0);
  const auto y = call.spread(1);
  if (!x || !y || !x->is_whole() || !y->is_whole()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set_whole(i, function(x->whole[i], y->whole[i]));
  return true;
}
template <int kWhich>
bool bitwise(const ValueCall& call, Numbers& out) {
  const bool is_made = bits(call, out, [](std::int64_t x, std::int64_t y) {
    return kWhich == 0 ? x & y : kWhich == 1 ? x | y : x ^ y;
  });
  if (is_made || kWhich == 2 || (kWhich == 1 && out.dtype != ScalarType::kBool)) return is_made;
  return settled(call.spread(0), call.spread(1), kWhich == 1 ? 1 : 0, out);
}

bool same(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x || x->size() != out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (x->is_whole()) {
      out.set_whole(i, x->whole[i]);
    } else {
      out.set(i, x->real[i]);
    }
  }
  return true;
}

bool bitwise_not(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  for (std::size_t i = 0; i < out.size(); ++i)
    out.set_whole(i, out.dtype == ScalarType::kBool ? 1 - x->whole[i] : ~x->whole[i]);
  return true;
}

/// add, sub and rsub: one of them is scaled by alpha first.
template <int kFirst, int kSecond>
bool sum_of_two(const ValueCall& call, Numbers& out) {
  const double scale = call.number(2, 1);
  const auto x = call.spread(0);
  const auto y = call.spread(1);
  if (x && y && x->is_whole() && y->is_whole() && out.is_whole() && scale == 1) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto sum =
          static_cast<std::uint64_t>(x->whole[i]) * static_cast<std::uint64_t>(kFirst) +
          static_cast<std::uint64_t>(y->whole[i]) * static_cast<std::uint64_t>(kSecond);
      out.set_whole(i, static_cast<std::int64_t>(sum));
    }
    return true;
  }
  const double own = kFirst < 0 ? scale : 1;
  const double other = kFirst < 0 ? 1 : scale;
  return each(x, y, out,
              [own, other](double p, double q) { return kFirst * own * p + kSecond * other * q; });
}

double floored(double x, double y) { return std::floor(x / y); }
bool quotient(const ValueCall& call, Numbers& out) {
  const auto x = call.spread(0);
  const auto y = call.spread(1);
  if (call.is_none(2)) return each(x, y, out, [](double p, double q) { return p / q; });
  if (std::get<std::string>(call.plain(2)) == "floor") return each(x, y, out, floored);
  return each(x, y, out, [](double p, double q) { return std::trunc(p / q); });
}

bool rounded(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const double unit = std::pow(10.0, call.number(1));
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, std::nearbyint(x->at(i) * unit) / unit);
  return true;
}

bool clamped(const ValueCall& call, Numbers& out) {
  const auto x = call.spread(0);
  if (!x) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, x->at(i));
  for (const std::size_t bound : {std::size_t{1}, std::size_t{2}}) {
    if (call.is_none(bound)) continue;
    const auto limit = call.spread(bound);
    if (!limit) return false;
    for (std::size_t i = 0; i < out.size(); ++i)
      out.set(i,
              bound == 1 ? std::max(out.at(i), limit->at(i)) : std::min(out.at(i), limit->at(i)));
  }
  return true;
}

bool chosen(const ValueCall& call, std::size_t condition, std::size_t yes, std::size_t no,
            Numbers& out) {
  const auto asked = call.spread(condition);
  const auto x = call.spread(yes);
  const auto y = call.spread(no);
  if (!asked || !x || !y) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Numbers& from = asked->at(i) != 0 ? *x : *y;
    if (from.is_whole()) {
      out.set_whole(i, from.whole[i]);
    } else {
      out.set(i, from.real[i]);
    }
  }
  return true;
}
/// torch.where(condition), torch.where(condition, x, y) and x.where(condition, y): the condition is
/// of type bool.
bool where(const ValueCall& call, Numbers& out) {
  if (call.given.size() == 1) return places_of_nonzero(call, out);
  const bool is_method = call.is_tensor(1) && call.view(1).known->dtype() == ScalarType::kBool &&
                         !(call.view(0).known->dtype() == ScalarType::kBool);
  return is_method ? chosen(call, 1, 0, 2, out) : chosen(call, 0, 1, 2, out);
}
bool masked_fill(const ValueCall& call, Numbers& out) { return chosen(call, 1, 2, 0, out); }

/// Source: native/Lerp.h, lerp.
bool between(const ValueCall& call, Numbers& out) {
  const auto from = call.spread(0);
  const auto to = call.spread(1);
  const auto weight = call.spread(2);
  if (!from || !to || !weight || out.is_whole()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double way = to->at(i) - from->at(i);
    const double part = weight->at(i);
    const bool is_near = std::abs(part) < 0.5;
    out.set(i, is_near ? from->at(i) + part * way : to->at(i) - way * (1 - part));
  }
  return true;
}

/// addcmul and addcdiv: the value stands fourth.
template <bool kQuotient>
bool with_product(const ValueCall& call, Numbers& out) {
  const double scale = call.number(3, 1);
  const auto base = call.spread(0);
  const auto x = call.spread(1);
  const auto y = call.spread(2);
  if (!base || !x || !y || !is_exact(*base) || !is_exact(*x) || !is_exact(*y)) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double term = kQuotient ? scale * x->at(i) / y->at(i) : scale * x->at(i) * y->at(i);
    const double value = base->at(i) + term;
    if (out.is_whole() && !std::isfinite(value)) return false;
    out.set(i, value);
  }
  return true;
}

/// nan_to_num(nan, posinf, neginf): what is not said is 0, the largest and the smallest number.
bool without_nans(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x || x->size() != out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value = x->at(i);
    if (std::isnan(value)) {
      out.set(i, call.number(1, 0));
    } else if (std::isinf(value)) {
      const std::size_t which = value > 0 ? 2 : 3;
      if (call.is_none(which)) return false;
      out.set(i, call.number(which));
    } else if (x->is_whole()) {
      out.set_whole(i, x->whole[i]);
    } else {
      out.set(i, value);
    }
  }
  return true;
}

/// Of 64 bits; a shift by more than there are is not looked at.
template <bool kLeft>
bool shifted(const ValueCall& call, Numbers& out) {
  const auto x = call.spread(0);
  const auto y = call.spread(1);
  if (!x || !y || !x->is_whole() || !y->is_whole() || !out.is_whole()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t by = y->whole[i];
    if (by < 0 || by > 62) return false;
    const auto bits = static_cast<std::uint64_t>(x->whole[i]);
    out.set_whole(i, kLeft ? static_cast<std::int64_t>(bits << static_cast<unsigned>(by))
                           : x->whole[i] >> static_cast<unsigned>(by));
  }
  return true;
}

double common_divisor(double x, double y) {
  return static_cast<double>(std::gcd(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)));
}
double common_multiple(double x, double y) {
  if (x == 0 || y == 0) return 0;
  return std::abs(x / common_divisor(x, y) * y);
}

bool copied(const ValueCall& call, Numbers& out) {
  const auto x = call.spread(1);
  if (!x) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (x->is_whole()) {
      out.set_whole(i, x->whole[i]);
    } else {
      out.set(i, x->real[i]);
    }
  }
  return true;
}

constexpr ValueRule elementwise(std::string_view name, MakeNumbers make, Kind kind = Kind::kPlain) {
  return {name, kind, make};
}
constexpr ValueRule one(std::string_view name, OfOne function) {
  return {name, Kind::kPlain, nullptr, nullptr, 1, false, function};
}
constexpr ValueRule two(std::string_view name, OfTwo function) {
  return {name, Kind::kPlain, nullptr, nullptr, 1, false, nullptr, function};
}
constexpr ValueRule check(std::string_view name, OfOne function, bool healthy) {
  return {name, Kind::kHealthy, nullptr, nullptr, 1, healthy, function};
}

}  // namespace

double modulo(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

bool make_of_one(OfOne function, const ValueCall& call, Numbers& out) {
  const auto x = call.spread(0);
  if (!x || !is_exact(*x)) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, function(x->at(i)));
  return true;
}

bool make_of_two(OfTwo function, const ValueCall& call, Numbers& out) {
  return each(call.spread(0), call.spread(1), out, function);
}

std::span<const ValueRule> elementwise_values() {
  static constexpr ValueRule kRules[] = {
      check(
          "isfinite", [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }, true),
      check(
          "isinf", [](double x) { return std::isinf(x) ? 1.0 : 0.0; }, false),
      check(
          "isnan", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }, false),
      elementwise("mul", product, Kind::kSettling),
      elementwise("multiply", product, Kind::kSettling),
      two("pow", [](double x, double y) { return std::pow(x, y); }),
      two("true_divide", [](double x, double y) { return x / y; }),
      elementwise("logical_and", both_truths<false>, Kind::kSettling),
      elementwise("logical_or", both_truths<true>, Kind::kSettling),
      elementwise("bitwise_and", bitwise<0>, Kind::kSettling),
      elementwise("bitwise_or", bitwise<1>, Kind::kSettling),
      elementwise("bitwise_xor", bitwise<2>),
      elementwise("bitwise_not", bitwise_not),
      elementwise("add", sum_of_two<1, 1>),
      elementwise("sub", sum_of_two<1, -1>),
      elementwise("subtract", sum_of_two<1, -1>),
      elementwise("rsub", sum_of_two<-1, 1>),
      elementwise("div", quotient),
      elementwise("divide", quotient),
      elementwise("round", rounded),
      elementwise("clamp", clamped),
      elementwise("clip", clamped),
      elementwise("where", where),
      elementwise("masked_fill", masked_fill),
      elementwise("lerp", between),
      elementwise("addcmul", with_product<false>),
      elementwise("addcdiv", with_product<true>),
      elementwise("nan_to_num", without_nans),
      elementwise("bitwise_left_shift", shifted<true>),
      elementwise("bitwise_right_shift", shifted<false>),
      elementwise("__lshift__", shifted<true>),
      elementwise("__rshift__", shifted<false>),
      two("gcd", common_divisor),
      two("lcm", common_multiple),
      two("fmax", [](double x, double y) { return std::isnan(x) || x < y ? y : x; }),
      two("fmin", [](double x, double y) { return std::isnan(x) || x > y ? y : x; }),
      two("heaviside", [](double x, double y) { return x == 0  ? y
                                                       : x > 0 ? 1.0
                                                               : 0.0; }),
      two("clamp_min", [](double x, double y) { return std::max(x, y); }),
      two("clamp_max", [](double x, double y) { return std::min(x, y); }),
      one("frac", [](double x) { return x - std::trunc(x); }),
      one("signbit", [](double x) { return std::signbit(x) ? 1.0 : 0.0; }),
      elementwise("clone", same),
      elementwise("contiguous", same),
      elementwise("reshape", same),
      elementwise("reshape_as", same),
      elementwise("flatten", same),
      elementwise("ravel", same),
      elementwise("copy_", copied, Kind::kOverwrite),
  };
  return kRules;
}

}  // namespace tidemark::ops
