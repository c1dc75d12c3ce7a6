#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/study/advice/player.h"
#include "sim/study/replay/replay.h"
#include "sim/study/trial/trial.h"

namespace tidemark {

/// A workload in one order of its steps, recorded once.
struct TuneOrder {
  std::string name;
  /// Plays it to its end. Safe from several threads at a time.
  std::function<PlayFigures(const AllocatorSettings&)> play;
  /// The same on a device with room for all.
  std::function<PlayFigures(const AllocatorSettings&)> play_with_room;
};

/// What settings are looked for.
struct TuneWorkload {
  std::vector<TuneOrder> orders;  ///< at least one; the first: as given
  AllocatorSettings given;        ///< what it has; keys that are not searched stay
  bool has_limit = false;         ///< less than the whole device may be taken
  RunBasis basis;                 ///< of a scenario's code, in the order as given
};

/// A scenario in the orders that its steps can come in (step_orders()). One run of the code an
/// order. Errors: as run(); InputError where the allocator is not PyTorch's own.
TuneWorkload tune_workload(const ScenarioSource& source, unsigned shuffles);
/// A request trace in the order that it has. Requires: `instructions` outlive the workload.
TuneWorkload tune_workload(std::span<const Instruction> instructions,
                           const AllocatorSettings& given, const ReplayOptions& options);

/// A setting that was played in every order.
struct TunedSetting {
  AllocatorSettings settings;
  std::size_t keys = 0;                     ///< how many of those searched it sets
  std::vector<PlayFigures> by_order;        ///< as TuneWorkload::orders
  [[nodiscard]] std::int64_t ooms() const;  ///< over all orders
  [[nodiscard]] std::size_t worst() const;  ///< order with the highest peak, the first of such
  [[nodiscard]] Bytes worst_reserved() const { return by_order[worst()].peak_reserved; }
};

struct TuneResult {
  std::vector<std::string> orders;
  /// Best first: fewest refusals, then least memory in the worst order, then least time in the
  /// driver; without those of which a key changes nothing. The given setting is among them.
  std::vector<TunedSetting> settings;
  /// Under none of the settings tried are all requests served: the figures are those of a device
  /// with room for all, and `best` needs least there. It does not make the workload fit.
  bool is_refused = false;
  std::size_t best = 0;   ///< of those within a hundredth of the first, the one with fewest keys
  std::size_t given = 0;  ///< index of the given setting
  std::size_t tried = 0;  ///< settings played at least in the order as given
  Bytes least = 0;        ///< live bytes at their highest, of all orders: no setting needs less
};

/// Searches: a grid over expandable segments, divisions, split limit and segment size in the order
/// as given; the best of it, each key's best and the given setting in every order; then around the
/// best of these by one key at a time, until nothing near is better. The same result whatever
/// `threads`. Cost: some hundred and fifty replays and some thirty in each further order.
TuneResult tune(const TuneWorkload& workload, unsigned threads = 0);

/// "PYTORCH_ALLOC_CONF=expandable_segments:True": for `env`, or a file of environment variables. Up
/// to PyTorch 2.9 the variable is PYTORCH_CUDA_ALLOC_CONF.
std::string environment_line(const AllocatorSettings& settings);

}  // namespace tidemark
