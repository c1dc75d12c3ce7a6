#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "sim/program/event.h"

namespace tidemark {

/// Compares two sequences of events that come in parts, as diff_events() compares them whole: in
/// all columns, position by position, and also with runs of frees as sets. Memory: what one side
/// has before the other; once they differ, also the run of frees that is being read.
class EventComparison {
 public:
  static constexpr std::size_t kShown = 4;
  struct Result {
    std::size_t a_events = 0;
    std::size_t b_events = 0;
    std::size_t differing = 0;         ///< positions, those that only one has included
    std::optional<std::size_t> first;  ///< the first of them
    /// The first kShown events from there on, in the order in which they came.
    std::vector<Event> a_from_first;
    std::vector<Event> b_from_first;
  };

  /// What comes next of each; either may be empty.
  void take(std::span<const Event> a, std::span<const Event> b);
  /// Call when all was taken. `unordered_frees`: as DiffOptions. Not twice.
  [[nodiscard]] Result finish(bool unordered_frees);
  /// Positions at which `a` has an alloc and `b` something, and those of them at which `b` has
  /// none, or one at another address.
  [[nodiscard]] std::size_t allocations() const { return allocations_; }
  [[nodiscard]] std::size_t placed_differently() const { return placed_differently_; }

 private:
  /// One side with its runs of frees sorted, from where the two began to differ.
  struct Sorted {
    std::vector<Event> run;     ///< of frees, not yet ended
    std::deque<Event> ready;    ///< sorted, not yet compared
    std::deque<Event> given;    ///< as they came, from the first that may be shown
    std::size_t first_given = 0;
    std::size_t taken = 0;      ///< the next one's position
    std::vector<Event> from_first;  ///< of the comparison in order
  };
  void count(const Event& a, const Event& b, bool differs);
  void begin_differing();
  void sort_in(Sorted& side, std::span<const Event> events);
  static void end_run(Sorted& side);
  void compare_sorted();
  [[nodiscard]] std::vector<Event> shown(const Sorted& side) const;

  std::deque<Event> a_;  ///< not yet compared: one of the two is empty between calls
  std::deque<Event> b_;
  std::vector<Event> run_;  ///< the frees right before position_, while nothing differs
  std::size_t position_ = 0;
  std::size_t differing_ = 0;
  std::optional<std::size_t> first_;
  std::size_t allocations_ = 0;
  std::size_t placed_differently_ = 0;
  bool differs_ = false;  ///< from then on sides are sorted too
  Sorted sorted_a_;
  Sorted sorted_b_;
  std::size_t sorted_position_ = 0;
  std::size_t sorted_differing_ = 0;
  std::optional<std::size_t> sorted_first_;
};

}  // namespace tidemark
