#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/sim_time.h"

namespace tidemark {

/// What happens first among things of the same instant, lowest first.
enum class Phase : std::uint8_t {
  kFinish,  ///< An operation ends: first, so that everything else of this instant finds its effect
            ///< done.
  kSignal,  ///< Those who waited for an event learn of it: after all ends, so that they learn of
            ///< each.
  kStart,   ///< A stream takes up its next operation: last, so that it starts with nothing left to
            ///< learn.
};

/// The place of something in simulated time. Total: no two keys of one queue are equal, and neither
/// pointers nor hash order nor threads take part.
struct EventKey {
  Nanoseconds time = 0;
  Phase phase = Phase::kFinish;
  std::uint64_t sequence = 0;  ///< the order of push()
  friend auto operator<=>(const EventKey&, const EventKey&) = default;
};

/// What is to happen, smallest key first: a binary heap.
class EventQueue {
 public:
  struct Entry {
    EventKey key;
    std::uint32_t subject = 0;  ///< the caller's: what it concerns
  };

  /// Errors: InternalError when `time` lies before the last popped entry's.
  /// Cost: O(log size).
  void push(Nanoseconds time, Phase phase, std::uint32_t subject);
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// Requires: not empty().
  [[nodiscard]] const Entry& top() const { return heap_.front(); }
  /// Takes the smallest out; time is its time from here on. Requires: not empty(). Cost: O(log
  /// size).
  Entry pop();
  /// Moves all that is to happen, and the present, by `duration`.
  void shift(Nanoseconds duration);
  /// What is to happen, in order.
  [[nodiscard]] std::vector<Entry> in_order() const;
  /// The time of the last popped entry.
  [[nodiscard]] Nanoseconds now() const { return now_; }

 private:
  std::vector<Entry> heap_;
  std::uint64_t next_sequence_ = 0;
  Nanoseconds now_ = 0;
};

}  // namespace tidemark
