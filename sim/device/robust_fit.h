#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tidemark {

/// A figure, and between what it lies as far as the measurements tell.
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct FitPoint {
  double x = 0;  ///< above 0
  double y = 0;  ///< above 0
};

/// y = base + slope x, both at least 0.
struct LineFit {
  Interval base;
  Interval slope;
  std::vector<std::size_t> refused;  ///< points that the others contradict, by their index
};

/// A line through measurements of which some may be wrong: the line through two of them with the
/// least sum of relative errors tells which, and least squares of relative errors go through the
/// rest. A point is refused that lies 15 % and five middle errors off; where more than a third
/// would be, none is. Intervals: the fits without each point in turn. Exact points give the exact
/// line.
LineFit fit_line(std::span<const FitPoint> points);

/// Values with weights above 0: the middle one by weight, between the quarters.
struct WeightedValue {
  double value = 0;
  double weight = 0;
};
Interval weighted_middle(std::vector<WeightedValue> values);

}  // namespace tidemark
