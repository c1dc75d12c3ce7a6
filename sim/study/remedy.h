#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/overrides.h"
#include "sim/run/run_result.h"
#include "sim/run/scenario.h"

namespace tidemark {

/// A scenario as it was given, so that it can be changed and read again.
struct ScenarioSource {
  std::shared_ptr<const SourceText> text;
  std::string folder;  ///< where relative paths in it start
  std::vector<Override> overrides;
  std::string variant;  ///< the named one of `variants:`; empty: the file as it stands
};
/// Errors: IoError when the file cannot be read.
ScenarioSource open_scenario(const std::string& path, std::vector<Override> overrides,
                             std::string variant = {});
/// Errors: as parse_scenario.
Scenario read_scenario(const ScenarioSource& source);

/// What a remedy costs beside memory, the cheapest first.
enum class Price : std::uint8_t {
  kNothing,   ///< the same numbers, about the same time
  kTime,      ///< the same numbers, more work
  kNumbers,   ///< other rounding, the same training
  kTraining,  ///< another training or another machine
};
inline constexpr std::string_view kPriceNames[] = {"free", "time", "numerics", "other training"};

/// One change of a scenario: put its overrides after those that are there.
struct Change {
  std::vector<Override> overrides;
  std::string text;  ///< for people: "batch 64 -> 32, gradients accumulated over 2"
};
ScenarioSource changed(const ScenarioSource& source, const Change& change);
/// "--set batch=32 --set accumulate=2"; empty where the change is one of the loop's text.
std::string change_options(const Change& change);

/// A known change with the test of whether it applies. Changes compose: apply one, then ask the
/// next for its change of the result.
struct Remedy {
  std::string_view id;  ///< "fused-optimizer"
  Price price = Price::kNothing;
  std::string_view note;  ///< what to bear in mind; may be empty
  /// How far it can be turned: levels 1, 2, ... up to this; most have one.
  unsigned levels = 1;
  /// The change at a level; std::nullopt: it does not apply (or does so already). Requires: 1 <=
  /// level <= levels; `scenario` is what `source` reads as.
  std::optional<Change> (*change)(const ScenarioSource& source, const Scenario& scenario,
                                  unsigned level) = nullptr;
};

/// All remedies, by price and then by how much they usually change.
std::span<const Remedy> remedies();
/// nullptr: there is none of that name.
const Remedy* find_remedy(std::string_view id);

/// What a run of a changed scenario came to. Refused: the change led to an error in the scenario or
/// its code, whose first line `error` holds.
struct Trial {
  std::string error;
  bool fits = false;  ///< no out-of-memory error, handled ones included
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;
  Bytes spare = 0;  ///< of the device at its highest
  std::int64_t retries = 0;
  Nanoseconds end_ns = 0;  ///< simulated time; 0 unless asked for
  RunResult result;
};
/// Runs it. `keep_events`: RunResult with all that a diagnosis needs. Errors: none; see Trial.
Trial try_scenario(const ScenarioSource& source, bool keep_events = false, bool keep_times = false);

}  // namespace tidemark
