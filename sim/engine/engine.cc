#include "sim/engine/engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {
namespace {

constexpr std::string_view kTheOneBefore = "the operation before it";

std::string describe(const std::vector<StuckOperation>& stuck) {
  std::string text =
      fmt::format("{} operation{} can never end", stuck.size(), stuck.size() == 1 ? "" : "s");
  for (const StuckOperation& operation : stuck) {
    if (operation.waits_for == kTheOneBefore) continue;
    text += fmt::format("; {} on stream {}, issued at {} ns, waits for {}", operation.what,
                        operation.stream, operation.issued_ns, operation.waits_for);
  }
  return text;
}

}  // namespace

StuckError::StuckError(std::vector<StuckOperation> stuck)
    : std::runtime_error(describe(stuck)), stuck_(std::move(stuck)) {}

Engine::Stream& Engine::stream_of(StreamId id) {
  if (id >= streams_.size()) streams_.resize(std::size_t{id} + 1);
  return streams_[id];
}

void Engine::launch(StreamId stream, Nanoseconds duration_ns) {
  TIDEMARK_CHECK(duration_ns >= 0,
                 fmt::format("a duration of {} ns at {} ns", duration_ns, host_ns_));
  spend(options_.launch_overhead_ns);
  issue(stream, {Kind::kWork, 0, duration_ns, 0});
}

void Engine::record(StreamId stream, std::uint32_t event) {
  spend(options_.event_overhead_ns);
  if (event >= events_.size()) events_.resize(std::size_t{event} + 1, kNoTicket);
  events_[event] = mark(stream);
}

void Engine::wait(StreamId stream, std::uint32_t event) {
  spend(options_.event_overhead_ns);
  if (event >= events_.size() || events_[event] == kNoTicket) return;
  issue(stream, {Kind::kWait, events_[event], 0, 0});
}

void Engine::meet(StreamId stream, std::uint32_t meeting, std::uint32_t parties,
                  Nanoseconds duration_ns) {
  TIDEMARK_CHECK(parties > 0 && duration_ns >= 0,
                 fmt::format("meeting {} of {} streams for {} ns", meeting, parties, duration_ns));
  if (meeting >= meetings_.size()) meetings_.resize(std::size_t{meeting} + 1);
  Meeting& entry = meetings_[meeting];
  TIDEMARK_CHECK(
      entry.parties == 0 || entry.parties == parties,
      fmt::format("meeting {} is of {} streams and of {}", meeting, entry.parties, parties));
  entry.parties = parties;
  spend(options_.launch_overhead_ns);
  issue(stream, {Kind::kMeet, meeting, duration_ns, 0});
}

Ticket Engine::mark(StreamId stream) {
  const auto ticket = static_cast<Ticket>(points_.size());
  points_.push_back({stream, false, {}});
  issue(stream, {Kind::kPoint, ticket, 0, 0});
  return ticket;
}

void Engine::issue(StreamId id, const Operation& operation) {
  advance_to(host_ns_);
  Stream& stream = stream_of(id);
  while (stream.queue.size() >= options_.launch_queue_depth) {
    if (queue_.empty()) throw StuckError(stuck());
    step();
    host_ns_ = std::max(host_ns_, queue_.now());
  }
  stream.queue.push_back(operation);
  stream.queue.back().issued_ns = host_ns_;
  if (stream.queue.size() == 1) queue_.push(host_ns_, Phase::kStart, id);
}

void Engine::spend(Nanoseconds duration_ns) {
  TIDEMARK_CHECK(duration_ns >= 0,
                 fmt::format("a duration of {} ns at {} ns", duration_ns, host_ns_));
  host_ns_ += duration_ns;
}

void Engine::synchronize(StreamId stream) {
  stream_of(stream);
  while (!streams_[stream].queue.empty()) {
    if (queue_.empty()) throw StuckError(stuck());
    step();
  }
  host_ns_ = std::max(host_ns_, queue_.now());
}

void Engine::synchronize_to(Ticket ticket) {
  while (!passed(ticket)) {
    if (queue_.empty()) throw StuckError(stuck());
    step();
    host_ns_ = std::max(host_ns_, queue_.now());
  }
}

void Engine::synchronize_event(std::uint32_t event) {
  if (event < events_.size() && events_[event] != kNoTicket) synchronize_to(events_[event]);
}

void Engine::synchronize_all() {
  while (!queue_.empty()) step();
  host_ns_ = std::max(host_ns_, queue_.now());
  std::vector<StuckOperation> left = stuck();
  if (!left.empty()) throw StuckError(std::move(left));
}

bool Engine::passed(Ticket ticket) {
  TIDEMARK_CHECK(ticket < points_.size(),
                 fmt::format("point {} of {} at {} ns", ticket, points_.size(), host_ns_));
  if (!points_[ticket].is_passed) advance_to(host_ns_);
  return points_[ticket].is_passed;
}

bool Engine::query_event(std::uint32_t event) {
  spend(options_.event_overhead_ns);
  return event >= events_.size() || events_[event] == kNoTicket || passed(events_[event]);
}

bool Engine::query_stream(StreamId stream) {
  spend(options_.event_overhead_ns);
  advance_to(host_ns_);
  return stream >= streams_.size() || streams_[stream].queue.empty();
}

Nanoseconds Engine::busy_ns(StreamId stream) const {
  return stream < streams_.size() ? streams_[stream].busy_ns : 0;
}

void Engine::advance_to(Nanoseconds time) {
  while (!queue_.empty() && queue_.top().key.time <= time) step();
}

void Engine::step() {
  const EventQueue::Entry entry = queue_.pop();
  switch (entry.key.phase) {
    case Phase::kFinish: {
      const auto id = static_cast<StreamId>(entry.subject);
      streams_[id].busy_ns += streams_[id].queue.front().duration_ns;
      ++finished_;
      drop_front(id);
      return;
    }
    case Phase::kSignal: {
      const std::vector<StreamId> waiters = std::exchange(points_[entry.subject].waiters, {});
      for (const StreamId id : waiters) drop_front(id);
      return;
    }
    case Phase::kStart:
      start_front(static_cast<StreamId>(entry.subject));
      return;
  }
}

void Engine::start_front(StreamId id) {
  Stream& stream = streams_[id];
  const Operation& operation = stream.queue.front();
  if (operation.kind == Kind::kWork) {
    queue_.push(queue_.now() + operation.duration_ns, Phase::kFinish, id);
    return;
  }
  if (is_over_at_once(id, operation)) drop_front(id);
}

bool Engine::is_over_at_once(StreamId id, const Operation& operation) {
  switch (operation.kind) {
    case Kind::kPoint: {
      Point& point = points_[operation.subject];
      point.is_passed = true;
      if (!point.waiters.empty()) queue_.push(queue_.now(), Phase::kSignal, operation.subject);
      return true;
    }
    case Kind::kWait: {
      Point& point = points_[operation.subject];
      if (!point.is_passed) point.waiters.push_back(id);
      return point.is_passed;
    }
    case Kind::kMeet: {
      Meeting& meeting = meetings_[operation.subject];
      meeting.arrived.push_back(id);
      if (meeting.arrived.size() < meeting.parties) return false;
      for (const StreamId party : meeting.arrived) {
        queue_.push(queue_.now() + operation.duration_ns, Phase::kFinish, party);
      }
      return false;
    }
    case Kind::kWork:
      break;
  }
  return false;
}

void Engine::drop_front(StreamId id) {
  Stream& stream = streams_[id];
  stream.queue.pop_front();
  if (stream.queue.empty()) return;
  queue_.push(std::max(queue_.now(), stream.queue.front().issued_ns), Phase::kStart, id);
}

void Engine::shift(Nanoseconds duration_ns) {
  host_ns_ += duration_ns;
  queue_.shift(duration_ns);
  for (Stream& stream : streams_) {
    for (Operation& operation : stream.queue) operation.issued_ns += duration_ns;
  }
}

void Engine::write_state(StateImage& image) const {
  image.put_signed(queue_.now() - host_ns_);
  for (const Stream& stream : streams_) {
    image.put(stream.queue.size());
    for (const Operation& operation : stream.queue) {
      image.put(static_cast<std::uint64_t>(operation.kind));
      image.put_signed(operation.duration_ns);
      image.put_signed(operation.issued_ns - host_ns_);
      if (operation.kind == Kind::kMeet) image.give_up("a collective under way");
      if (operation.kind == Kind::kPoint || operation.kind == Kind::kWait)
        write_ticket(image, operation.subject);
      if (operation.kind != Kind::kPoint) continue;
      for (const StreamId waiter : points_[operation.subject].waiters) image.put(waiter);
    }
  }
  for (const EventQueue::Entry& entry : queue_.in_order()) {
    image.put_signed(entry.key.time - host_ns_);
    image.put(static_cast<std::uint64_t>(entry.key.phase));
    if (entry.key.phase != Phase::kSignal) {
      image.put(entry.subject);
      continue;
    }
    write_ticket(image, entry.subject);
    for (const StreamId waiter : points_[entry.subject].waiters) image.put(waiter);
  }
  for (const Ticket ticket : events_) {
    const bool is_open = ticket != kNoTicket && !points_[ticket].is_passed;
    image.put(ticket == kNoTicket ? 1 : 0);
    if (is_open) write_ticket(image, ticket);
  }
}

std::string Engine::waits_for(const Operation& operation) const {
  if (operation.kind == Kind::kWait) {
    return fmt::format("stream {} to come to point {}", points_[operation.subject].stream,
                       operation.subject);
  }
  const Meeting& meeting = meetings_[operation.subject];
  return fmt::format("{} of {} streams to arrive", meeting.parties - meeting.arrived.size(),
                     meeting.parties);
}

std::vector<StuckOperation> Engine::stuck() const {
  std::vector<StuckOperation> result;
  for (std::size_t id = 0; id < streams_.size(); ++id) {
    for (std::size_t i = 0; i < streams_[id].queue.size(); ++i) {
      const Operation& operation = streams_[id].queue[i];
      StuckOperation entry;
      entry.stream = static_cast<StreamId>(id);
      entry.issued_ns = operation.issued_ns;
      switch (operation.kind) {
        case Kind::kWork:
          entry.what = fmt::format("an operation of {} ns", operation.duration_ns);
          break;
        case Kind::kPoint:
          entry.what = fmt::format("point {}", operation.subject);
          break;
        case Kind::kWait:
          entry.what = fmt::format("the wait for point {}", operation.subject);
          break;
        case Kind::kMeet:
          entry.what = fmt::format("meeting {}", operation.subject);
          break;
      }
      entry.waits_for = i == 0 ? waits_for(operation) : std::string(kTheOneBefore);
      result.push_back(std::move(entry));
    }
  }
  return result;
}

}  // namespace tidemark
