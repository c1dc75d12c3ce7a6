#include "sim/timeline/diff.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tidemark {

namespace {

/// Indices of `events` with every run of consecutive frees sorted, so that equal sets compare
/// equal.
std::vector<std::size_t> canonical_order(std::span<const Event> events,
                                         const DiffOptions& options) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const Event& e = events[i];
    return std::tuple(options.compare_ids ? e.id : 0, e.action, e.bytes,
                      options.compare_addresses ? e.address : 0, e.stream, e.device);
  };
  std::size_t begin = 0;
  while (begin < events.size()) {
    std::size_t end = begin;
    while (end < events.size() && is_free(events[end])) ++end;
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                     order.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    begin = end + 1;
  }
  return order;
}

}  // namespace

EventCounter::EventCounter(HeldBefore before)
    : reserved_(before.reserved_bytes), requested_(before.requested_bytes) {
  totals_.peak_reserved_bytes = reserved_;
  totals_.peak_requested_bytes = requested_;
}

void EventCounter::add(const Event& event) {
  const auto action = static_cast<std::size_t>(event.action);
  ++totals_.count[action];
  totals_.bytes[action] += event.bytes;
  switch (event.action) {
    case Action::kSegmentAlloc:
    case Action::kSegmentMap:
      reserved_ += event.bytes;
      break;
    case Action::kSegmentFree:
    case Action::kSegmentUnmap:
      reserved_ -= std::min(reserved_, event.bytes);
      break;
    case Action::kAlloc:
      requested_ += event.bytes;
      break;
    case Action::kFreeCompleted:
      requested_ -= std::min(requested_, event.bytes);
      break;
    case Action::kFreeRequested:
    case Action::kOom:
    case Action::kSnapshot:
      break;
  }
  if (reserved_ > totals_.peak_reserved_bytes) {
    totals_.peak_reserved_bytes = reserved_;
    totals_.peak_reserved_event = events_;
  }
  if (requested_ > totals_.peak_requested_bytes) {
    totals_.peak_requested_bytes = requested_;
    totals_.peak_requested_event = events_;
  }
  ++events_;
}

EventTotals EventCounter::totals() const {
  EventTotals totals = totals_;
  totals.end_reserved_bytes = reserved_;
  totals.end_requested_bytes = requested_;
  return totals;
}

EventTotals event_totals(std::span<const Event> events, HeldBefore before) {
  EventCounter counter(before);
  for (const Event& event : events) counter.add(event);
  return counter.totals();
}

EventDifference compare_events(const Event& a, const Event& b, const DiffOptions& options) {
  EventDifference difference;
  difference.action = a.action != b.action;
  difference.bytes = a.bytes != b.bytes;
  difference.address = options.compare_addresses && a.address != b.address;
  difference.stream = a.stream != b.stream;
  difference.id = options.compare_ids && a.id != b.id;
  difference.device = a.device != b.device;
  return difference;
}

EventDiff diff_events(std::span<const Event> a, std::span<const Event> b,
                      const DiffOptions& options) {
  EventDiff diff;
  diff.a_events = a.size();
  diff.b_events = b.size();
  diff.a = event_totals(a);
  diff.b = event_totals(b);
  if (options.unordered_frees) {
    diff.a_order = canonical_order(a, options);
    diff.b_order = canonical_order(b, options);
  }
  const auto at_a = [&](std::size_t i) -> const Event& {
    return a[diff.a_order.empty() ? i : diff.a_order[i]];
  };
  const auto at_b = [&](std::size_t i) -> const Event& {
    return b[diff.b_order.empty() ? i : diff.b_order[i]];
  };
  const std::size_t shorter = std::min(a.size(), b.size());
  const std::size_t longer = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < shorter; ++i) {
    if (!compare_events(at_a(i), at_b(i), options).any()) continue;
    ++diff.differing;
    if (!diff.first) diff.first = i;
  }
  diff.differing += longer - shorter;
  if (!diff.first && longer > shorter) diff.first = shorter;
  if (!diff.first) return diff;
  while (diff.equal_tail < shorter - *diff.first &&
         !compare_events(at_a(a.size() - 1 - diff.equal_tail), at_b(b.size() - 1 - diff.equal_tail),
                         options)
              .any()) {
    ++diff.equal_tail;
  }
  return diff;
}

}  // namespace tidemark
