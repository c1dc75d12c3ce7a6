#include <algorithm>
#include <cmath>

#include "sim/ops/values/rule.h"

/// New tensors: of equal numbers, of progressions, of random numbers.
namespace tidemark::ops {

namespace {

using Kind = ValueRule::Kind;

template <int kValue>
bool constant(const ValueCall& /*call*/, Numbers& out) {
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, kValue);
  return true;
}

/// Filled with the argument at a place, a number or a tensor of one.
template <std::size_t kAt>
bool filled(const ValueCall& call, Numbers& out) {
  if (const auto* whole = std::get_if<std::int64_t>(&call.plain(kAt))) {
    for (std::size_t i = 0; i < out.size(); ++i) out.set_whole(i, *whole);
    return true;
  }
  if (call.is_none(kAt)) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, call.number(kAt));
  return true;
}
bool fill_over(const ValueCall& call, Numbers& out) {
  if (!call.is_tensor(1)) return filled<1>(call, out);
  const auto x = call.own(1);
  if (!x || x->size() != 1) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, x->at(0));
  return true;
}

/// arange(end, ...) and arange(start, end, step=1, ...): the latter has two more arguments.
bool ranged(const ValueCall& call, Numbers& out) {
  const bool has_start = call.given.size() > 5;
  const double start = has_start ? call.number(0) : 0;
  const double step = has_start ? call.number(2, 1) : 1;
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, start + static_cast<double>(i) * step);
  return true;
}

/// From both ends to the middle, eight at a time while there are as many. Source: linspace_kernel
/// of RangeFactoriesKernel.cpp, on AVX2.
template <class Number>
void spaced(Number start, Number end, Numbers& out) {
  constexpr std::int64_t kTogether = 32 / static_cast<std::int64_t>(sizeof(Number));
  const auto steps = static_cast<std::int64_t>(out.size());
  const Number step = steps > 1 ? (end - start) / static_cast<Number>(steps - 1) : Number{0};
  const auto at = [&](std::int64_t i) {
    return i < steps / 2 ? start + step * static_cast<Number>(i)
                         : end - step * static_cast<Number>(steps - i - 1);
  };
  for (std::int64_t i = 0; i < steps; ++i) {
    const bool together = i / kTogether * kTogether + kTogether <= steps;
    const Number base = at(together ? i / kTogether * kTogether : i);
    const Number rest = together ? static_cast<Number>(i % kTogether) * step : Number{0};
    out.set(static_cast<std::size_t>(i), static_cast<double>(steps == 1 ? start : base + rest));
  }
}
bool linspace(const ValueCall& call, Numbers& out) {
  const double start = call.number(0);
  const double end = call.number(1);
  if (out.dtype == ScalarType::kFloat32) {
    spaced(static_cast<float>(start), static_cast<float>(end), out);
  } else {
    spaced(start, end, out);
  }
  return true;
}

bool identity(const ValueCall& call, Numbers& out) {
  const auto columns = static_cast<std::size_t>(call.sizes.back());
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, i / columns == i % columns ? 1 : 0);
  return true;
}

template <bool kLower>
bool triangle_places(const ValueCall& call, Numbers& out) {
  const std::int64_t rows = call.integer(0);
  const std::int64_t columns = call.integer(1);
  const std::int64_t offset = call.integer(2);
  const std::size_t count = out.size() / 2;
  std::size_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (kLower ? column - row > offset : column - row < offset) continue;
      if (at == count) return false;
      out.set_whole(at, row);
      out.set_whole(count + at++, column);
    }
  }
  return at == count;
}

// ---- random numbers

DrawPlan of_result(const Tensor& result, Draw kind, double a, double b) {
  DrawPlan plan;
  plan.spec.kind = kind;
  plan.spec.a = a;
  plan.spec.b = b;
  plan.spec.is_dense = result.is_contiguous();
  plan.dtype = result.dtype();
  plan.numel = result.numel();
  if (is_complex(plan.dtype)) {
    plan.dtype = plan.dtype == ScalarType::kComplex64 ? ScalarType::kFloat32 : ScalarType::kFloat64;
    plan.numel *= 2;
  }
  return plan;
}
template <Draw kKind, int kA = 0, int kB = 1>
DrawPlan standard(const Arguments& /*a*/, const Tensor& result) {
  return of_result(result, kKind, kA, kB);
}
/// With parameters after the tensor that is written over.
template <Draw kKind, std::size_t kCount>
DrawPlan given(const Arguments& a, const Tensor& result) {
  return of_result(result, kKind, a.number(1), kCount > 1 ? a.number(2) : 1);
}

DrawPlan between(const Tensor& result, std::int64_t from, std::int64_t to) {
  DrawPlan plan = of_result(result, Draw::kBetween, 0, 1);
  plan.spec.first = from;
  plan.spec.count = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  if (to <= from) plan.what = DrawPlan::What::kNothing;
  return plan;
}
/// randint(high, size), randint(low, high, size); with `like` the tensor is first.
template <std::size_t kFirst>
DrawPlan whole_numbers(const Arguments& a, const Tensor& result) {
  const bool has_low = std::holds_alternative<std::int64_t>(a.value(kFirst + 1));
  const std::int64_t first = a.integer(kFirst);
  return has_low ? between(result, first, a.integer(kFirst + 1)) : between(result, 0, first);
}
/// random_(), random_(to), random_(from, to).
DrawPlan any_numbers(const Arguments& a, const Tensor& result) {
  const auto* first = a.count() > 2 ? std::get_if<std::int64_t>(&a.value(1)) : nullptr;
  if (first == nullptr) return of_result(result, Draw::kAny, 0, 1);
  if (a.count() < 4) return between(result, 0, *first);
  const auto* to = std::get_if<std::int64_t>(&a.value(2));
  if (to != nullptr) return between(result, *first, *to);
  DrawPlan plan;  // up to what the type holds
  plan.what = DrawPlan::What::kUnknown;
  return plan;
}
DrawPlan permutation(const Arguments& /*a*/, const Tensor& result) {
  return of_result(result, Draw::kPermutation, 0, 1);
}
bool permuted(const ValueCall& call, Numbers& out) {
  const auto x = numbers_of(call.given.back().views.front());
  if (!x) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set_whole(i, x->whole[i]);
  return true;
}

/// A uniform number for each probability, in its type: single precision draws one word.
DrawPlan uniform_for(const Tensor& probabilities, std::int64_t numel) {
  DrawPlan plan;
  plan.spec.kind = Draw::kUniform;
  plan.dtype =
      probabilities.dtype() == ScalarType::kFloat64 ? ScalarType::kFloat64 : ScalarType::kFloat32;
  plan.numel = numel;
  return plan;
}
DrawPlan coin_of_each(const Arguments& a, const Tensor& result) {
  if (std::holds_alternative<double>(a.value(1))) {
    DrawPlan plan = of_result(result, Draw::kBernoulli, a.number(1), 1);
    plan.is_result = true;
    return plan;
  }
  return uniform_for(a.tensor(0), result.numel());
}
/// bernoulli_(p): one probability for all, or a tensor of them.
DrawPlan coins(const Arguments& a, const Tensor& result) {
  if (a.is_tensor(1)) return uniform_for(a.tensor(1), result.numel());
  DrawPlan plan = of_result(result, Draw::kBernoulli, a.number(1), 1);
  plan.is_result = true;
  return plan;
}
bool lands(const View& probabilities, const ValueCall& call, Numbers& out) {
  const auto p = numbers_of(broadcast_view(probabilities, call.sizes));
  const auto u = numbers_of(call.given.back().views.front());
  if (!p || !u) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, u->at(i) < p->at(i) ? 1 : 0);
  return true;
}
bool each_lands(const ValueCall& call, Numbers& out) { return lands(call.view(0), call, out); }
bool coins_land(const ValueCall& call, Numbers& out) { return lands(call.view(1), call, out); }

/// Without replacement the largest of p / q with q exponential; with it, places in the running sum.
DrawPlan choices(const Arguments& a, const Tensor& result) {
  const Tensor& p = a.tensor(0);
  const bool again = a.flag(2);
  DrawPlan plan =
      of_result(again ? result : p, again ? Draw::kUniform : Draw::kExponential, again ? 0 : 1, 1);
  if (again) plan.dtype = ScalarType::kFloat64;
  return plan;
}
bool choose(const ValueCall& call, Numbers& out) {
  const auto p = call.own(0);
  const auto drawn = numbers_of(call.given.back().views.front());
  if (!p || !drawn || call.view(0).sizes.empty()) return false;
  const auto classes = static_cast<std::size_t>(call.view(0).sizes.back());
  const auto wanted = static_cast<std::size_t>(call.integer(1));
  const bool again = call.flag(2);
  const ScalarType type = p->dtype;
  for (std::size_t row = 0; row * wanted < out.size(); ++row) {
    std::vector<double> scores(classes);
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) {
      const double own = p->at(row * classes + i);
      sum = rounded_to(type, sum + own);
      scores[i] = again ? sum : rounded_to(type, own / drawn->at(row * classes + i));
    }
    if (again) {
      for (double& score : scores) score = rounded_to(type, score / sum);
      if (!scores.empty()) scores.back() = 1;
      for (std::size_t k = 0; k < wanted; ++k) {
        const double u = drawn->at(row * wanted + k);
        const auto at = std::lower_bound(scores.begin(), scores.end(), u) - scores.begin();
        out.set_whole(row * wanted + k, static_cast<std::int64_t>(at));
      }
      continue;
    }
    std::vector<std::size_t> order(classes);
    for (std::size_t i = 0; i < classes; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return scores[x] > scores[y]; });
    for (std::size_t k = 0; k < wanted; ++k)
      out.set_whole(row * wanted + k, static_cast<std::int64_t>(order[k]));
  }
  return true;
}

/// A mask of the size of the input; none where nothing is dropped, or everything is.
template <bool kTakesTraining>
DrawPlan dropped(const Arguments& a, const Tensor& result) {
  DrawPlan plan = of_result(result, Draw::kBernoulli, 1 - a.number(1), 1);
  const bool is_training = a.flag(2);
  if (!is_training || a.number(1) == 0 || a.number(1) == 1 || result.numel() == 0)
    plan.what = DrawPlan::What::kNothing;
  return plan;
}
DrawPlan dropped_channels(const Arguments& a, const Tensor& result) {
  DrawPlan plan = dropped<true>(a, result);
  const std::size_t rank = result.sizes().size();
  plan.numel = rank < 2 ? plan.numel : result.sizes()[0] * result.sizes()[1];
  return plan;
}
bool scale_kept(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  const auto mask = numbers_of(call.given.back().views.front());
  if (!x || !mask || mask->size() != out.size()) return false;
  const double scale = 1 / (1 - call.number(1));
  for (std::size_t i = 0; i < out.size(); ++i)
    out.set(i, x->at(i) * rounded_to(out.dtype, mask->at(i) * scale));
  return true;
}
bool not_known(const ValueCall& /*call*/, Numbers& /*out*/) { return false; }

constexpr ValueRule fresh(std::string_view name, MakeNumbers make) {
  return {name, Kind::kFresh, make};
}
constexpr ValueRule over(std::string_view name, MakeNumbers make) {
  return {name, Kind::kOverwrite, make};
}
using Plan = DrawPlan (*)(const Arguments& a, const Tensor& result);
constexpr ValueRule random(std::string_view name, Plan plan, MakeNumbers make = nullptr) {
  return {name, Kind::kDraw, make, plan};
}

}  // namespace

std::span<const ValueRule> factory_values() {
  static constexpr ValueRule kRules[] = {
      fresh("zeros", constant<0>),
      fresh("zeros_like", constant<0>),
      fresh("new_zeros", constant<0>),
      fresh("zero", constant<0>),
      fresh("ones", constant<1>),
      fresh("ones_like", constant<1>),
      fresh("new_ones", constant<1>),
      fresh("full", filled<1>),
      fresh("full_like", filled<1>),
      fresh("new_full", filled<2>),
      over("fill_", fill_over),
      fresh("arange", ranged),
      fresh("linspace", linspace),
      fresh("eye", identity),
      fresh("tril_indices", triangle_places<true>),
      fresh("triu_indices", triangle_places<false>),
      random("rand", standard<Draw::kUniform>),
      random("rand_like", standard<Draw::kUniform>),
      random("randn", standard<Draw::kNormal>),
      random("randn_like", standard<Draw::kNormal>),
      random("randint", whole_numbers<0>),
      random("randint_like", whole_numbers<1>),
      random("randperm", permutation, permuted),
      random("normal_", given<Draw::kNormal, 2>),
      random("log_normal_", given<Draw::kLogNormal, 2>),
      random("uniform_", given<Draw::kUniform, 2>),
      random("cauchy_", given<Draw::kCauchy, 2>),
      random("exponential_", given<Draw::kExponential, 1>),
      random("geometric_", given<Draw::kGeometric, 1>),
      random("random_", any_numbers),
      random("bernoulli_", coins, coins_land),
      random("bernoulli", coin_of_each, each_lands),
      random("multinomial", choices, choose),
      random("dropout", dropped<true>, scale_kept),
      random("dropout_", dropped<true>, scale_kept),
      random("alpha_dropout", dropped<true>, not_known),
      random("dropout1d", dropped_channels, not_known),
      random("dropout2d", dropped_channels, not_known),
      random("dropout3d", dropped_channels, not_known),
  };
  return kRules;
}

}  // namespace tidemark::ops
