#include "sim/alloc/event_clock.h"

#include <algorithm>

namespace tidemark {

TraceClock::Queue& TraceClock::queue(StreamId stream) {
  if (stream >= queues_.size()) queues_.resize(std::size_t{stream} + 1);
  return queues_[stream];
}

EventClock::Ticket TraceClock::record(StreamId stream) {
  Queue& queue_of = queue(stream);
  ++queue_of.recorded;
  if (policy_ != Policy::kSync) ++progress_;
  if (policy_ == Policy::kReady) queue_of.done = queue_of.recorded;
  if (policy_ == Policy::kLag && queue_of.recorded > lag_) {
    queue_of.done = std::max(queue_of.done, queue_of.recorded - lag_);
  }
  return queue_of.recorded;
}

bool TraceClock::is_done(StreamId stream, Ticket ticket) { return queue(stream).done >= ticket; }

void TraceClock::wait(StreamId stream, Ticket ticket) {
  Queue& queue_of = queue(stream);
  queue_of.done = std::max(queue_of.done, ticket);
  ++progress_;
}

void TraceClock::synchronize(StreamId stream) {
  Queue& queue_of = queue(stream);
  queue_of.done = queue_of.recorded;
  ++progress_;
}

void TraceClock::synchronize_device() {
  for (Queue& queue_of : queues_) queue_of.done = queue_of.recorded;
  ++progress_;
}

}  // namespace tidemark
