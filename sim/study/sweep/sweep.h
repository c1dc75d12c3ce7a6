#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/sim_time.h"
#include "sim/study/sweep/sweep_plan.h"

namespace tidemark {

enum class CellStatus : std::uint8_t {
  kFits,
  kOom,    ///< a request was refused, whether the code handled that or not
  kError,  ///< the scenario cannot be run so
};
inline constexpr std::string_view kCellStatusNames[] = {"fits", "oom", "error"};

/// What a cell came to. Of several GPUs the highest figures, and the least spare bytes.
struct CellResult {
  std::uint64_t number = 0;
  CellStatus status = CellStatus::kError;
  std::string message;  ///< of an error; of an OOM, phase and operator of the first refused request
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;
  Bytes spare = 0;                  ///< of the device at its highest
  std::uint64_t fragmentation = 0;  ///< millionths of peak_reserved not allocated at that moment
  std::int64_t retries = 0;         ///< num_alloc_retries
  std::int64_t ooms = 0;
  std::uint64_t device_calls = 0;  ///< cudaMalloc, cudaFree, map and unmap calls
  std::int64_t assumed = 0;  ///< what the run rests on: notes, and conditions that nobody gave
  Nanoseconds time_ns = 0;   ///< simulated, of the whole scenario: RunResult::end_ns
  friend bool operator==(const CellResult&, const CellResult&) = default;
};

struct SweepOptions {
  unsigned threads = 0;  ///< 0: one a processor
  /// This part of so many: cells are dealt out lot by lot. Requires: 1 <= shard <= shards.
  std::uint64_t shard = 1;
  std::uint64_t shards = 1;
  /// Whether a cell has its result already. Called by one thread at a time.
  std::function<bool(std::uint64_t number)> is_done;
  /// Takes a result. Called by one thread at a time, in no order. An exception ends the sweep.
  std::function<void(const SweepCell&, const CellResult&)> take;
};

/// Consecutive lots of a sweep, up to `end`.
struct LotRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  friend bool operator==(const LotRange&, const LotRange&) = default;
};

/// Runs cells of a plan. Cells of one lot share one run of the code where nothing in it asks for
/// memory; the results do not depend on that, nor on the number of threads. Memory: independent of
/// the number of cells.
class SweepRunner {
 public:
  /// Requires: `source` and `plan` outlive the runner.
  SweepRunner(const ScenarioSource& source, const SweepPlan& plan, SweepOptions options);
  SweepRunner(const SweepRunner&) = delete;
  SweepRunner& operator=(const SweepRunner&) = delete;
  ~SweepRunner();
  /// Errors: those of `take`; a cell's own are its result. Cost, beside the cells': as going
  /// through those between the last run's lots and these, or from the first where these come
  /// before.
  void run(const LotRange& lots);

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Runs all cells of a plan.
void run_sweep(const ScenarioSource& source, const SweepPlan& plan, SweepOptions options);

}  // namespace tidemark
