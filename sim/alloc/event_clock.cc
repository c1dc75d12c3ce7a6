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
  const Ticket ticket = queue_of.recorded;
  if (policy_ == Policy::kLag && ticket > lag_) finish(stream, ticket - lag_);
  return ticket;
}

void TraceClock::finish(StreamId stream, Ticket ticket) {
  Queue& queue_of = queue(stream);
  if (queue_of.done >= ticket) return;
  queue_of.done = ticket;
  ++progress_;
  std::vector<Followed> later;
  std::vector<Followed> reached;
  for (const Followed& followed : queue_of.followed) {
    (followed.from <= ticket ? reached : later).push_back(followed);
  }
  queue_of.followed = std::move(later);
  for (const Followed& followed : reached) followed.clock->finish(followed.stream, followed.ticket);
}

void TraceClock::follow(StreamId stream, TraceClock& clock, StreamId other, Ticket ticket) {
  if (clock.is_done(other, ticket)) return;
  Queue& queue_of = queue(stream);
  queue_of.followed.push_back({++queue_of.recorded, &clock, other, ticket});
}

bool TraceClock::is_done(StreamId stream, Ticket ticket) { return queue(stream).done >= ticket; }

void TraceClock::wait(StreamId stream, Ticket ticket) {
  finish(stream, ticket);
  ++progress_;
}

void TraceClock::synchronize(StreamId stream) {
  finish(stream, queue(stream).recorded);
  ++progress_;
}

void TraceClock::synchronize_device() {
  for (std::size_t stream = 0; stream < queues_.size(); ++stream) {
    finish(static_cast<StreamId>(stream), queues_[stream].recorded);
  }
  ++progress_;
}

}  // namespace tidemark
