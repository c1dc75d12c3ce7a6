#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/base/sim_time.h"
#include "sim/program/event.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// The amounts right after one event, in PyTorch's words.
struct Amounts {
  Bytes reserved = 0;   ///< segments held from the driver
  Bytes active = 0;     ///< blocks allocated or waiting for another stream
  Bytes allocated = 0;  ///< blocks that an owner holds
  /// What the owners of the active blocks asked for: the least any allocator needs.
  Bytes requested = 0;
  Bytes inactive_split = 0;  ///< free parts of segments that are in use
  Bytes largest_free = 0;    ///< the largest free block
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

using CategoryBytes = std::array<Bytes, kCategoryNames.size()>;  ///< by Category

/// The order in which categories are listed and stacked: what stays longest comes first.
inline constexpr std::array<Category, kCategoryNames.size()> kCategoryOrder{
    Category::kParameter,  Category::kOptimizerState, Category::kGradient,
    Category::kKvCache,    Category::kWorkspace,      Category::kInput,
    Category::kActivation, Category::kTemporary,      Category::kUnknown};

/// What lies between two marks: events [first_event, first_event + events).
struct PhaseSpan {
  std::string name;  ///< "backward 2"; empty before the first mark
  std::size_t first_event = 0;
  std::size_t events = 0;
  friend bool operator==(const PhaseSpan&, const PhaseSpan&) = default;
};

/// A phase's name taken apart: "backward 2" is phase "backward" of step "2"; "forward 1.3" is step
/// "1.3" (micro-batch 3 of step 1); "model" has no step.
struct PhaseName {
  std::string_view phase;
  std::string_view step;
};
PhaseName split_phase_name(std::string_view name);

/// One device's memory, event by event. Plain data in columns, all of one length but `times_ns`,
/// `by_category` and `labels`, which may be empty.
struct Timeline {
  std::string device;  ///< its name
  Bytes device_total_bytes = 0;
  Bytes device_context_bytes = 0;
  std::vector<Event> events;
  std::vector<Amounts> amounts;  ///< right after each event
  /// Block bytes of what is allocated; each row sums to amounts[i].allocated.
  std::vector<CategoryBytes> by_category;
  std::vector<Nanoseconds> times_ns;
  std::vector<std::string> labels;  ///< the operator that brought each event about
  std::vector<PhaseSpan> phases;    ///< in order; together they hold every event
};

/// Index into phases of the phase that `event` lies in. Errors: std::nullopt when no phase holds
/// it. Cost: logarithmic.
std::optional<std::size_t> phase_at(std::span<const PhaseSpan> phases, std::size_t event);

/// The allocated bytes of each category after each event. A block's size is what `allocated` moved
/// by when it was made. `categories` by RequestId; an id beyond its end is kUnknown. Requires: as
/// many amounts as events, the first event the first of the run. Cost: linear.
std::vector<CategoryBytes> stack_categories(std::span<const Event> events,
                                            std::span<const Amounts> amounts,
                                            std::span<const Category> categories);

/// The first event at which an amount has its highest value. Errors: std::nullopt without events.
std::optional<std::size_t> peak_event(std::span<const Amounts> amounts, Bytes Amounts::*field);

/// Where the difference between what the driver gave and what the program asked for went.
struct Fragmentation {
  Bytes internal_bytes = 0;        ///< rounding inside blocks: active - requested
  Bytes external_bytes = 0;        ///< free inside segments: reserved - active
  Bytes inactive_split_bytes = 0;  ///< the part of it that empty_cache cannot give back
  Bytes largest_free_bytes = 0;    ///< the largest request that the cache could serve
  friend bool operator==(const Fragmentation&, const Fragmentation&) = default;
};
Fragmentation fragmentation(const Amounts& amounts);

/// The mean over all events of the share of reserved memory that is not active, in millionths:
/// integers, so that every build prints the same. Errors: std::nullopt when nothing was ever
/// reserved.
std::optional<std::uint64_t> mean_fragmentation_ppm(std::span<const Amounts> amounts);

/// `part` of `whole` in millionths, rounded to nearest. Requires: whole > 0, part <= whole.
constexpr std::uint64_t parts_per_million(Bytes part, Bytes whole) {
  return static_cast<std::uint64_t>((static_cast<Wide>(part) * 1'000'000U + whole / 2) / whole);
}

/// The highest value in each of some equal stretches of the events: a curve that fits a line of
/// text and hides no peak.
class PeakCurve {
 public:
  /// Of `events` values; of as many `columns`, or fewer where the events are fewer.
  PeakCurve(std::size_t events, std::size_t columns)
      : events_(events), columns_(std::min(columns, events)) {
    curve_.reserve(columns_);
  }
  /// Takes the value after the next event. Requires: it is called at most `events` times.
  void add(Bytes bytes) {
    if (taken_ == end_) {
      // Event i belongs to column i * columns / events, rounded down.
      curve_.push_back(0);
      end_ = (curve_.size() * events_ + columns_ - 1) / columns_;
    }
    curve_.back() = std::max(curve_.back(), bytes);
    ++taken_;
  }
  [[nodiscard]] const std::vector<Bytes>& columns() const { return curve_; }

 private:
  std::size_t events_;
  std::size_t columns_;
  std::size_t taken_ = 0;
  std::size_t end_ = 0;  ///< of the column that is being filled
  std::vector<Bytes> curve_;
};

}  // namespace tidemark
