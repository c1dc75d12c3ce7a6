#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/sim_time.h"
#include "sim/program/source.h"

namespace tidemark {

/// What a rank's host does to its streams, one after the other.
struct TrackStep {
  enum class Kind : std::uint8_t {
    kWork,        ///< kernels on `stream`, one behind the other
    kTransfer,    ///< `subject`: index into Traffic::transfers
    kRecord,      ///< `subject`: an event
    kWait,        ///< `stream` waits for event `subject`
    kSyncStream,  ///< the host waits for `stream`
    kSyncEvent,   ///< the host waits for event `subject`
    kSyncAll,     ///< the host waits for all streams
    kSpend,       ///< the host is busy for `host_ns`
    kMark,        ///< from here on the phase is label `subject`
    kAgain,       ///< all from step `subject` up to here comes again, `times` times
  };
  Kind kind = Kind::kWork;
  StreamId stream = 0;
  std::uint32_t subject = 0;
  /// How long the host takes; of kWork for all kernels.
  Nanoseconds host_ns = 0;
  /// Of kWork: kernels end no sooner than `busy_ns` after what was queued before them, and
  /// `lead_ns` after the host began to queue them.
  Nanoseconds busy_ns = 0;
  Nanoseconds lead_ns = 0;
  std::uint64_t times = 0;  ///< of kAgain
  Bytes allocated = 0;      ///< when the host comes here
};

/// What a rank's own run tells of the order of its work; nothing of what others do is in it.
struct RankTrack {
  std::vector<TrackStep> steps;
  /// Of each kAgain, in order: how many turns the loop's pattern has.
  std::vector<std::uint64_t> turns;
  bool is_cut = false;  ///< longer than kMostSteps: what follows is missing

  static constexpr std::size_t kMostSteps = 2'000'000;
};

/// Writes a track down. Kernels that follow each other on a stream become one step.
class TrackRecorder {
 public:
  explicit TrackRecorder(Nanoseconds launch_ns, Nanoseconds event_ns)
      : launch_ns_(launch_ns), event_ns_(event_ns) {}

  void launch(StreamId stream, Nanoseconds duration_ns, Bytes allocated);
  void record(StreamId stream, std::uint32_t event);
  void wait(StreamId stream, std::uint32_t event);
  void synchronize(StreamId stream);
  void synchronize_event(std::uint32_t event);
  void synchronize_all();
  void spend(Nanoseconds duration_ns);
  void mark(LabelId phase, Bytes allocated);
  void transfer(const QueuedTransfer& queued, Bytes allocated);

  /// A number for this moment.
  std::size_t moment();
  void repeat(std::size_t since, const Repeat& repeat);
  RankTrack take() { return std::move(track_); }

 private:
  TrackStep& add(TrackStep::Kind kind, StreamId stream, std::uint32_t subject, Nanoseconds host_ns);

  static constexpr std::uint32_t kNone = 0xffffffffU;
  RankTrack track_;
  TrackStep spare_;  ///< what is written once the track is cut
  std::vector<std::uint32_t> moments_;
  Nanoseconds launch_ns_;
  Nanoseconds event_ns_;
  std::uint32_t next_transfer_ = kNone;   ///< of the next kernel
  std::uint32_t own_events_ = kNone - 1;  ///< downwards: those that no program has
};

}  // namespace tidemark
