#include <algorithm>
#include <cmath>

#include "sim/ops/values/lines.h"
#include "sim/ops/values/rule.h"

/// Many numbers become one, or each becomes what those up to it make.
namespace tidemark::ops {

std::vector<std::int64_t> reduced_places(const Dims& sizes, const Argument& dims) {
  const auto* one = std::get_if<std::int64_t>(&dims);
  const auto* several = std::get_if<Dims>(&dims);
  Dims named = several != nullptr ? *several : Dims{};
  if (one != nullptr) named.push_back(*one);
  const std::size_t rank = sizes.size();
  std::vector<bool> goes(rank, named.empty());
  // A scalar takes the dims 0 and -1, of which it has neither.
  for (const std::int64_t d : named) {
    const auto at = static_cast<std::size_t>(d < 0 ? d + static_cast<std::int64_t>(rank) : d);
    if (at < rank) goes[at] = true;
  }
  Dims strides = Dims::filled(rank, 0);
  std::int64_t step = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (goes[d]) continue;
    strides[d] = step;
    step *= sizes[d];
  }
  return places_of(sizes, strides, 0);
}

namespace {

/// Folds the elements that fall on one place of the result, in their order.
template <class Fold>
bool folded(const ValueCall& call, Numbers& out, double empty, Fold fold) {
  const auto x = call.own(0);
  if (!x) return false;
  const Argument all = None{};
  const std::vector<std::int64_t> places =
      reduced_places(call.view(0).sizes, call.given.size() > 1 ? call.plain(1) : all);
  std::vector<double> totals(out.size(), empty);
  std::vector<bool> begun(out.size(), false);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<std::size_t>(places[i]);
    if (at >= totals.size()) return false;
    totals[at] = fold(totals[at], x->at(i), !begun[at]);
    begun[at] = true;
  }
  const double share =
      out.size() == 0 ? 0 : static_cast<double>(x->size()) / static_cast<double>(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, fold.last(totals[i], share));
  return true;
}

struct Sum {
  double operator()(double total, double x, bool /*first*/) const { return total + x; }
  [[nodiscard]] double last(double total, double /*count*/) const { return total; }
};
struct Mean : Sum {
  [[nodiscard]] double last(double total, double count) const { return total / count; }
};
struct Product : Sum {
  double operator()(double total, double x, bool /*first*/) const { return total * x; }
};
struct Largest : Sum {
  double operator()(double total, double x, bool first) const {
    return first ? x : std::max(total, x);
  }
};
struct Smallest : Sum {
  double operator()(double total, double x, bool first) const {
    return first ? x : std::min(total, x);
  }
};
struct AnyOf : Sum {
  double operator()(double total, double x, bool /*first*/) const {
    return total != 0 || x != 0 ? 1 : 0;
  }
};
struct AllOf : Sum {
  double operator()(double total, double x, bool /*first*/) const {
    return total != 0 && x != 0 ? 1 : 0;
  }
};
struct Count : Sum {
  double operator()(double total, double x, bool /*first*/) const {
    return total + (x != 0 ? 1 : 0);
  }
};

template <class Fold, int kEmpty = 0>
bool fold_by(const ValueCall& call, Numbers& out) {
  return folded(call, out, kEmpty, Fold{});
}

/// The first extreme of every line: its number, or its place.
template <bool kLargest>
bool extreme_along(const ValueCall& call, std::size_t dim, bool wants_place, Numbers& out) {
  const auto x = call.own(0);
  if (!x || x->size() == 0) return false;
  const Lines lines(call.view(0).sizes, dim);
  for (std::size_t line = 0; line < lines.count; ++line) {
    std::size_t best = 0;
    const auto at = [&](std::size_t i) { return x->at(lines.begin(line) + i * lines.step); };
    for (std::size_t i = 1; i < lines.length; ++i) {
      if (kLargest ? at(i) > at(best) : at(i) < at(best)) best = i;
    }
    if (wants_place) {
      out.set_whole(line, static_cast<std::int64_t>(best));
    } else {
      out.set(line, at(best));
    }
  }
  return true;
}

/// max and min: of everything, of two tensors, or along a dimension with the places.
template <bool kLargest>
bool extreme(const ValueCall& call, Numbers& out) {
  if (call.is_tensor(1)) {
    const auto x = call.spread(0);
    const auto y = call.spread(1);
    if (!x || !y) return false;
    for (std::size_t i = 0; i < out.size(); ++i)
      out.set(i, kLargest ? std::max(x->at(i), y->at(i)) : std::min(x->at(i), y->at(i)));
    return true;
  }
  if (call.is_none(1)) {
    return kLargest ? fold_by<Largest>(call, out) : fold_by<Smallest>(call, out);
  }
  const std::size_t dim = call.dim(1, call.view(0).sizes.size());
  return extreme_along<kLargest>(call, dim, call.which == 1, out);
}

template <bool kLargest>
bool place_of_extreme(const ValueCall& call, Numbers& out) {
  if (!call.is_none(1))
    return extreme_along<kLargest>(call, call.dim(1, call.view(0).sizes.size()), true, out);
  const auto x = call.own(0);
  if (!x || x->size() == 0) return false;
  std::size_t best = 0;
  for (std::size_t i = 1; i < x->size(); ++i) {
    if (kLargest ? x->at(i) > x->at(best) : x->at(i) < x->at(best)) best = i;
  }
  out.set_whole(0, static_cast<std::int64_t>(best));
  return true;
}

template <bool kSum>
bool scanned(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const Dims& sizes = call.view(0).sizes;
  const Lines lines(sizes, call.dim(1, sizes.size()));
  for (std::size_t line = 0; line < lines.count; ++line) {
    double total = kSum ? 0 : 1;
    for (std::size_t i = 0; i < lines.length; ++i) {
      const std::size_t at = lines.begin(line) + i * lines.step;
      total = kSum ? total + x->at(at) : total * x->at(at);
      out.set(at, total);
    }
  }
  return true;
}

/// The order of every line: stable, from the smallest or from the largest.
bool ordered(const ValueCall& call, std::size_t dim_at, bool descending, bool wants_place,
             Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const Dims& sizes = call.view(0).sizes;
  const std::size_t dim = call.dim(dim_at, sizes.size(), -1);
  const Lines lines(sizes, dim);
  const std::size_t kept =
      call.sizes.empty() ? 1 : static_cast<std::size_t>(call.sizes[dim]);  // topk keeps some
  const Lines results(call.sizes, dim);
  std::vector<std::size_t> order(lines.length);
  for (std::size_t line = 0; line < lines.count; ++line) {
    const auto at = [&](std::size_t i) { return x->at(lines.begin(line) + i * lines.step); };
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return descending ? at(a) > at(b) : at(a) < at(b);
    });
    // Which of equal ones is among the first is the kernel's to choose.
    const std::size_t compared = std::min(kept + 1, order.size());
    for (std::size_t i = 1; kept < order.size() && wants_place && i < compared; ++i) {
      if (at(order[i]) == at(order[i - 1])) return false;
    }
    for (std::size_t i = 0; i < kept; ++i) {
      const std::size_t to = results.begin(line) + i * results.step;
      if (wants_place) {
        out.set_whole(to, static_cast<std::int64_t>(order[i]));
      } else {
        out.set(to, at(order[i]));
      }
    }
  }
  return true;
}
bool sorted(const ValueCall& call, Numbers& out) {
  return ordered(call, 1, call.flag(2), call.which == 1, out);
}
bool sorting_order(const ValueCall& call, Numbers& out) {
  return ordered(call, 1, call.flag(2), true, out);
}
bool top(const ValueCall& call, Numbers& out) {
  return ordered(call, 2, call.flag(3), call.which == 1, out);
}

constexpr ValueRule reducing(std::string_view name, MakeNumbers make, std::size_t outputs = 1) {
  return {name, ValueRule::Kind::kPlain, make, nullptr, outputs};
}

}  // namespace

std::span<const ValueRule> reduction_values() {
  static constexpr ValueRule kRules[] = {
      reducing("sum", fold_by<Sum>),
      reducing("mean", fold_by<Mean>),
      reducing("prod", fold_by<Product, 1>),
      reducing("amax", fold_by<Largest>),
      reducing("amin", fold_by<Smallest>),
      reducing("any", fold_by<AnyOf>),
      reducing("all", fold_by<AllOf, 1>),
      reducing("count_nonzero", fold_by<Count>),
      reducing("max", extreme<true>, 2),
      reducing("min", extreme<false>, 2),
      reducing("argmax", place_of_extreme<true>),
      reducing("argmin", place_of_extreme<false>),
      reducing("cumsum", scanned<true>),
      reducing("cumprod", scanned<false>),
      reducing("sort", sorted, 2),
      reducing("argsort", sorting_order),
      reducing("topk", top, 2),
  };
  return kRules;
}

}  // namespace tidemark::ops
