#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/base/sim_time.h"
#include "sim/base/state_image.h"
#include "sim/engine/event_queue.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// A point that a stream passes: the end of everything queued on it when the point was set. Counted
/// from 0.
using Ticket = std::uint32_t;

/// An operation that can never end, and what it waits for.
struct StuckOperation {
  StreamId stream = 0;
  Nanoseconds issued_ns = 0;
  std::string what;       ///< "meeting 3"
  std::string waits_for;  ///< "2 of 4 streams to arrive", "the operation before it"
};

/// Nothing is left to happen, yet operations have not ended.
class StuckError : public std::runtime_error {
 public:
  explicit StuckError(std::vector<StuckOperation> stuck);
  [[nodiscard]] const std::vector<StuckOperation>& stuck() const { return stuck_; }

 private:
  std::vector<StuckOperation> stuck_;
};

/// Discrete-event simulation of one host thread and the streams it feeds. It knows durations and
/// order, and nothing of memory or of any device.
///
///     host     |L|L|L|.....device call waits.....|C|L|
///     stream 0   |--kernel--|--kernel--------|      |-
///     stream 1     |w...........|-copy-|            |
///
/// The host issues work, each piece `launch_overhead_ns` after the one before; a stream does its
/// pieces one at a time, in order, each no sooner than the host issued it. Everything that happens
/// on the device goes through one queue ordered by (time, phase, sequence); the device is simulated
/// as far as the host's clock, further only while the host waits.
class Engine {
 public:
  struct Options {
    Nanoseconds launch_overhead_ns = 5'000;  ///< host time to issue one operation
    /// Host time to record an event or to make a stream wait for one.
    Nanoseconds event_overhead_ns = 1'000;
    /// Unfinished operations of a stream before issuing one more waits.
    std::size_t launch_queue_depth = 1'024;
  };

  Engine() : Engine(Options()) {}
  explicit Engine(Options options) : options_(options) {}

  // ---- what the host does, in program order

  /// Queues an operation that keeps `stream` busy for `duration_ns`. Requires: duration_ns >= 0.
  void launch(StreamId stream, Nanoseconds duration_ns);
  /// cudaEventRecord: `event` stands from here on for this point of `stream`.
  void record(StreamId stream, std::uint32_t event);
  /// cudaStreamWaitEvent: what is queued on `stream` later starts after the point that `event`
  /// stands for now. An event that was never recorded holds nothing up, as in CUDA.
  void wait(StreamId stream, std::uint32_t event);
  /// One of `parties` streams that start an operation together, and end it together `duration_ns`
  /// after the last of them is there (a collective). Reached from tests alone until a run simulates
  /// many ranks; until then collectives have ended at once (docs/model.md). Requires: every party
  /// gives the same parties and duration; each comes once.
  void meet(StreamId stream, std::uint32_t meeting, std::uint32_t parties, Nanoseconds duration_ns);
  /// A point on `stream`, to ask for by passed(). Takes no host time: the allocator's own
  /// bookkeeping.
  Ticket mark(StreamId stream);
  /// cudaStreamSynchronize. Errors: StuckError.
  void synchronize(StreamId stream);
  /// cudaEventSynchronize: the host waits until passed(ticket). Errors: StuckError.
  void synchronize_to(Ticket ticket);
  /// cudaEventSynchronize on an event of the program: the point that it stands for now. Errors:
  /// StuckError.
  void synchronize_event(std::uint32_t event);
  /// cudaDeviceSynchronize. Errors: StuckError.
  void synchronize_all();
  /// The host is busy for `duration_ns` with a call into the driver, or with anything else.
  void spend(Nanoseconds duration_ns);
  /// Ends the run: lets everything queued happen; the host's clock moves to the last end. Errors:
  /// StuckError.
  void drain() { synchronize_all(); }

  // ---- what can be asked

  /// Did the stream pass the point by the host's present time?
  [[nodiscard]] bool passed(Ticket ticket);
  /// cudaEventQuery on an event of the program, and cudaStreamQuery: the host's time for the
  /// question passes first. An event that was never recorded has passed.
  [[nodiscard]] bool query_event(std::uint32_t event);
  [[nodiscard]] bool query_stream(StreamId stream);
  /// The host's clock.
  [[nodiscard]] Nanoseconds now() const { return host_ns_; }
  /// Operations (launches, and meetings once a party) that have ended, as far as the device is
  /// simulated.
  [[nodiscard]] std::uint64_t finished() const { return finished_; }
  /// The time that streams were busy in all, of operations that have ended.
  [[nodiscard]] Nanoseconds busy_ns(StreamId stream) const;

  // ---- leaving out what repeats

  /// Writes what decides how the run goes on, times relative to the host's clock.
  void write_state(StateImage& image) const;
  /// Writes a ticket relative to those given so far.
  void write_ticket(StateImage& image, Ticket ticket) const { image.put(points_.size() - ticket); }
  /// All clocks, and all that is under way, move on by `duration_ns`: what happened in between is
  /// left out.
  void shift(Nanoseconds duration_ns);

 private:
  static constexpr Ticket kNoTicket = 0xffffffffU;

  enum class Kind : std::uint8_t { kWork, kPoint, kWait, kMeet };
  struct Operation {
    Kind kind = Kind::kWork;
    std::uint32_t subject = 0;  ///< ticket of kPoint and kWait, meeting of kMeet
    Nanoseconds duration_ns = 0;
    Nanoseconds issued_ns = 0;
  };
  /// A stream is free (nothing queued), scheduled (an entry of the event queue will move it on) or
  /// held up: its front operation waits for a point or for a meeting.
  struct Stream {
    std::deque<Operation> queue;  ///< the front one is under way or waits
    Nanoseconds busy_ns = 0;
  };
  struct Point {
    StreamId stream = 0;
    bool is_passed = false;
    std::vector<StreamId> waiters;  ///< streams held up by it
  };
  struct Meeting {
    std::uint32_t parties = 0;
    std::vector<StreamId> arrived;
  };

  void issue(StreamId id, const Operation& operation);
  Stream& stream_of(StreamId id);
  /// Simulates the device up to and including `time`.
  void advance_to(Nanoseconds time);
  void step();
  /// Starts the front operation of `id`; those that take no time end here, and the next starts.
  void start_front(StreamId id);
  /// True when it takes no time and is over.
  bool is_over_at_once(StreamId id, const Operation& operation);
  /// Takes the front operation away; the next one, if any, is scheduled.
  void drop_front(StreamId id);
  [[nodiscard]] std::vector<StuckOperation> stuck() const;
  [[nodiscard]] std::string waits_for(const Operation& operation) const;

  Options options_;
  EventQueue queue_;
  std::vector<Stream> streams_;
  std::vector<Point> points_;
  std::vector<Ticket> events_;     ///< by event number: what it stands for
  std::vector<Meeting> meetings_;  ///< by meeting number
  Nanoseconds host_ns_ = 0;
  std::uint64_t finished_ = 0;
};

}  // namespace tidemark
