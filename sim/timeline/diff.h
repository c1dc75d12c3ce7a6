#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/program/event.h"

namespace tidemark {

/// Which of an event's columns a comparison looks at. The join to instructions is never compared.
struct DiffOptions {
  /// Frees that follow one another are compared as a set: their order does not count. For programs
  /// whose order PyTorch itself leaves open (autocast dropping its weight cache).
  bool unordered_frees = false;
  bool compare_addresses = true;
  bool compare_ids = true;
};

/// What a sequence of events amounts to, as far as events alone tell: they hold requested sizes,
/// not block sizes.
struct EventTotals {
  std::array<std::uint64_t, kActionNames.size()> count{};  ///< by Action
  std::array<Bytes, kActionNames.size()> bytes{};          ///< by Action, summed
  Bytes peak_reserved_bytes = 0;
  std::size_t peak_reserved_event = 0;
  Bytes peak_requested_bytes = 0;  ///< of what is allocated and not yet freed
  std::size_t peak_requested_event = 0;
  Bytes end_reserved_bytes = 0;
  Bytes end_requested_bytes = 0;
  friend bool operator==(const EventTotals&, const EventTotals&) = default;
};
/// What was held before the first of some events.
struct HeldBefore {
  Bytes reserved_bytes = 0;
  Bytes requested_bytes = 0;
};
/// Counts events as they come.
class EventCounter {
 public:
  explicit EventCounter(HeldBefore before = {});
  void add(const Event& event);
  [[nodiscard]] EventTotals totals() const;

 private:
  EventTotals totals_;
  Bytes reserved_;
  Bytes requested_;
  std::size_t events_ = 0;
};
EventTotals event_totals(std::span<const Event> events, HeldBefore before = {});

/// How two sequences of events compare, position by position.
struct EventDiff {
  std::size_t a_events = 0;
  std::size_t b_events = 0;
  std::size_t differing = 0;         ///< positions that differ, those that only one has included
  std::optional<std::size_t> first;  ///< the first of them
  /// Events at the end, after `first`, that are equal again when both ends are laid together.
  std::size_t equal_tail = 0;
  /// With unordered_frees: the order in which a was compared; else empty.
  std::vector<std::size_t> a_order;
  std::vector<std::size_t> b_order;
  EventTotals a;
  EventTotals b;
  [[nodiscard]] bool equal() const { return !first.has_value(); }
};

/// Cost: linear (runs of frees are sorted with unordered_frees).
EventDiff diff_events(std::span<const Event> a, std::span<const Event> b,
                      const DiffOptions& options);

/// Which columns of two events differ, of those that `options` compares.
struct EventDifference {
  bool action = false;
  bool bytes = false;
  bool address = false;
  bool stream = false;
  bool id = false;
  bool device = false;
  [[nodiscard]] bool any() const { return action || bytes || address || stream || id || device; }
};
EventDifference compare_events(const Event& a, const Event& b, const DiffOptions& options);

}  // namespace tidemark
