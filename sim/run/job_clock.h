#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "sim/base/rank.h"
#include "sim/base/sim_time.h"
#include "sim/device/links.h"
#include "sim/run/job_partners.h"
#include "sim/run/track.h"

namespace tidemark {

/// Hosts and streams of many ranks, one of each class, that meet in transfers.
class JobClock {
 public:
  /// A kernel, a transfer, or the wait for one, on one of a class's streams.
  struct Work {
    Nanoseconds begin_ns = 0;
    Nanoseconds end_ns = 0;
    std::uint32_t transfer = kNone;  ///< kNone: kernels
    bool is_wait = false;            ///< for others, until the transfer starts
    Bytes allocated = 0;
  };
  struct Mark {
    Nanoseconds at_ns = 0;
    LabelId phase = 0;  ///< kNone: a turn of a loop comes again
    Bytes allocated = 0;
  };
  struct Player {
    const RankTrack* track = nullptr;
    const Traffic* traffic = nullptr;
    std::vector<Work> work;   ///< by stream in order, not between streams
    std::vector<Mark> marks;  ///< as the default stream comes to them
    Nanoseconds end_ns = 0;
  };
  /// A class that never ends, and what it waits for.
  struct Stuck {
    std::uint32_t of_class = 0;
    std::uint32_t transfer = 0;
    std::uint32_t channel = 0;
    std::uint64_t number = 0;  ///< of the transfer among the channel's
  };
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// Requires: partners.missing() is empty; players are of its classes, in order; all outlive it.
  JobClock(const Rank& job, const Links& links, const JobPartners& partners,
           std::vector<Player> players, std::vector<std::vector<std::uint64_t>> loops);
  /// Goes as far as it comes, at most so many steps. Returns whether that was enough.
  bool run(std::uint64_t most_steps);
  [[nodiscard]] std::vector<Player>& players() { return players_; }
  [[nodiscard]] std::vector<Stuck> stuck() const;
  /// Whether a class has come to the nth transfer of a channel.
  [[nodiscard]] bool is_there(const JobPartners::Partner& one, std::uint64_t number) const {
    const std::vector<Nanoseconds>& arrivals = states_[one.of_class].arrivals[one.channel];
    return number < arrivals.size() && arrivals[number] != kNotThere;
  }
  /// How many transfers of a channel have been queued.
  [[nodiscard]] std::uint64_t queued(std::uint32_t of_class, std::uint32_t channel) const {
    return states_[of_class].queued[channel];
  }

 private:
  struct Point {
    Nanoseconds at_ns = 0;
    bool is_passed = false;
  };
  struct Part {
    std::uint32_t transfer = 0;
    std::uint64_t number = 0;
  };
  struct Pending {
    TrackStep::Kind kind = TrackStep::Kind::kWork;
    std::uint32_t subject = 0;  ///< a point, or a label
    Nanoseconds issued_ns = 0;
    Nanoseconds busy_ns = 0;
    Nanoseconds begun_ns = 0;  ///< of kWork: when the host began to queue it
    Nanoseconds lead_ns = 0;
    std::vector<Part> parts;  ///< of kTransfer
    bool has_arrived = false;
    Nanoseconds arrived_ns = 0;
    Bytes allocated = 0;
  };
  struct Stream {
    Nanoseconds free_ns = 0;
    std::deque<Pending> queue;
  };
  struct State {
    std::size_t at = 0;  ///< in the track's steps
    std::size_t loop = 0;
    std::uint64_t turns_left = 0;
    bool is_in_loop = false;
    Nanoseconds host_ns = 0;
    std::vector<Stream> streams;
    std::unordered_map<std::uint32_t, std::uint32_t> events;  ///< to points
    std::vector<Point> points;
    std::vector<std::uint64_t> queued;               ///< by channel
    std::vector<std::vector<Nanoseconds>> arrivals;  ///< by channel; kNotThere
  };
  static constexpr Nanoseconds kNotThere = -1;

  bool advance(std::uint32_t c);
  bool advance_host(std::uint32_t c);
  bool advance_stream(std::uint32_t c, StreamId id);
  /// Whether the host is about to queue what joins the transfer on a stream.
  [[nodiscard]] bool may_grow(std::uint32_t c, StreamId id) const;
  bool finish_transfer(std::uint32_t c, Pending& pending, Stream& stream);
  void arrive(std::uint32_t c, Pending& pending);
  void wake(std::uint32_t c);
  Stream& stream(std::uint32_t c, StreamId id);
  std::uint32_t new_point(std::uint32_t c);

  Rank job_;
  Links links_;
  const JobPartners& partners_;
  std::vector<Player> players_;
  std::vector<std::vector<std::uint64_t>> loops_;  ///< by kind: how often each comes again
  std::vector<std::vector<Spread>> spreads_;       ///< by class and channel
  std::vector<State> states_;
  std::vector<std::uint32_t> awake_;
  std::vector<bool> is_awake_;
  std::uint64_t steps_ = 0;
};

}  // namespace tidemark
