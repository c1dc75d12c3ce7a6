#include "sim/study/advice/player.h"

#include <algorithm>
#include <utility>

#include "sim/run/run.h"
#include "sim/run/verdict.h"
#include "sim/study/trial/trial.h"

namespace tidemark {
namespace {

PlayFigures figures_of(const RunResult& result) {
  const Verdict verdict = verdict_of(result);
  PlayFigures figures;
  figures.peak_reserved = verdict.peak_reserved;
  figures.ooms = static_cast<std::int64_t>(verdict.refused);
  figures.retries = verdict.retries;
  for (const DeviceResult& device : result.devices) {
    figures.device_calls += device.device_calls;
    figures.device_call_ns += device.device_call_ns;
  }
  return figures;
}

}  // namespace

PlayFigures figures_of(const ReplaySummary& summary) {
  return {summary.peak_reserved, summary.ooms, summary.retries, summary.device_calls,
          summary.device_call_ns};
}

ProgramPlayer::ProgramPlayer(Scenario scenario)
    : scenario_(std::move(scenario)), recording_(record(scenario_)) {
  const bool waits =
      std::any_of(recording_.instructions.begin(), recording_.instructions.end(),
                  [](const Instruction& instruction) { return instruction.verb == Verb::kUse; });
  is_plain_ = scenario_.device_count == 1 && !recording_.asks && !waits;
}

PlayFigures ProgramPlayer::play(const AllocatorSettings& settings,
                                std::optional<Bytes> total) const {
  Scenario changed = scenario_;
  changed.settings = settings;
  if (total) changed.device.total_bytes = *total;
  if (is_plain_) {
    ReplayOptions options;
    options.device = changed.device;
    options.other_bytes = changed.other_bytes;
    options.memory_fraction = changed.memory_fraction;
    return figures_of(replay(recording_.instructions, settings, options).summary);
  }
  constexpr RunOptions kOptions{
      .costs = {}, .keep_events = false, .keep_live = false, .keep_times = false};
  const std::optional<RunResult> quick = run_recorded(recording_, changed, kOptions);
  return figures_of(quick ? *quick : run(changed, kOptions));
}

Need need_of(const ProgramPlayer& player) {
  constexpr Bytes kLeastStep = 2 * kMiB;
  constexpr Bytes kSteps = 1024;
  const AllocatorSettings& settings = player.scenario().settings;
  Need need;
  const auto served = [&](Bytes total) {
    ++need.plays;
    return player.play(settings, total).ooms == 0;
  };
  ++need.plays;
  const PlayFigures roomy = player.play(settings, kRoomyBytes);
  if (roomy.ooms > 0) return need;
  need.reserved_bytes = roomy.peak_reserved;
  const Scenario& scenario = player.scenario();
  const Bytes taken = scenario.device.context_bytes + scenario.other_bytes;
  need.step_bytes = round_up(roomy.peak_reserved / kSteps, kLeastStep) + kLeastStep;
  Bytes low = taken / need.step_bytes;
  Bytes high = (taken + roomy.peak_reserved) / need.step_bytes + 1;
  // A limit (memory_fraction) or code that looks at the device may need more than that.
  while (!served(high * need.step_bytes)) {
    low = high;
    high *= 2;
  }
  while (low + 1 < high) {
    const Bytes middle = low + (high - low) / 2;
    (served(middle * need.step_bytes) ? high : low) = middle;
  }
  need.total_bytes = high * need.step_bytes;
  return need;
}

}  // namespace tidemark
