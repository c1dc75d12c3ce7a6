#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/ops/values/lines.h"
#include "sim/ops/values/places.h"
#include "sim/ops/values/rule.h"

/// Products of matrices, norms, deviations, and numbers picked by their rank.
namespace tidemark::ops {

namespace {

/// In whatever order a kernel adds, integers come to the same.
bool product_of_matrices(const ValueCall& call, Numbers& out) {
  View x = call.view(0);
  View y = call.view(1);
  if (x.sizes.empty() || y.sizes.empty()) return false;
  if (x.sizes.size() == 1) {
    x.sizes.insert(0, 1);
    x.strides.insert(0, 0);
  }
  if (y.sizes.size() == 1) {
    y.sizes.push_back(1);
    y.strides.push_back(0);
  }
  const auto shape_of = [](const View& view, Dims& batch) {
    batch = view.sizes;
    const std::int64_t columns = batch.back();
    batch.pop_back();
    const std::int64_t rows = batch.back();
    batch.pop_back();
    return std::pair(rows, columns);
  };
  Dims batch_x;
  Dims batch_y;
  const auto [rows, inner] = shape_of(x, batch_x);
  const auto [inner_y, columns] = shape_of(y, batch_y);
  if (inner != inner_y) return false;
  const Dims batch = broadcast(batch_x, batch_y);
  const auto spread = [&](const View& view, std::int64_t height, std::int64_t width) {
    Dims sizes = batch;
    sizes.push_back(height);
    sizes.push_back(width);
    return numbers_of(broadcast_view(view, sizes));
  };
  constexpr std::int64_t kMostSteps = std::int64_t{1} << 24U;
  const std::int64_t count = numel_of(batch);
  if (count * rows * columns * inner > kMostSteps) return false;
  const auto p = spread(x, rows, inner);
  const auto q = spread(y, inner, columns);
  if (!p || !q || !out.is_whole()) return false;
  if (out.size() != static_cast<std::size_t>(count * rows * columns)) return false;
  for (std::int64_t i = 0; i < count * rows * columns; ++i) {
    const std::int64_t row = i / columns;
    const std::int64_t first = i / (rows * columns) * inner * columns + i % columns;
    std::uint64_t sum = 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      sum += static_cast<std::uint64_t>(p->whole[static_cast<std::size_t>(row * inner + k)]) *
             static_cast<std::uint64_t>(q->whole[static_cast<std::size_t>(first + k * columns)]);
    }
    out.set_whole(static_cast<std::size_t>(i), static_cast<std::int64_t>(sum));
  }
  return true;
}

struct Moments {
  double sum = 0;
  double squares = 0;  ///< of the distances from the mean
  double count = 0;
};

/// Visits the elements that fall on one place of the result.
template <class Make>
bool by_place(const ValueCall& call, const Argument& dims, Numbers& out, Make make) {
  const auto x = call.own(0);
  if (!x) return false;
  const std::vector<std::int64_t> places = reduced_places(call.view(0).sizes, dims);
  std::vector<std::vector<double>> lines(out.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<std::size_t>(places[i]);
    if (at >= lines.size()) return false;
    lines[at].push_back(x->at(i));
  }
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, make(lines[i]));
  return true;
}

Moments moments_of(const std::vector<double>& line) {
  Moments m;
  m.count = static_cast<double>(line.size());
  for (const double x : line) m.sum += x;
  const double mean = m.sum / m.count;
  for (const double x : line) m.squares += (x - mean) * (x - mean);
  return m;
}

/// var, std and with the mean: (dim, unbiased) and (dim, *, correction) alike have it third.
template <bool kRoot, bool kWithMean>
bool deviation(const ValueCall& call, Numbers& out) {
  const double correction = call.is_none(2) ? 1 : call.number(2);
  const Argument all = None{};
  const Argument& dims = call.given.size() > 1 ? call.plain(1) : all;
  return by_place(call, dims, out, [&](const std::vector<double>& line) {
    const Moments m = moments_of(line);
    if (kWithMean && call.which == 1) return m.sum / m.count;
    const double variance = m.squares / std::max(m.count - correction, 0.0);
    return kRoot ? std::sqrt(variance) : variance;
  });
}

bool norm(const ValueCall& call, Numbers& out) {
  if (std::holds_alternative<std::string>(call.plain(1))) return false;
  const double p = call.is_none(1) ? 2 : call.number(1);
  const Argument all = None{};
  const Argument& dims = call.given.size() > 2 ? call.plain(2) : all;
  return by_place(call, dims, out, [p](const std::vector<double>& line) {
    double total = p < 0 ? std::numeric_limits<double>::infinity() : 0;
    for (const double x : line) {
      const double size = std::abs(x);
      if (std::isinf(p)) {
        total = p > 0 ? std::max(total, size) : std::min(total, size);
      } else {
        if (p < 0 && std::isinf(total)) total = 0;
        total += p == 0 ? (x != 0 ? 1 : 0) : std::pow(size, p);
      }
    }
    return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
  });
}

bool summed_without_nans(const ValueCall& call, Numbers& out) {
  const Argument all = None{};
  const Argument& dims = call.given.size() > 1 ? call.plain(1) : all;
  return by_place(call, dims, out, [](const std::vector<double>& line) {
    double total = 0;
    for (const double x : line) total += std::isnan(x) ? 0 : x;
    return total;
  });
}

/// logsumexp(dim).
bool log_of_sum(const ValueCall& call, Numbers& out) {
  return by_place(call, call.plain(1), out, [](const std::vector<double>& line) {
    const double most = *std::max_element(line.begin(), line.end());
    double total = 0;
    for (const double x : line) total += std::exp(x - most);
    return most + std::log(total);
  });
}

template <bool kLog>
bool softmax(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  const Dims& sizes = call.view(0).sizes;
  if (!x || call.is_none(1) || x->size() != out.size()) return false;
  const Lines lines(sizes, call.dim(1, sizes.size()));
  for (std::size_t line = 0; line < lines.count; ++line) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < lines.length; ++i) most = std::max(most, x->at(lines.at(line, i)));
    double total = 0;
    for (std::size_t i = 0; i < lines.length; ++i)
      total += std::exp(x->at(lines.at(line, i)) - most);
    for (std::size_t i = 0; i < lines.length; ++i) {
      const double own = x->at(lines.at(line, i)) - most;
      out.set(lines.at(line, i), kLog ? own - std::log(total) : std::exp(own) / total);
    }
  }
  return true;
}

/// One element of every line, by where it stands; nothing named: of all.
template <class Choose>
bool chosen_of_lines(const ValueCall& call, std::size_t dim_at, bool of_all, Numbers& out,
                     Choose choose) {
  const auto x = call.own(0);
  if (!x || x->size() == 0) return false;
  const bool has_nan = !x->is_whole() && std::any_of(x->real.begin(), x->real.end(),
                                                     [](double n) { return std::isnan(n); });
  if (has_nan) return false;
  Dims sizes = call.view(0).sizes;
  std::size_t dim = 0;
  if (of_all) {
    sizes = Dims{static_cast<std::int64_t>(x->size())};
  } else {
    dim = call.dim(dim_at, sizes.size(), -1);
  }
  const Lines lines(sizes, dim);
  if (lines.count != out.size()) return false;
  for (std::size_t line = 0; line < lines.count; ++line) {
    const auto at = [&](std::size_t i) { return x->at(lines.at(line, i)); };
    std::vector<std::size_t> order(lines.length);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return at(a) < at(b); });
    const std::size_t best = choose(order, at);
    if (call.which == 0) {
      out.set(line, at(best));
      continue;
    }
    // Which of equal ones is named is the kernel's to choose.
    const auto equals = [&](std::size_t i) { return at(i) == at(best); };
    if (std::count_if(order.begin(), order.end(), equals) > 1) return false;
    out.set_whole(line, static_cast<std::int64_t>(best));
  }
  return true;
}
bool median(const ValueCall& call, Numbers& out) {
  return chosen_of_lines(call, 1, call.is_none(1), out, [](const auto& order, const auto&) {
    return order[(order.size() - 1) / 2];
  });
}
bool kth(const ValueCall& call, Numbers& out) {
  const auto k = static_cast<std::size_t>(call.integer(1));
  if (k == 0) return false;
  return chosen_of_lines(call, 2, false, out,
                         [k](const auto& order, const auto&) { return order[k - 1]; });
}
/// The most frequent one; of several the smallest.
bool mode(const ValueCall& call, Numbers& out) {
  return chosen_of_lines(call, 1, false, out, [](const auto& order, const auto& at) {
    std::size_t best = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      while (end < order.size() && at(order[end]) == at(order[i])) ++end;
      if (end - i > most) {
        most = end - i;
        best = order[end - 1];
      }
      i = end;
    }
    return best;
  });
}

template <bool kLargest>
bool so_far(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const Dims& sizes = call.view(0).sizes;
  const Lines lines(sizes, call.dim(1, sizes.size()));
  for (std::size_t line = 0; line < lines.count; ++line) {
    std::size_t best = 0;
    const auto at = [&](std::size_t i) { return x->at(lines.at(line, i)); };
    for (std::size_t i = 0; i < lines.length; ++i) {
      if (std::isnan(at(i))) return false;
      if (kLargest ? at(i) >= at(best) : at(i) <= at(best)) best = i;
      if (call.which == 0) {
        out.set(lines.at(line, i), at(best));
      } else {
        out.set_whole(lines.at(line, i), static_cast<std::int64_t>(best));
      }
    }
  }
  return true;
}

/// aminmax(*, dim): the smallest, then the largest.
bool both_extremes(const ValueCall& call, Numbers& out) {
  const Argument all = None{};
  const Argument& dims = call.given.size() > 1 ? call.plain(1) : all;
  const bool largest = call.which == 1;
  return by_place(call, dims, out, [largest](const std::vector<double>& line) {
    return largest ? *std::max_element(line.begin(), line.end())
                   : *std::min_element(line.begin(), line.end());
  });
}

bool trace(const ValueCall& call, Numbers& out) {
  View view = call.view(0);
  if (view.sizes.size() != 2) return false;
  view.sizes = Dims{std::min(view.sizes[0], view.sizes[1])};
  view.strides = Dims{view.strides[0] + view.strides[1]};
  const auto x = numbers_of(view);
  if (!x) return false;
  double total = 0;
  for (std::size_t i = 0; i < x->size(); ++i) total += x->at(i);
  out.set(0, total);
  return true;
}

constexpr ValueRule of(std::string_view name, MakeNumbers make, std::size_t outputs = 1) {
  return {name, ValueRule::Kind::kPlain, make, nullptr, outputs};
}

constexpr ValueRule product(std::string_view name) {
  return {name, ValueRule::Kind::kWhole, product_of_matrices};
}
constexpr ValueRule added(std::string_view name, MakeNumbers make, std::size_t outputs = 1) {
  return {name, ValueRule::Kind::kPlain, make, nullptr, outputs, false, nullptr, nullptr, true};
}

}  // namespace

std::span<const ValueRule> statistics_values() {
  static constexpr ValueRule kRules[] = {
      product("matmul"),
      product("mm"),
      product("bmm"),
      product("mv"),
      product("dot"),
      added("var", deviation<false, false>),
      added("std", deviation<true, false>),
      added("var_mean", deviation<false, true>, 2),
      added("std_mean", deviation<true, true>, 2),
      added("norm", norm),
      added("linalg_vector_norm", norm),
      added("nansum", summed_without_nans),
      added("logsumexp", log_of_sum),
      added("softmax", softmax<false>),
      added("log_softmax", softmax<true>),
      of("median", median, 2),
      of("kthvalue", kth, 2),
      of("mode", mode, 2),
      of("cummax", so_far<true>, 2),
      of("cummin", so_far<false>, 2),
      of("aminmax", both_extremes, 2),
      of("trace", trace),
  };
  return kRules;
}

}  // namespace tidemark::ops
