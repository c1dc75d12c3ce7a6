#include "sim/engine/event_queue.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {
namespace {

/// The standard heap keeps the largest in front.
bool later(const EventQueue::Entry& a, const EventQueue::Entry& b) { return a.key > b.key; }

}  // namespace

void EventQueue::push(Nanoseconds time, Phase phase, std::uint32_t subject) {
  TIDEMARK_CHECK(time >= now_,
                 fmt::format("scheduled at {} ns when it is {} ns already", time, now_));
  heap_.push_back({{time, phase, next_sequence_++}, subject});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

EventQueue::Entry EventQueue::pop() {
  TIDEMARK_CHECK(!heap_.empty(), fmt::format("nothing left to happen after {} ns", now_));
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Entry entry = heap_.back();
  heap_.pop_back();
  now_ = entry.key.time;
  return entry;
}

void EventQueue::shift(Nanoseconds duration) {
  for (Entry& entry : heap_) entry.key.time += duration;
  now_ += duration;
}

std::vector<EventQueue::Entry> EventQueue::in_order() const {
  std::vector<Entry> entries = heap_;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  return entries;
}

}  // namespace tidemark
