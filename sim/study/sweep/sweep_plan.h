#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/overrides.h"
#include "sim/study/trial/trial.h"

namespace tidemark {

/// A value of an axis.
struct SweepValue {
  std::string yaml;         ///< as an override has it: "\"expandable_segments:True\""
  std::string shown;        ///< for tables, quotes undone: "expandable_segments:True"
  bool is_integer = false;  ///< plain YAML
  friend bool operator==(const SweepValue&, const SweepValue&) = default;
};

/// What varies together: one path, or several that a `zip` goes through in step.
struct SweepAxis {
  /// A path as --set has it, or "variant".
  std::vector<std::string> paths;
  /// One list of values a path. Requires: all of one length, none empty.
  std::vector<std::vector<SweepValue>> values;
  /// Only where all of these hold (`when:`); else the axis' paths keep what the scenario says.
  struct Condition {
    std::size_t axis = 0;  ///< an earlier one
    std::size_t path = 0;
    std::vector<SweepValue> values;
  };
  std::vector<Condition> conditions;

  [[nodiscard]] std::size_t size() const { return values.front().size(); }
};

/// A scenario's `sweep:` section, read and checked.
struct SweepPlan {
  /// In the order of the file, but for those that change `allocator` alone: these come last, and so
  /// vary fastest, which lets their cells share one run of the code.
  std::vector<SweepAxis> axes;
  /// A cell for which all conditions of one of these hold is left out.
  std::vector<std::vector<SweepAxis::Condition>> excluded;

  /// Every path that some cell sets, in the order of the axes, each once.
  [[nodiscard]] std::vector<std::string> columns() const;
};

/// Cells are dealt out to threads and processes by lots: small enough that a group of many cells is
/// shared out, large enough that running its code once a lot costs little.
inline constexpr std::size_t kLargestLot = 32;

/// One point of a sweep.
struct SweepCell {
  std::uint64_t number = 0;  ///< from 0, without the cells left out
  std::uint64_t group = 0;   ///< cells of one group differ in `allocator` alone; never decreasing
  std::uint64_t lot = 0;     ///< at most kLargestLot consecutive cells of one group; from 0
  struct Setting {
    std::size_t column = 0;  ///< index into SweepPlan::columns()
    const std::string* path = nullptr;
    const SweepValue* value = nullptr;
  };
  std::vector<Setting> settings;  ///< of the plan, which must outlive the cell
};

/// The largest sweep, with the combinations that are left out.
inline constexpr std::uint64_t kLargestSweep = 1'000'000'000;

/// Reads `sweep:` of a scenario and tries the first value of each axis on it.
/// Errors: InputError with all problems found: no such section, unknown keys, paths that lead
/// nowhere, lists that are empty or of unlike length, conditions on what is not varied, more than
/// kLargestSweep combinations.
SweepPlan parse_sweep(const ScenarioSource& source);

struct SweepSize {
  std::uint64_t cells = 0;
  std::uint64_t lots = 0;
};
/// Cost: as going through all cells without their texts.
SweepSize sweep_size(const SweepPlan& plan);

/// Goes through the cells of a plan in order. Memory: independent of how many there are.
class SweepCursor {
 public:
  /// Requires: `plan` outlives the cursor.
  explicit SweepCursor(const SweepPlan& plan);
  /// std::nullopt: there are no more.
  std::optional<SweepCell> next();

 private:
  friend SweepSize sweep_size(const SweepPlan& plan);
  /// Goes to the next cell and numbers it. Returns false when there is none.
  bool step();
  bool advance();
  bool holds(const std::vector<SweepAxis::Condition>& conditions) const;
  /// Steps to the next cell that is not left out. Returns false when there is none.
  bool find();
  void settle(std::size_t from);

  const SweepPlan* plan_;
  std::vector<std::size_t> at_;  ///< index of each axis' value
  std::vector<char> active_;
  std::uint64_t given_ = 0;  ///< cells
  std::uint64_t group_ = 0;
  std::uint64_t lot_ = 0;
  std::size_t in_lot_ = 0;  ///< cells of the last lot so far
  bool begun_ = false;
  bool group_changed_ = false;
};

/// The scenario of one cell.
ScenarioSource cell_source(const ScenarioSource& source, const SweepCell& cell);

}  // namespace tidemark
