#include "sim/report/time_text.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "sim/device/published_band.h"

namespace tidemark {
namespace {

constexpr TimeBand kBand{900, 1500, 7, true};

/// Steps by number and begin.
RunResult run_of(const std::vector<std::pair<int, Nanoseconds>>& begins, Nanoseconds end) {
  RunResult result;
  result.is_timed = true;
  result.end_ns = end;
  result.time_band = kBand;
  result.devices.emplace_back();
  for (const auto& [step, ns] : begins) {
    for (const char* name : {"forward", "backward"}) {
      PhaseResult phase;
      phase.name = std::string(name) + " " + std::to_string(step);
      phase.begin_ns = ns;
      result.devices.front().phases.push_back(phase);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a time stands with the band in which the true one is expected") {
  CHECK(banded_text(2'000'000, kBand) == "2.00 ms (1.80 to 3.00 ms)");
  CHECK(banded_text(1'000'000, kBand) == "1.00 ms (900.00 us to 1.50 ms)");
  const TimeBand published = published_band();
  CHECK(published.low < 1000);
  CHECK(published.high > 1000);
  CHECK(published.count >= 20);
  CHECK(band_basis(published) == "8 of 10 published times lie so, docs/trust.md");
  CHECK(band_basis(kBand) == "by the intervals of 7 measurements of this card");
}

TEST_CASE("a warm step is the last but one") {
  CHECK_FALSE(step_ns(run_of({}, 9)));
  CHECK_FALSE(step_ns(run_of({{0, 1}}, 9)));
  CHECK(step_ns(run_of({{0, 1}, {1, 5}}, 9)) == 4);
  CHECK(step_ns(run_of({{0, 1}, {1, 5}, {2, 7}}, 90)) == 2);
  // Steps 3 to 98 repeat step 2 and were left out: 97 steps of 10 lie between.
  CHECK(step_ns(run_of({{0, 1}, {1, 5}, {2, 7}, {99, 977}}, 990)) == 10);
  RunResult untimed = run_of({{0, 1}, {1, 5}}, 9);
  untimed.is_timed = false;
  CHECK_FALSE(step_ns(untimed));
  CHECK(time_line(untimed, 80).empty());
}

TEST_CASE("a run says what a step takes") {
  CHECK(time_line(run_of({{0, 1}, {1, 1'000'000}, {2, 3'000'000}}, 5'000'000), 120) ==
        "A step takes 2.00 ms (1.80 to 3.00 ms): by the intervals of 7 measurements of this "
        "card\n");
  CHECK(time_line(run_of({}, 4'000'000), 120) ==
        "It takes 4.00 ms (3.60 to 6.00 ms): by the intervals of 7 measurements of this card\n");
}

}  // namespace tidemark
