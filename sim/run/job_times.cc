#include "sim/run/job_times.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/device/links.h"
#include "sim/run/job_clock.h"
#include "sim/run/job_partners.h"

namespace tidemark {

namespace {

constexpr std::uint64_t kTurnsKept = 2;  // of a loop whose turns repeat
constexpr std::size_t kMostStuck = 8;    // that are told

/// How often each loop's turns come again, by kind: all ranks' loops as often fewer as leaves a few
/// turns. Where the ranks' loops are not the same in number, as often as they do.
std::vector<std::vector<std::uint64_t>> loops_of(const std::vector<JobPlay>& plays) {
  std::vector<std::vector<std::uint64_t>> loops;
  for (const JobPlay& play : plays) {
    std::vector<std::uint64_t>& own = loops.emplace_back();
    for (const TrackStep& step : play.track.steps)
      if (step.kind == TrackStep::Kind::kAgain) own.push_back(step.times);
  }
  const bool are_alike =
      std::ranges::all_of(loops, [&](const auto& own) { return own.size() == loops[0].size(); });
  for (std::size_t i = 0; are_alike && i < loops[0].size(); ++i) {
    std::uint64_t unit = 1;
    for (const JobPlay& play : plays) unit = std::lcm(unit, play.track.turns[i]);
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t p = 0; p < plays.size(); ++p)
      least = std::min(least, loops[p][i] * plays[p].track.turns[i]);
    const std::uint64_t kept = std::max(unit, kTurnsKept);
    if (least <= kept) continue;
    const std::uint64_t left_out = (least - kept) / unit * unit;
    for (std::size_t p = 0; p < plays.size(); ++p)
      loops[p][i] -= left_out / plays[p].track.turns[i];
  }
  return loops;
}

/// "forward 3" -> "3", of "forward 3.1" too; empty: the phase is no step's.
std::string_view step_of(std::string_view phase) {
  const std::size_t space = phase.rfind(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view step = phase.substr(space + 1, phase.find('.', space) - space - 1);
  return step.find_first_not_of("0123456789") == std::string_view::npos ? step : std::string_view();
}

/// What is counted of a rank's time: of a program with steps, one that is neither its first nor its
/// last, if there is such.
struct Window {
  Nanoseconds begin_ns = 0;
  Nanoseconds end_ns = 0;
  std::size_t step = 0;
  std::size_t steps = 0;
};
Window window_of(const JobClock::Player& player, const JobPlay& play) {
  std::vector<Nanoseconds> starts;
  std::string_view last;
  for (const JobClock::Mark& mark : player.marks) {
    if (mark.phase == JobClock::kNone) last = {};
    const std::string_view step = step_of(play.text(mark.phase));
    if (step.empty()) continue;
    if (step != last) starts.push_back(mark.at_ns);
    last = step;
  }
  Window window{0, player.end_ns, 0, starts.size()};
  if (starts.empty()) return window;
  window.step = starts.size() > 2 ? starts.size() - 2 : starts.size() - 1;
  window.begin_ns = starts[window.step];
  if (window.step + 1 < starts.size()) window.end_ns = starts[window.step + 1];
  return window;
}

std::string told(const JobPlay& play, const JobPartners::Class& own, std::uint32_t channel,
                 const Transfer& transfer) {
  const std::vector<int>& members = own.members[channel];
  std::string text(transfer_name(transfer.kind));
  if (is_of_two(transfer.kind)) {
    text += transfer.kind == TransferKind::kSend ? " to" : " from";
    text += members.empty() ? std::string(" a rank outside the job")
                            : fmt::format(" rank {}", members.front());
  } else {
    text += fmt::format(" of {} ranks", members.size());
  }
  if (transfer.place != 0) text += fmt::format(", {}", play.text(transfer.place));
  return text;
}

/// What a rank does over time: kernels before transfers, transfers before waiting.
class Sweep {
 public:
  Sweep(const JobClock::Player& player, RankTimes& times) : player_(player), times_(times) {
    for (std::uint32_t i = 0; i < player.work.size(); ++i) {
      const JobClock::Work& work = player.work[i];
      if (work.end_ns <= work.begin_ns) continue;
      changes_.push_back({work.begin_ns, i, true});
      changes_.push_back({work.end_ns, i, false});
    }
    std::ranges::sort(changes_, [](const Change& a, const Change& b) {
      return std::tuple(a.at_ns, a.begins, a.work) < std::tuple(b.at_ns, b.begins, b.work);
    });
  }

  /// `longest`: takes the transfer that the longest bubble of the window waits for.
  void run(const Window& window, std::uint32_t& longest) {
    Nanoseconds at = 0;
    std::size_t mark = 0;
    for (std::size_t i = 0; i <= changes_.size(); ++i) {
      const Nanoseconds until = i < changes_.size() ? changes_[i].at_ns : player_.end_ns;
      while (mark < player_.marks.size() && player_.marks[mark].at_ns <= until) {
        add(at, player_.marks[mark].at_ns, window, longest);
        at = std::max(at, player_.marks[mark].at_ns);
        begin_phase(player_.marks[mark++]);
      }
      add(at, until, window, longest);
      at = std::max(at, until);
      if (i < changes_.size()) change(changes_[i]);
    }
  }
  void name_phases(const JobPlay& play) {
    for (const LabelId phase : phases_) times_.phases.emplace_back(play.text(phase));
  }

 private:
  struct Change {
    Nanoseconds at_ns = 0;
    std::uint32_t work = 0;
    bool begins = false;
  };

  void begin_phase(const JobClock::Mark& mark) {
    if (mark.phase == JobClock::kNone) return;
    const auto found = std::ranges::find(phases_, mark.phase);
    phase_ = static_cast<std::uint32_t>(found - phases_.begin());
    if (found == phases_.end()) phases_.push_back(mark.phase);
    allocated_ = mark.allocated;
  }
  void change(const Change& change) {
    const JobClock::Work& work = player_.work[change.work];
    const int by = change.begins ? 1 : -1;
    if (work.transfer == JobClock::kNone) {
      computing_ += by;
    } else if (!work.is_wait) {
      moving_ += by;
    } else if (is_of_two(player_.traffic->transfers[work.transfer].kind)) {
      bubbles_ += by;
      if (change.begins) awaited_ = work.transfer;
    } else {
      lagging_ += by;
    }
    if (change.begins) allocated_ = work.allocated;
  }
  [[nodiscard]] RankState state() const {
    if (computing_ > 0) return RankState::kComputing;
    if (moving_ > 0) return RankState::kMoving;
    if (bubbles_ > 0) return RankState::kBubble;
    return lagging_ > 0 ? RankState::kLagging : RankState::kIdle;
  }
  void add(Nanoseconds begin, Nanoseconds end, const Window& window, std::uint32_t& longest) {
    if (end <= begin) return;
    const RankState now = state();
    std::vector<RankSpan>& spans = times_.spans;
    if (!spans.empty() && spans.back().state == now && spans.back().phase == phase_ &&
        spans.back().allocated == allocated_) {
      spans.back().end_ns = end;
    } else {
      spans.push_back({begin, end, now, allocated_, phase_});
    }
    const Nanoseconds counted = std::min(end, window.end_ns) - std::max(begin, window.begin_ns);
    if (counted <= 0) return;
    times_.by_state[static_cast<std::size_t>(now)] += counted;
    waited_ = now == RankState::kBubble ? waited_ + counted : 0;
    if (waited_ <= times_.longest_ns) return;
    times_.longest_ns = waited_;
    longest = awaited_;
  }

  const JobClock::Player& player_;
  RankTimes& times_;
  std::vector<Change> changes_;
  std::vector<LabelId> phases_{0};
  int computing_ = 0;
  int moving_ = 0;
  int bubbles_ = 0;
  int lagging_ = 0;
  std::uint32_t phase_ = 0;
  std::uint32_t awaited_ = JobClock::kNone;
  Nanoseconds waited_ = 0;
  Bytes allocated_ = 0;
};

std::vector<std::string> links_told(const Rank& job, const Links& links) {
  const auto line = [](std::string_view what, const Link& link) {
    return fmt::format("{}: {}, {} of {} GB/s each way, {} us at least ({})", what, link.name,
                       link.reached() / 1'000'000'000, link.bytes_per_s / 1'000'000'000,
                       link.latency_ns / 1000, link.basis);
  };
  std::vector<std::string> lines{line("within a machine", links.inside)};
  if (job.world > job.per_node) lines.push_back(line("between machines", links.between));
  return lines;
}

void tell_stuck(const JobClock& clock, const JobPartners& partners,
                const std::vector<JobPlay>& plays, JobTimes& times) {
  for (const JobClock::Stuck& one : clock.stuck()) {
    if (times.stuck.size() >= kMostStuck) break;
    const JobPartners::Class& own = partners.classes()[one.of_class];
    const JobPlay& play = plays[own.kind];
    std::string why;
    if (own.absent[one.channel] >= 0)
      why = fmt::format("rank {} never comes to it", own.absent[one.channel]);
    for (const JobPartners::Partner& other : own.partners[one.channel]) {
      const int rank = partners.classes()[other.of_class].ranks.front();
      if (!why.empty() || clock.is_there(other, one.number)) continue;
      why = clock.queued(other.of_class, other.channel) <= one.number
                ? fmt::format("rank {} never comes to it", rank)
                : fmt::format("rank {} has it behind something that waits, too", rank);
    }
    times.stuck.push_back(
        fmt::format("rank {} waits for ever: {}{}{}", own.ranks.front(),
                    told(play, own, one.channel, play.traffic.transfers[one.transfer]),
                    why.empty() ? "" : "; ", why));
  }
}

}  // namespace

JobPlay play_of(const std::vector<int>& ranks, RunResult& run) {
  JobPlay play{ranks, std::move(*run.track), std::move(run.program.traffic), {}};
  run.track.reset();
  const auto keep = [&](LabelId label) {
    play.texts.try_emplace(label, run.program.labels.text(label));
  };
  for (const TrackStep& step : play.track.steps)
    if (step.kind == TrackStep::Kind::kMark) keep(step.subject);
  for (const Transfer& transfer : play.traffic.transfers) keep(transfer.place);
  return play;
}

JobTimes job_times(const Rank& job, const DeviceSpec& device, const std::vector<JobPlay>& plays) {
  JobTimes times;
  std::vector<JobPartners::Kind> kinds;
  for (const JobPlay& play : plays) {
    kinds.push_back({&play.ranks, &play.traffic});
    if (play.track.is_cut) times.missing = "a rank does too much to be followed";
  }
  const JobPartners partners(job, std::move(kinds));
  if (times.missing.empty()) times.missing = partners.missing();
  if (!times.missing.empty()) return times;
  std::vector<JobClock::Player> players;
  for (const JobPartners::Class& each : partners.classes()) {
    const JobPlay& play = plays[each.kind];
    players.push_back({&play.track, &play.traffic, {}, {}, 0});
    for (const JobPartners::Channel& channel : partners.channels(each.kind))
      times.has_pipeline = times.has_pipeline || is_of_two(channel.kind);
  }
  const Links links = links_of(device);
  JobClock clock(job, links, partners, std::move(players), loops_of(plays));
  if (!clock.run(kMostJobSteps)) {
    times.missing = "the ranks do too much to be followed";
    return times;
  }
  times.links = links_told(job, links);
  tell_stuck(clock, partners, plays, times);
  for (std::size_t c = 0; c < partners.classes().size(); ++c) {
    const JobPartners::Class& own = partners.classes()[c];
    const JobPlay& play = plays[own.kind];
    const JobClock::Player& player = clock.players()[c];
    const Window window = window_of(player, play);
    RankTimes& one = times.ranks.emplace_back();
    one.ranks = own.ranks;
    one.begin_ns = window.begin_ns;
    one.end_ns = window.end_ns;
    if (c == 0 && window.steps > 0) times.window = fmt::format("step {}", window.step);
    std::uint32_t longest = JobClock::kNone;
    Sweep sweep(player, one);
    sweep.run(window, longest);
    sweep.name_phases(play);
    if (longest != JobClock::kNone) {
      const std::uint32_t channel = partners.channel_of(own.kind, longest);
      one.longest = told(play, own, channel, play.traffic.transfers[longest]);
    }
  }
  return times;
}

}  // namespace tidemark
