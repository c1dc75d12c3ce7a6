#include "sim/run/job_clock.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tidemark {

namespace {

Traversal traversal_of(TransferKind kind) {
  switch (kind) {
    case TransferKind::kAllReduce:
    case TransferKind::kBarrier:
      return Traversal::kTwice;
    case TransferKind::kAllGather:
    case TransferKind::kReduceScatter:
    case TransferKind::kAllToAll:
    case TransferKind::kGather:
    case TransferKind::kScatter:
      return Traversal::kShared;
    default:
      return Traversal::kOnce;
  }
}

Spread spread_of(const Rank& job, int own, const std::vector<int>& members) {
  std::set<int> machines{own / job.per_node};
  int ranks = 0;
  for (const int rank : members) {
    machines.insert(rank / job.per_node);
    ranks += rank == own ? 0 : 1;
  }
  return {ranks + 1, static_cast<int>(machines.size())};
}

}  // namespace

JobClock::JobClock(const Rank& job, const Links& links, const JobPartners& partners,
                   std::vector<Player> players, std::vector<std::vector<std::uint64_t>> loops)
    : job_(job),
      links_(links),
      partners_(partners),
      players_(std::move(players)),
      loops_(std::move(loops)),
      states_(players_.size()),
      is_awake_(players_.size()) {
  for (std::uint32_t c = 0; c < states_.size(); ++c) {
    const std::size_t channels = partners_.channels(partners_.classes()[c].kind).size();
    states_[c].queued.resize(channels);
    states_[c].arrivals.resize(channels);
    const JobPartners::Class& own = partners_.classes()[c];
    std::vector<Spread>& spreads = spreads_.emplace_back();
    for (const std::vector<int>& members : own.members)
      spreads.push_back(spread_of(job_, own.ranks.front(), members));
  }
}

bool JobClock::run(std::uint64_t most_steps) {
  for (std::uint32_t c = 0; c < states_.size(); ++c) wake(c);
  for (std::size_t next = 0; next < awake_.size(); ++next) {
    const std::uint32_t c = awake_[next];
    is_awake_[c] = false;
    while (advance(c)) {
      if (steps_ > most_steps) return false;
    }
    if (next > 4096 && next * 2 > awake_.size()) {
      awake_.erase(awake_.begin(), awake_.begin() + static_cast<std::ptrdiff_t>(next) + 1);
      next = static_cast<std::size_t>(-1);
    }
  }
  for (std::uint32_t c = 0; c < states_.size(); ++c) {
    players_[c].end_ns = states_[c].host_ns;
    for (const Stream& stream : states_[c].streams)
      players_[c].end_ns = std::max(players_[c].end_ns, stream.free_ns);
  }
  return true;
}

void JobClock::wake(std::uint32_t c) {
  if (is_awake_[c]) return;
  is_awake_[c] = true;
  awake_.push_back(c);
}

JobClock::Stream& JobClock::stream(std::uint32_t c, StreamId id) {
  std::vector<Stream>& streams = states_[c].streams;
  if (id >= streams.size()) streams.resize(std::size_t{id} + 1);
  return streams[id];
}

std::uint32_t JobClock::new_point(std::uint32_t c) {
  states_[c].points.emplace_back();
  return static_cast<std::uint32_t>(states_[c].points.size() - 1);
}

bool JobClock::advance(std::uint32_t c) {
  bool moved = advance_host(c);
  for (std::size_t id = 0; id < states_[c].streams.size(); ++id) {
    while (advance_stream(c, static_cast<StreamId>(id))) moved = true;
  }
  return moved;
}

/// Queues the next step, if the host is not held up by it.
bool JobClock::advance_host(std::uint32_t c) {
  State& state = states_[c];
  const RankTrack& track = *players_[c].track;
  if (state.at >= track.steps.size()) return false;
  const TrackStep& step = track.steps[state.at];
  ++steps_;
  Pending pending;
  pending.kind = step.kind;
  pending.allocated = step.allocated;
  const auto queue = [&](StreamId id) {
    pending.issued_ns = state.host_ns;
    stream(c, id).queue.push_back(std::move(pending));
  };
  const auto all_free = [&](StreamId first, std::size_t end) {
    for (std::size_t id = first; id < end; ++id)
      if (!state.streams[id].queue.empty()) return false;
    for (std::size_t id = first; id < end; ++id)
      state.host_ns = std::max(state.host_ns, state.streams[id].free_ns);
    return true;
  };
  switch (step.kind) {
    case TrackStep::Kind::kWork:
      pending.begun_ns = state.host_ns;
      pending.busy_ns = step.busy_ns;
      pending.lead_ns = step.lead_ns;
      state.host_ns += step.host_ns;
      queue(step.stream);
      break;
    case TrackStep::Kind::kTransfer: {
      state.host_ns += step.host_ns;
      const std::uint32_t kind = partners_.classes()[c].kind;
      const std::uint32_t channel = partners_.channel_of(kind, step.subject);
      const Part part{step.subject, state.queued[channel]++};
      state.arrivals[channel].push_back(kNotThere);
      std::deque<Pending>& ahead = stream(c, step.stream).queue;
      const bool is_joined = players_[c].traffic->transfers[step.subject].is_joined;
      // What joins an earlier transfer finds it queued: waits may stand between them.
      const auto first = std::find_if(ahead.rbegin(), ahead.rend(), [](const Pending& each) {
        return each.kind == TrackStep::Kind::kTransfer;
      });
      if (is_joined && first != ahead.rend() && !first->has_arrived) {
        first->parts.push_back(part);
        break;
      }
      pending.parts.push_back(part);
      queue(step.stream);
      break;
    }
    case TrackStep::Kind::kRecord:
      state.host_ns += step.host_ns;
      pending.subject = state.events[step.subject] = new_point(c);
      queue(step.stream);
      break;
    case TrackStep::Kind::kWait: {
      state.host_ns += step.host_ns;
      const auto event = state.events.find(step.subject);
      if (event == state.events.end()) break;
      pending.subject = event->second;
      queue(step.stream);
      break;
    }
    case TrackStep::Kind::kSyncStream:
      stream(c, step.stream);
      if (!all_free(step.stream, std::size_t{step.stream} + 1)) return false;
      break;
    case TrackStep::Kind::kSyncEvent: {
      const auto event = state.events.find(step.subject);
      if (event == state.events.end()) break;
      if (!state.points[event->second].is_passed) return false;
      state.host_ns = std::max(state.host_ns, state.points[event->second].at_ns);
      break;
    }
    case TrackStep::Kind::kSyncAll:
      if (!all_free(0, state.streams.size())) return false;
      break;
    case TrackStep::Kind::kSpend:
      state.host_ns += step.host_ns;
      break;
    case TrackStep::Kind::kMark:
      pending.subject = step.subject;
      queue(0);
      break;
    case TrackStep::Kind::kAgain: {
      if (!state.is_in_loop) {
        state.turns_left = loops_[partners_.classes()[c].kind][state.loop];
        state.is_in_loop = true;
      }
      if (state.turns_left > 0) {
        --state.turns_left;
        state.at = step.subject;
        pending.kind = TrackStep::Kind::kMark;
        pending.subject = kNone;
        queue(0);
        return true;
      }
      state.is_in_loop = false;
      ++state.loop;
      break;
    }
  }
  ++state.at;
  return true;
}

/// Ends what is at a stream's front, if that is known.
bool JobClock::advance_stream(std::uint32_t c, StreamId id) {
  State& state = states_[c];
  Stream& stream = state.streams[id];
  if (stream.queue.empty()) return false;
  Pending& front = stream.queue.front();
  Player& player = players_[c];
  switch (front.kind) {
    case TrackStep::Kind::kWork: {
      const Nanoseconds end =
          std::max(stream.free_ns + front.busy_ns, front.begun_ns + front.lead_ns);
      player.work.push_back({end - front.busy_ns, end, kNone, false, front.allocated});
      stream.free_ns = end;
      break;
    }
    case TrackStep::Kind::kTransfer: {
      if (!front.has_arrived) {
        if (may_grow(c, id)) return false;
        front.arrived_ns = std::max(stream.free_ns, front.issued_ns);
        arrive(c, front);
      }
      if (!finish_transfer(c, front, stream)) return false;
      break;
    }
    case TrackStep::Kind::kRecord:
      stream.free_ns = std::max(stream.free_ns, front.issued_ns);
      state.points[front.subject] = {stream.free_ns, true};
      break;
    case TrackStep::Kind::kWait:
      if (!state.points[front.subject].is_passed) return false;
      stream.free_ns =
          std::max({stream.free_ns, front.issued_ns, state.points[front.subject].at_ns});
      break;
    case TrackStep::Kind::kMark:
      player.marks.push_back(
          {std::max(stream.free_ns, front.issued_ns), front.subject, front.allocated});
      break;
    default:
      break;
  }
  stream.queue.pop_front();
  return true;
}

bool JobClock::may_grow(std::uint32_t c, StreamId id) const {
  const std::vector<TrackStep>& steps = players_[c].track->steps;
  for (std::size_t at = states_[c].at; at < steps.size(); ++at) {
    const TrackStep& next = steps[at];
    if (next.kind == TrackStep::Kind::kRecord || next.kind == TrackStep::Kind::kWait) continue;
    return next.kind == TrackStep::Kind::kTransfer && next.stream == id &&
           players_[c].traffic->transfers[next.subject].is_joined;
  }
  return false;
}

void JobClock::arrive(std::uint32_t c, Pending& pending) {
  const JobPartners::Class& own = partners_.classes()[c];
  pending.has_arrived = true;
  for (const Part& part : pending.parts) {
    const std::uint32_t channel = partners_.channel_of(own.kind, part.transfer);
    states_[c].arrivals[channel][part.number] = pending.arrived_ns;
    for (const JobPartners::Partner& partner : own.partners[channel])
      if (partner.of_class != c) wake(partner.of_class);
  }
}

bool JobClock::finish_transfer(std::uint32_t c, Pending& pending, Stream& stream) {
  const JobPartners::Class& own = partners_.classes()[c];
  Nanoseconds start = pending.arrived_ns;
  std::uint32_t last = pending.parts.front().transfer;
  Nanoseconds out = 0;
  Nanoseconds in = 0;
  for (const Part& part : pending.parts) {
    const std::uint32_t channel = partners_.channel_of(own.kind, part.transfer);
    if (own.absent[channel] >= 0) return false;
    for (const JobPartners::Partner& partner : own.partners[channel]) {
      const std::vector<Nanoseconds>& others = states_[partner.of_class].arrivals[partner.channel];
      if (part.number >= others.size() || others[part.number] == kNotThere) return false;
      if (others[part.number] > start) {
        start = others[part.number];
        last = part.transfer;
      }
    }
    const Transfer& transfer = players_[c].traffic->transfers[part.transfer];
    (transfer.kind == TransferKind::kReceive ? in : out) +=
        transfer_ns(links_, spreads_[c][channel], traversal_of(transfer.kind), transfer.bytes);
  }
  if (start > pending.arrived_ns)
    players_[c].work.push_back({pending.arrived_ns, start, last, true, pending.allocated});
  stream.free_ns = start + std::max(in, out);
  players_[c].work.push_back({start, stream.free_ns, last, false, pending.allocated});
  return true;
}

std::vector<JobClock::Stuck> JobClock::stuck() const {
  std::vector<Stuck> all;
  for (std::uint32_t c = 0; c < states_.size(); ++c) {
    const JobPartners::Class& own = partners_.classes()[c];
    for (const Stream& stream : states_[c].streams) {
      if (stream.queue.empty() || stream.queue.front().kind != TrackStep::Kind::kTransfer) continue;
      for (const Part& part : stream.queue.front().parts) {
        const std::uint32_t channel = partners_.channel_of(own.kind, part.transfer);
        bool waits = own.absent[channel] >= 0;
        for (const JobPartners::Partner& partner : own.partners[channel]) {
          const std::vector<Nanoseconds>& others =
              states_[partner.of_class].arrivals[partner.channel];
          waits = waits || part.number >= others.size() || others[part.number] == kNotThere;
        }
        if (waits) all.push_back({c, part.transfer, channel, part.number});
      }
    }
  }
  return all;
}

}  // namespace tidemark
