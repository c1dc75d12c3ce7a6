#include "sim/device/robust_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark {

namespace {

constexpr double kLeastOff = 0.15;
constexpr double kMiddleErrors = 5;
constexpr double kMostError = 0.5;  ///< how far off a point is counts no further

struct Line {
  double base = 0;
  double slope = 0;
  [[nodiscard]] double at(double x) const { return base + slope * x; }
  /// Relative, the same for twice as much as for half as much.
  [[nodiscard]] double error(const FitPoint& p) const {
    const double foretold = at(p.x);
    return foretold > 0 ? std::abs(std::log(foretold / p.y)) : kMostError;
  }
};

/// The line with the least sum of relative errors among those through two of the points, or through
/// one and level or from 0: one of them is the truth where most points are right.
Line least_errors(std::span<const FitPoint> points) {
  Line best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const Line& line) {
    if (line.base < 0 || line.slope < 0) return;
    double sum = 0;
    for (const FitPoint& p : points) sum += std::min(kMostError, line.error(p));
    if (sum >= least) return;
    least = sum;
    best = line;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    consider({points[i].y, 0});
    consider({0, points[i].y / points[i].x});
    for (std::size_t j = 0; j < i; ++j) {
      if (points[i].x == points[j].x) continue;
      const double slope = (points[i].y - points[j].y) / (points[i].x - points[j].x);
      consider({points[i].y - slope * points[i].x, slope});
    }
  }
  return best;
}

/// Least squares of relative errors: a call of 2 MiB counts as much as one of 2 GiB.
Line least_squares(std::span<const FitPoint> points) {
  double w = 0;
  double wx = 0;
  double wy = 0;
  double wxx = 0;
  double wxy = 0;
  for (const FitPoint& p : points) {
    const double weight = 1 / (p.y * p.y);
    w += weight;
    wx += weight * p.x;
    wy += weight * p.y;
    wxx += weight * p.x * p.x;
    wxy += weight * p.x * p.y;
  }
  if (points.empty()) return {};
  const double spread = w * wxx - wx * wx;
  if (points.size() < 2 || spread <= 1e-12 * w * wxx) return {wy / w, 0};
  const Line line{(wy * wxx - wx * wxy) / spread, (w * wxy - wx * wy) / spread};
  if (line.slope < 0) return {wy / w, 0};
  if (line.base < 0) return {0, wxy / wxx};
  return line;
}

double middle(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

void widen(Interval& interval, double value) {
  interval.low = std::min(interval.low, value);
  interval.high = std::max(interval.high, value);
}

}  // namespace

LineFit fit_line(std::span<const FitPoint> points) {
  const Line rough = least_errors(points);
  std::vector<double> errors;
  errors.reserve(points.size());
  for (const FitPoint& p : points) errors.push_back(rough.error(p));
  const double most = std::max(kLeastOff, kMiddleErrors * middle(errors));
  LineFit fit;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (errors[i] > most) fit.refused.push_back(i);
  }
  if (3 * fit.refused.size() > points.size()) fit.refused.clear();
  std::vector<FitPoint> kept;
  kept.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::ranges::binary_search(fit.refused, i)) kept.push_back(points[i]);
  }
  const Line line = least_squares(kept);
  fit.base = {line.base, line.base, line.base};
  fit.slope = {line.slope, line.slope, line.slope};
  for (std::size_t left_out = 0; kept.size() > 2 && left_out < kept.size(); ++left_out) {
    std::vector<FitPoint> others(kept);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const Line without = least_squares(others);
    widen(fit.base, without.base);
    widen(fit.slope, without.slope);
  }
  return fit;
}

Interval weighted_middle(std::vector<WeightedValue> values) {
  std::ranges::sort(values, {}, &WeightedValue::value);
  double all = 0;
  for (const WeightedValue& each : values) all += each.weight;
  const auto at = [&](double share) {
    double sum = 0;
    for (const WeightedValue& each : values) {
      sum += each.weight;
      if (sum >= share * all) return each.value;
    }
    return values.empty() ? 0 : values.back().value;
  };
  return {at(0.5), at(0.25), at(0.75)};
}

}  // namespace tidemark
