#include "sim/study/sweep/sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/parallel.h"
#include "sim/base/problem.h"
#include "sim/run/parsed_scenario.h"
#include "sim/run/record.h"
#include "sim/run/run.h"
#include "sim/run/verdict.h"
#include "sim/yaml/yaml.h"

namespace tidemark {
namespace {

constexpr RunOptions kOptions{
    .costs = {}, .keep_events = true, .keep_samples = false, .keep_live = false};

CellResult summarise(const RunResult& run) {
  CellResult result;
  const Verdict verdict = verdict_of(run);
  for (const DeviceResult& device : run.devices) {
    if (!device.ooms.empty() && result.message.empty()) {
      const OomResult& oom = device.ooms.front();
      const std::string_view phase = oom.phase == kNoPhase
                                         ? std::string_view()
                                         : std::string_view(device.phases[oom.phase].name);
      result.message = fmt::format("{}: {}", phase, run.program.labels.text(oom.label));
    }
    result.device_calls += device.device_calls;
    const MemorySample& at_peak = device.peak_reserved.sample;
    if (at_peak.reserved > 0 && device.peak_reserved.bytes >= result.peak_reserved) {
      const Wide unused = at_peak.reserved - std::min(at_peak.reserved, at_peak.allocated);
      result.fragmentation = static_cast<std::uint64_t>(unused * 1'000'000U / at_peak.reserved);
    }
    result.peak_reserved = std::max(result.peak_reserved, device.peak_reserved.bytes);
  }
  result.ooms = static_cast<std::int64_t>(verdict.refused);
  result.retries = verdict.retries;
  result.peak_allocated = verdict.peak_allocated;
  result.spare = verdict.spare;
  result.time_ns = run.end_ns;
  result.assumed = std::count_if(run.assumptions.begin(), run.assumptions.end(),
                                 [](const AssumptionResult& each) { return !each.is_given; }) +
                   static_cast<std::int64_t>(run.notes.size());
  result.status = verdict.fits() ? CellStatus::kFits : CellStatus::kOom;
  return result;
}

/// The cells of one lot, by one run of the code where that tells all.
class Lot {
 public:
  /// `root`: the source's text, parsed.
  Lot(const ScenarioSource& source, const yaml::Node& root, bool is_shared)
      : source_(source), root_(root), is_shared_(is_shared) {}

  CellResult result_of(const SweepCell& cell) {
    CellResult result;
    try {
      const ScenarioSource own = cell_source(source_, cell);
      const Scenario scenario =
          parse_scenario(root_, *own.text, own.folder, own.overrides, own.variant);
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
  const yaml::Node& root_;
  bool is_shared_;
  std::optional<Recording> recording_;
};

}  // namespace

class SweepRunner::State {
 public:
  State(const ScenarioSource& source, const SweepPlan& plan, SweepOptions options)
      : source_(source),
        root_(yaml::parse(source.text)),
        plan_(plan),
        options_(std::move(options)),
        cursor_(plan) {
    take_sweep(root_);  // long, and no cell's
  }

  void run(const LotRange& lots) {
    lots_ = lots;
    if (!waiting_ || waiting_->lot > lots.first) {
      cursor_ = SweepCursor(plan_);
      waiting_ = cursor_.next();
    }
    const unsigned threads = options_.threads == 0
                                 ? std::max(1U, std::thread::hardware_concurrency())
                                 : options_.threads;
    const auto share = [this] { work(); };
    std::vector<std::thread> others = start_threads(threads - 1, share);
    work();
    for (std::thread& thread : others) thread.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  void work() {
    while (true) {
      const std::vector<SweepCell> cells = take_cells();
      if (cells.empty()) return;
      Lot lot(source_, root_, cells.size() > 1);
      for (const SweepCell& cell : cells) {
        const CellResult result = lot.result_of(cell);
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

  /// The cells of the next lot that have no result yet; none: all are taken.
  std::vector<SweepCell> take_cells() {
    const std::lock_guard lock(mutex_);
    std::vector<SweepCell> cells;
    while (waiting_ && waiting_->lot < lots_.end && error_ == nullptr) {
      if (!cells.empty() && waiting_->lot != cells.front().lot) break;
      const bool is_ours =
          waiting_->lot >= lots_.first && waiting_->lot % options_.shards == options_.shard - 1;
      if (is_ours && !(options_.is_done && options_.is_done(waiting_->number)))
        cells.push_back(std::move(*waiting_));
      waiting_ = cursor_.next();
    }
    return cells;
  }

  const ScenarioSource& source_;
  yaml::Node root_;
  const SweepPlan& plan_;
  SweepOptions options_;
  LotRange lots_;
  std::mutex mutex_;
  SweepCursor cursor_;
  std::optional<SweepCell> waiting_;
  std::exception_ptr error_;
};

SweepRunner::SweepRunner(const ScenarioSource& source, const SweepPlan& plan, SweepOptions options)
    : state_(std::make_unique<State>(source, plan, std::move(options))) {}
SweepRunner::~SweepRunner() = default;

void SweepRunner::run(const LotRange& lots) { state_->run(lots); }

void run_sweep(const ScenarioSource& source, const SweepPlan& plan, SweepOptions options) {
  SweepRunner(source, plan, std::move(options)).run({0, ~std::uint64_t{0}});
}

}  // namespace tidemark
