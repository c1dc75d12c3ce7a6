#include "sim/device/robust_fit.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

namespace tidemark {
namespace {

/// 40 us and 2 us a page.
std::vector<FitPoint> exact(const std::vector<double>& sizes = {1, 4, 16, 64, 256, 1024}) {
  std::vector<FitPoint> points;
  points.reserve(sizes.size());
  for (const double x : sizes) points.push_back({x, 40'000 + 2'000 * x});
  return points;
}

}  // namespace

TEST_CASE("exact points give the exact line, and intervals of no width") {
  const LineFit fit = fit_line(exact());
  CHECK(fit.base.value == Approx(40'000).epsilon(1e-9));
  CHECK(fit.slope.value == Approx(2'000).epsilon(1e-9));
  CHECK(fit.base.low == Approx(40'000).epsilon(1e-9));
  CHECK(fit.slope.high == Approx(2'000).epsilon(1e-9));
  CHECK(fit.refused.empty());
}

TEST_CASE("one wrong point of six changes nothing, wherever it is") {
  for (std::size_t i = 0; i < 6; ++i) {
    for (const double factor : {0.3, 0.7, 1.3, 2.3, 10.0}) {
      std::vector<FitPoint> points = exact();
      points[i].y *= factor;
      const LineFit fit = fit_line(points);
      CAPTURE(i, factor);
      CHECK(fit.refused == std::vector<std::size_t>{i});
      CHECK(fit.base.value == Approx(40'000).epsilon(1e-6));
      CHECK(fit.slope.value == Approx(2'000).epsilon(1e-6));
    }
  }
}

TEST_CASE("noise of 5 % is within 5 % of the truth at each size that the probe measures") {
  const std::vector<FitPoint> truths = exact({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048});
  std::mt19937 random(7);  // NOLINT: the same in every run
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  for (int turn = 0; turn < 500; ++turn) {
    std::vector<FitPoint> points = truths;
    for (FitPoint& p : points) p.y *= noise(random);
    const LineFit fit = fit_line(points);
    CHECK(fit.refused.empty());
    for (const FitPoint& truth : truths) {
      const double foretold = fit.base.value + fit.slope.value * truth.x;
      CHECK(std::abs(foretold - truth.y) <= 0.05 * truth.y);
    }
    CHECK(fit.base.low <= fit.base.value);
    CHECK(fit.base.high >= fit.base.value);
  }
}

TEST_CASE("neither part of a line is below 0") {
  const std::vector<FitPoint> falling{{1, 900}, {2, 700}, {3, 500}};
  CHECK(fit_line(falling).slope.value == 0);
  const std::vector<FitPoint> steep{{1, 1}, {2, 300}, {3, 600}};
  CHECK(fit_line(steep).base.value >= 0);
  CHECK(fit_line({}).base.value == 0);
}

TEST_CASE("the middle by weight is that of the work, not of the count") {
  const Interval middle = weighted_middle({{100, 1}, {110, 1}, {120, 1}, {700, 10}});
  CHECK(middle.value == 700);
  CHECK(middle.low == 700);
  CHECK(weighted_middle({{5, 1}, {1, 1}, {3, 1}}).value == 3);
}

}  // namespace tidemark
