#include "sim/study/trial/trial.h"

#include <catch2/catch.hpp>

#include <limits>

#include "sim/base/problem.h"

using namespace tidemark;

namespace {

ScenarioSource scenario(std::string text) {
  return {std::make_shared<const SourceText>(SourceText{"case.yaml", std::move(text)}),
          "configs/scenarios",
          {},
          {}};
}

/// Needs some 16 GiB for its parameters alone: too much for the card that it names.
constexpr const char* kTooLarge =
    "schema_version: 1\ndevice: rtx-3060\nlayers: [Linear(65536, 65536)]\n"
    "train: {steps: 1, batch: 1, input: [65536], target: input, loss: mse_loss, optimizer: "
    "SGD(lr=0.1)}\n";

}  // namespace

TEST_CASE("A trial tells what fits, what does not, and what is refused") {
  const ScenarioSource large = scenario(kTooLarge);
  const Trial oom = try_scenario(large);
  CHECK(oom.error.empty());
  CHECK_FALSE(oom.fits());
  const Trial roomy = try_scenario(with_room(large));
  CHECK(roomy.fits());
  CHECK(roomy.peak_reserved > Bytes{16} << 30U);
  const Trial refused = try_scenario(scenario("schema_version: 1\nlayers: [Liner(1, 1)]\n"));
  CHECK_FALSE(refused.error.empty());
  CHECK_FALSE(refused.fits());
}

TEST_CASE("The last of two overrides of a key holds") {
  const ScenarioSource small =
      overridden(scenario(kTooLarge), {{"layers", "[Linear(16, 16)]"}, {"train.input", "[16]"}});
  CHECK(try_scenario(small).fits());
  const ScenarioSource large =
      overridden(small, {{"layers", "[Linear(65536, 65536)]"}, {"train.input", "[65536]"}});
  CHECK_FALSE(try_scenario(large).fits());
  CHECK(large.overrides.size() == 4);
}

TEST_CASE("Time is told where it is asked for") {
  const ScenarioSource small =
      overridden(scenario(kTooLarge), {{"layers", "[Linear(16, 16)]"}, {"train.input", "[16]"}});
  CHECK(try_scenario(small).end_ns == 0);
  CHECK(try_scenario(small, false, true).end_ns > 0);
}

TEST_CASE("A file that is not there is an IoError") {
  CHECK_THROWS_AS(open_scenario("no/such/file.yaml", {}), IoError);
}

TEST_CASE("Headroom is parts of a million of the device, rounded down, at any size") {
  CHECK(headroom_bytes(1'000'000, 50'000) == 50'000);
  CHECK(headroom_bytes(19, 50'000) == 0);
  CHECK(headroom_bytes(std::numeric_limits<Bytes>::max(), 999'999) > Bytes{1} << 62U);
}
