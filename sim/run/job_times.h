#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/base/rank.h"
#include "sim/program/source.h"
#include "sim/run/run_result.h"
#include "sim/run/track.h"

namespace tidemark {

/// Ranks that do the same, and what one of them, by itself, does over time.
struct JobPlay {
  std::vector<int> ranks;  ///< ascending
  RankTrack track;
  Traffic traffic;
  std::map<LabelId, std::string> texts;  ///< of phases, and of places of transfers
  [[nodiscard]] std::string_view text(LabelId label) const {
    const auto found = texts.find(label);
    return found == texts.end() ? std::string_view() : std::string_view(found->second);
  }
};
/// What is needed of a rank's run. Requires: RunOptions::keep_track. The run's track is taken away.
JobPlay play_of(const std::vector<int>& ranks, RunResult& run);

/// Lets the ranks of a job wait for each other. Each rank has a host and streams as the engine has
/// them (sim/engine/engine.h); a transfer starts when all that take part have come to it, and ends
/// for all alike. Everything is a largest time of others, or a sum: no order of events decides.
///
/// Left out: how many operations may be queued, so that a host never waits for room; buffers of
/// NCCL, by which a short send ends before it is received. Loops whose turns repeat are followed
/// for a few turns. Memory depends on nothing of it. Cost: linear in the steps of all classes of
/// ranks, of which at most kMostJobSteps are followed.
JobTimes job_times(const Rank& job, const DeviceSpec& device, const std::vector<JobPlay>& plays);
inline constexpr std::uint64_t kMostJobSteps = 8'000'000;

}  // namespace tidemark
