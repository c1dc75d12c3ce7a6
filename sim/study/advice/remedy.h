#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/advice/quantity.h"
#include "sim/study/trial/trial.h"

namespace tidemark {

/// What a remedy costs beside memory, the cheapest first.
enum class Price : std::uint8_t {
  kNothing,   ///< the same numbers, about the same time
  kTime,      ///< the same numbers, more work
  kNumbers,   ///< other rounding, the same training
  kTraining,  ///< another training
  kMachine,   ///< another machine
};
inline constexpr std::string_view kPriceNames[] = {"free", "time", "numerics", "other training",
                                                   "other device"};

/// One change of a scenario: put its overrides after those that are there, and its files in place
/// of the user's.
struct Change {
  std::vector<Override> overrides;
  std::string text;        ///< for people: "batch 64 -> 32, gradients accumulated over 2"
  EditedFiles files = {};  ///< of a script: those that change, as they are then
};
/// `more` made after `change`.
void append(Change& change, const Change& more);
ScenarioSource changed(const ScenarioSource& source, const Change& change);
/// "--set batch=32 --set accumulate=2"; empty where the change is one of the loop's text.
std::string change_options(const Change& change);

/// What the levels of a remedy are.
enum class Levels : std::uint8_t {
  kDegrees,  ///< how far it is turned: each takes the place of those before it
  kPlaces,   ///< where it is applied: each is a change of its own, and they compose from the last
             ///< place to the first
  kWays,     ///< how it can be written: the first that can be run is meant
};

/// A known change with the test of whether it applies. Changes compose: apply one, then ask the
/// next for its change of the result.
struct Remedy {
  std::string_view id;  ///< "fused-optimizer"
  Price price = Price::kNothing;
  std::string_view note;  ///< what to bear in mind; may be empty
  unsigned levels = 1;    ///< 1, 2, ... up to this; most have one
  /// The change at a level; std::nullopt: it does not apply (or does so already). Requires: 1 <=
  /// level <= levels; `scenario` is what `source` reads as.
  std::optional<Change> (*change)(const ScenarioSource& source, const Scenario& scenario,
                                  unsigned level) = nullptr;
  Levels kind = Levels::kDegrees;
  /// What the degrees make smaller, as find_quantity() has it: a caller can look for the largest
  /// value that does. Empty: nothing that can be told so.
  std::string_view quantity = {};
};

/// All remedies, by price and then by how much they usually change.
std::span<const Remedy> remedies();
/// nullptr: there is none of that name.
const Remedy* find_remedy(std::string_view id);
/// The change of one quantity: "batch 64 -> 48".
Change quantity_change(std::string_view word, const Quantity& now, std::int64_t value);

/// Remedies applied one on top of the other.
struct Combination {
  std::vector<const Remedy*> remedies;  ///< in the order in which they were applied
  Change change;                        ///< of all of them
  Price price = Price::kNothing;        ///< the highest
  void add(const Remedy& remedy, const Change& more);
};

}  // namespace tidemark
