#include "sim/timeline/event_comparison.h"

#include <algorithm>
#include <tuple>

#include "sim/timeline/diff.h"

namespace tidemark {

namespace {

bool differ(const Event& a, const Event& b) { return compare_events(a, b, {}).any(); }

}  // namespace

void EventComparison::count(const Event& a, const Event& b, bool differs) {
  if (a.action == Action::kAlloc) {
    ++allocations_;
    if (b.action != Action::kAlloc || b.address != a.address) ++placed_differently_;
  }
  if (differs) {
    ++differing_;
    if (!first_) first_ = position_;
  }
  if (!differs_) {
    if (is_free(a)) {
      run_.push_back(a);
    } else {
      run_.clear();
    }
  }
  ++position_;
}

void EventComparison::take(std::span<const Event> a, std::span<const Event> b) {
  if (a_.empty() && b_.empty() && !differs_) {
    const std::size_t both = std::min(a.size(), b.size());
    std::size_t same = 0;
    for (; same < both && !differ(a[same], b[same]); ++same) count(a[same], b[same], false);
    a = a.subspan(same);
    b = b.subspan(same);
  }
  if (differs_) {
    sort_in(sorted_a_, a);
    sort_in(sorted_b_, b);
  }
  a_.insert(a_.end(), a.begin(), a.end());
  b_.insert(b_.end(), b.begin(), b.end());
  while (!a_.empty() && !b_.empty()) {
    const bool differs = differ(a_.front(), b_.front());
    if (differs && !differs_) begin_differing();
    count(a_.front(), b_.front(), differs);
    a_.pop_front();
    b_.pop_front();
  }
  if (differs_) compare_sorted();
}

/// What was equal and may be sorted with what comes is given to both sides, then what waits.
void EventComparison::begin_differing() {
  differs_ = true;
  if (!first_) first_ = position_;
  sorted_position_ = position_ - run_.size();
  for (const auto& [side, waiting] : {std::pair(&sorted_a_, &a_), std::pair(&sorted_b_, &b_)}) {
    side->taken = side->first_given = sorted_position_;
    sort_in(*side, run_);
    sort_in(*side, std::vector<Event>(waiting->begin(), waiting->end()));
  }
  run_.clear();
}

void EventComparison::sort_in(Sorted& side, std::span<const Event> events) {
  for (const Event& event : events) {
    const std::size_t at = side.taken++;
    if (at >= *first_ && at < *first_ + kShown) side.from_first.push_back(event);
    if (!sorted_first_ || at < *sorted_first_ + kShown) side.given.push_back(event);
    if (is_free(event)) {
      side.run.push_back(event);
      continue;
    }
    end_run(side);
    side.ready.push_back(event);
  }
}

void EventComparison::end_run(Sorted& side) {
  std::stable_sort(side.run.begin(), side.run.end(), [](const Event& a, const Event& b) {
    const auto key = [](const Event& e) {
      return std::tuple(e.id, e.action, e.bytes, e.address, e.stream, e.device);
    };
    return key(a) < key(b);
  });
  side.ready.insert(side.ready.end(), side.run.begin(), side.run.end());
  side.run.clear();
}

void EventComparison::compare_sorted() {
  while (!sorted_a_.ready.empty() && !sorted_b_.ready.empty()) {
    if (differ(sorted_a_.ready.front(), sorted_b_.ready.front())) {
      ++sorted_differing_;
      if (!sorted_first_) sorted_first_ = sorted_position_;
    }
    ++sorted_position_;
    for (Sorted* side : {&sorted_a_, &sorted_b_}) {
      side->ready.pop_front();
      const std::size_t keep_from = sorted_first_.value_or(sorted_position_);
      for (; side->first_given < keep_from && !side->given.empty(); ++side->first_given)
        side->given.pop_front();
    }
  }
}

std::vector<Event> EventComparison::shown(const Sorted& side) const {
  const std::size_t skip = std::min(*sorted_first_ - side.first_given, side.given.size());
  const auto begin = side.given.begin() + static_cast<std::ptrdiff_t>(skip);
  const std::size_t count = std::min(kShown, side.given.size() - skip);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

EventComparison::Result EventComparison::finish(bool unordered_frees) {
  Result result;
  result.a_events = position_ + a_.size();
  result.b_events = position_ + b_.size();
  const std::size_t left = a_.size() + b_.size();
  if (left > 0 && !differs_) begin_differing();
  if (!differs_) return result;
  if (!unordered_frees) {
    result.differing = differing_ + left;
    result.first = first_;
    result.a_from_first = sorted_a_.from_first;
    result.b_from_first = sorted_b_.from_first;
    return result;
  }
  end_run(sorted_a_);
  end_run(sorted_b_);
  compare_sorted();
  const std::size_t alone = sorted_a_.ready.size() + sorted_b_.ready.size();
  if (alone > 0 && !sorted_first_) sorted_first_ = sorted_position_;
  result.differing = sorted_differing_ + alone;
  result.first = sorted_first_;
  if (!sorted_first_) return result;
  result.a_from_first = shown(sorted_a_);
  result.b_from_first = shown(sorted_b_);
  return result;
}

}  // namespace tidemark
