#include "sim/study/sweep/joint_sweep.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/study/sweep/hand_out.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostLots = 64;  // that a thread has taken and not done
constexpr std::chrono::milliseconds kLookAgain{100};
constexpr std::string_view kPartEnding = ".sqlite";

ResultsFile open_part(const std::string& path, const SweepOrigin& origin) {
  if (!ResultsFile::is_begun(path))
    return ResultsFile::create(path, origin, ResultsFile::Journal::kRollback);
  ResultsFile part = ResultsFile::open(path, true);
  part.require_same(origin);
  return part;
}

bool is_whole(const std::vector<bool>& done) {
  return std::find(done.begin(), done.end(), false) == done.end();
}

std::vector<std::string> parts_in(const std::string& folder) {
  std::vector<std::string> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kPartEnding) parts.push_back(entry.path().string());
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

/// What is left lying (a file that another process has open on a network file system) harms nobody.
void take_away(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace

std::string joint_folder(const std::string& path) { return path + ".parts"; }

JointPart run_joint_sweep(const ScenarioSource& source, const SweepPlan& plan,
                          const SweepOrigin& origin, const std::string& path,
                          const JointSweepOptions& options) {
  const std::string folder = joint_folder(path);
  HandOut hand_out(folder, sweep_size(plan).lots);
  std::vector<bool> done;
  hand_out.alone([&] {
    ResultsFile whole = open_part(path, origin);
    done = whole.done();
    if (is_whole(done)) take_away(folder);
  });
  if (is_whole(done)) return JointPart::kNothing;

  std::uint64_t cells = 0;  // of the lots at hand
  std::optional<ResultsFile> part;
  SweepOptions own;
  own.threads = options.threads;
  own.is_done = [&](std::uint64_t number) { return done[number]; };
  own.take = [&](const SweepCell& cell, const CellResult& result) {
    part->add(cell, result);
    ++cells;
    if (options.progress) options.progress(hand_out.cells_done() + cells);
  };
  SweepRunner runner(source, plan, own);
  const std::uint64_t most = kMostLots * std::max(1U, options.threads);
  while (true) {
    if (const std::optional<LotRange> lots = hand_out.take(most)) {
      if (!part)
        part = open_part(fmt::format("{}/{}{}", folder, hand_out.slot(), kPartEnding), origin);
      cells = 0;
      runner.run(*lots);
      part->flush();
      hand_out.done(*lots, cells);
    } else if (hand_out.is_over()) {
      break;
    } else {
      std::this_thread::sleep_for(kLookAgain);
    }
  }

  part.reset();
  JointPart result = JointPart::kHelped;
  hand_out.alone([&] {
    ResultsFile whole = ResultsFile::open(path, true);
    done = whole.done();
    if (is_whole(done)) return;
    for (const std::string& each : parts_in(folder)) whole.merge(ResultsFile::open(each, true));
    whole.flush();
    // The log may know more than the parts where the power failed.
    done = whole.done();
    own.take = [&](const SweepCell& cell, const CellResult& row) { whole.add(cell, row); };
    if (!is_whole(done)) run_sweep(source, plan, own);
    whole.finish();
    take_away(folder);
    result = JointPart::kCollected;
  });
  return result;
}

}  // namespace tidemark
