#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/alloc/settings.h"
#include "sim/base/device_spec.h"
#include "sim/base/sim_time.h"
#include "sim/device/cost_model.h"
#include "sim/program/event.h"
#include "sim/program/instruction.h"
#include "sim/program/instruction_log.h"
#include "sim/run/event_policy.h"

namespace tidemark {

/// Some of a replay's events, in order.
struct ReplayedEvents {
  std::size_t first = 0;  ///< how many came before
  std::span<const Event> events;
  std::span<const MemorySample> samples;  ///< one an event, when they are kept
  std::span<const Bytes> live;            ///< one an event, when samples are kept: see ReplayResult
};

/// What a request trace is played on.
struct ReplayOptions {
  DeviceSpec device;      ///< total_bytes and context_bytes count; rates only for simulated time
  Bytes other_bytes = 0;  ///< taken by other processes
  std::optional<double> memory_fraction;  ///< set_per_process_memory_fraction() before the first
                                          ///< request. Range: [0, 1]
  EventPolicy policy{EventPolicy::Kind::kSync, 0};
  CostModel costs;
  bool keep_events = false;   ///< ReplayResult::events and segments
  bool keep_samples = false;  ///< ReplayResult::samples and live; needs keep_events or `follow`
  /// Where set, is given every event once it is whole; nothing is kept for it. Events of the
  /// policy `simulated` come at the end.
  std::function<void(const ReplayedEvents&)> follow;
};

/// One row of a comparison of settings. Fragmentation is measured against `ideal`, the bytes that
/// owners hold: the share of what is reserved that they do not need, in millionths.
struct ReplaySummary {
  Bytes peak_reserved = 0;
  Bytes peak_allocated = 0;                 ///< block bytes, as torch.cuda.max_memory_allocated()
  Bytes peak_live = 0;                      ///< of `ideal`: requested bytes
  std::uint64_t fragmentation_at_peak = 0;  ///< at the first moment of peak_reserved
  std::uint64_t mean_fragmentation = 0;     ///< over the events with memory reserved
  /// CudaMalloc segments and contiguous mapped ranges, at their highest.
  std::uint64_t most_segments = 0;
  /// CudaMalloc, cudaFree, map and unmap calls, failed ones included.
  std::uint64_t device_calls = 0;
  Nanoseconds device_call_ns = 0;  ///< what they take by the cost model
  std::int64_t retries = 0;        ///< num_alloc_retries
  std::int64_t ooms = 0;           ///< requests that were refused
  friend bool operator==(const ReplaySummary&, const ReplaySummary&) = default;
};

struct ReplayResult {
  AllocatorSettings settings;
  ReplaySummary summary;
  AllocatorStatistics statistics;
  std::optional<OutOfMemory> first_oom;
  std::vector<Event> events;
  std::vector<MemorySample> samples;  ///< one an event
  std::vector<Bytes> live;            ///< one an event: the bound of `ideal`
  std::vector<SegmentInfo> segments;  ///< at the end
};

/// Plays a request trace through the allocator that `settings` names. A refused request's ID is
/// dead from there on, and the trace goes on (docs/formats/tmt.md). Requires: IDs of live
/// requests differ; options.device holds its context and the others. Errors: InputError where the
/// settings and the trace cannot go together (see CachingAllocator::allocate). Cost: linear in the
/// instructions; with `simulated` events the engine's cost comes on top.
ReplayResult replay(Instructions instructions, const AllocatorSettings& settings,
                    const ReplayOptions& options);

/// The same for several settings, in their order whatever the number of threads. `threads` 0: one a
/// processor.
std::vector<ReplayResult> replay_all(Instructions instructions,
                                     std::span<const AllocatorSettings> settings,
                                     const ReplayOptions& options, unsigned threads = 0);

/// How fast the allocator alone is: no history, no clock, the trace in memory. Wall time: differs
/// from run to run.
struct ReplaySpeed {
  std::uint64_t events = 0;  ///< requests and frees, a run
  std::vector<std::uint64_t> run_ns;
  std::uint64_t median_events_per_s = 0;
  std::uint64_t best_events_per_s = 0;
};
/// Requires: repeats > 0. Policy `simulated` counts as `sync` here.
ReplaySpeed measure_replay(std::span<const Instruction> instructions,
                           const AllocatorSettings& settings, const ReplayOptions& options,
                           std::size_t repeats);

}  // namespace tidemark
