#include "sim/study/sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/run/record.h"
#include "sim/run/run.h"

namespace tidemark {
namespace {

/// Cells that one thread takes at a time, at most: a group larger than that is shared out.
constexpr std::size_t kMostTogether = 128;

constexpr RunOptions kOptions{
    .costs = {}, .keep_events = true, .keep_live = false, .keep_times = false};

CellResult summarise(const RunResult& run) {
  CellResult result;
  bool is_oom = run.ended_by_oom;
  Bytes least_spare = kUnlimitedBytes;
  for (const DeviceResult& device : run.devices) {
    if (!device.ooms.empty() && result.message.empty()) {
      const OomResult& oom = device.ooms.front();
      const std::string_view phase = oom.phase == kNoPhase
                                         ? std::string_view()
                                         : std::string_view(device.phases[oom.phase].name);
      result.message = fmt::format("{}: {}", phase, run.program.labels.text(oom.label));
    }
    is_oom = is_oom || !device.ooms.empty();
    result.ooms += static_cast<std::int64_t>(device.ooms.size());
    result.retries += device.statistics.num_alloc_retries;
    result.device_calls += device.device_calls;
    result.peak_allocated = std::max(result.peak_allocated, device.peak_allocated.bytes);
    const MemorySample& at_peak = device.peak_reserved.sample;
    if (at_peak.reserved > 0 && device.peak_reserved.bytes >= result.peak_reserved) {
      const Wide unused = at_peak.reserved - std::min(at_peak.reserved, at_peak.allocated);
      result.fragmentation = static_cast<std::uint64_t>(unused * 1'000'000U / at_peak.reserved);
    }
    result.peak_reserved = std::max(result.peak_reserved, device.peak_reserved.bytes);
    least_spare = std::min(least_spare, spare_bytes(device));
  }
  result.spare = least_spare == kUnlimitedBytes ? 0 : least_spare;
  result.status = is_oom ? CellStatus::kOom : CellStatus::kFits;
  return result;
}

/// The cells of one group, by one run of the code where that tells all.
class Group {
 public:
  explicit Group(const ScenarioSource& source, bool is_shared)
      : source_(source), is_shared_(is_shared) {}

  CellResult result_of(const SweepCell& cell) {
    CellResult result;
    try {
      const Scenario scenario = read_scenario(cell_source(source_, cell));
      result = summarise(run_one(scenario));
    } catch (const InputError& error) {
      result.message = error.problems().front().message;
    } catch (const std::exception& error) {
      result.message = error.what();
    }
    result.number = cell.number;
    return result;
  }

 private:
  RunResult run_one(const Scenario& scenario) {
    if (!is_shared_) return run(scenario, kOptions);
    if (!recording_) recording_ = record(scenario);
    std::optional<RunResult> result = run_recorded(*recording_, scenario, kOptions);
    return result ? std::move(*result) : run(scenario, kOptions);
  }

  const ScenarioSource& source_;
  bool is_shared_;
  std::optional<Recording> recording_;
};

class Sweep {
 public:
  Sweep(const ScenarioSource& source, const SweepPlan& plan, const SweepOptions& options)
      : source_(source), options_(options), cursor_(plan), waiting_(cursor_.next()) {}

  void run() {
    const unsigned threads = options_.threads == 0
                                 ? std::max(1U, std::thread::hardware_concurrency())
                                 : options_.threads;
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : others) thread.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  void work() {
    while (true) {
      const std::vector<SweepCell> cells = take_cells();
      if (cells.empty()) return;
      Group group(source_, cells.size() > 1);
      for (const SweepCell& cell : cells) {
        const CellResult result = group.result_of(cell);
        const std::lock_guard lock(mutex_);
        if (error_ != nullptr) return;
        try {
          options_.take(cell, result);
        } catch (...) {
          error_ = std::current_exception();
          return;
        }
      }
    }
  }

  /// Cells of one group that have no result yet; none: all are taken.
  std::vector<SweepCell> take_cells() {
    const std::lock_guard lock(mutex_);
    std::vector<SweepCell> cells;
    while (waiting_ && error_ == nullptr && cells.size() < kMostTogether) {
      if (!cells.empty() && waiting_->group != cells.front().group) break;
      const bool is_ours = waiting_->group % options_.shards == options_.shard - 1;
      if (is_ours && !(options_.is_done && options_.is_done(waiting_->number)))
        cells.push_back(std::move(*waiting_));
      waiting_ = cursor_.next();
    }
    return cells;
  }

  const ScenarioSource& source_;
  const SweepOptions& options_;
  std::mutex mutex_;
  SweepCursor cursor_;
  std::optional<SweepCell> waiting_;
  std::exception_ptr error_;
};

}  // namespace

void run_sweep(const ScenarioSource& source, const SweepPlan& plan, const SweepOptions& options) {
  Sweep(source, plan, options).run();
}

}  // namespace tidemark
