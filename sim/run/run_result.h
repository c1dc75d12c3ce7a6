#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/alloc/settings.h"
#include "sim/base/device_spec.h"
#include "sim/base/rank.h"
#include "sim/base/sim_time.h"
#include "sim/device/time_error.h"
#include "sim/program/event.h"
#include "sim/program/source.h"
#include "sim/run/track.h"

namespace tidemark {

inline constexpr std::uint32_t kNoEvent = 0xffffffffU;
inline constexpr std::uint32_t kNoPhase = 0xffffffffU;

/// A quantity at the end of a phase and its highest value within it (the value at the phase's begin
/// included).
struct PhaseBytes {
  Bytes current = 0;
  Bytes peak = 0;
  friend bool operator==(const PhaseBytes&, const PhaseBytes&) = default;
};

/// What lies between two marks. The first has no name when requests came before any mark.
struct PhaseResult {
  std::string name;  ///< "forward 0"
  /// Index into DeviceResult::events (of the next event, when it has none).
  std::uint32_t first_event = 0;
  std::uint32_t events = 0;
  Nanoseconds begin_ns = 0;  ///< host clock; 0 unless the run is timed
  Nanoseconds end_ns = 0;
  PhaseBytes allocated;
  PhaseBytes reserved;
  PhaseBytes active;
  PhaseBytes requested;
  Bytes inactive_split_bytes = 0;  ///< at the end
  friend bool operator==(const PhaseResult&, const PhaseResult&) = default;
};

/// torch.cuda.memory_stats() at a moment that the program named with mark().
struct MeasuredPoint {
  std::string name;  ///< "after forward"; names may repeat
  /// Index into DeviceResult::events of the next event, where those are kept.
  std::uint32_t event = 0;
  std::uint32_t phase = kNoPhase;  ///< index into DeviceResult::phases
  Nanoseconds time_ns = 0;         ///< host clock; 0 unless the run is timed
  AllocatorStatistics statistics;  ///< peaks since the program's own last reset
  Bytes device_free_bytes = 0;     ///< what the driver says is free
  friend bool operator==(const MeasuredPoint&, const MeasuredPoint&) = default;
};

/// A request that was live at some moment.
struct LiveBlock {
  RequestId id = kNoRequest;
  Bytes requested_bytes = 0;
  Bytes block_bytes = 0;          ///< what it counts for in allocated_bytes
  std::uint32_t alloc_event = 0;  ///< where it was made: with it go phase, label and time
  LabelId label = 0;
  Category category = Category::kUnknown;
  friend bool operator==(const LiveBlock&, const LiveBlock&) = default;
};

/// The first moment at which a quantity had its highest value.
struct PeakResult {
  Bytes bytes = 0;
  std::uint32_t event = kNoEvent;  ///< index into DeviceResult::events; kNoEvent: never above 0, or
                                   ///< events were not kept
  std::uint32_t phase = kNoPhase;  ///< index into DeviceResult::phases
  LabelId label = 0;               ///< the operator that brought it about
  Nanoseconds time_ns = 0;
  MemorySample sample;  ///< all quantities right after the event
  std::array<Bytes, kCategoryNames.size()>
      by_category{};            ///< block bytes of what was live; they sum to sample.allocated
  std::vector<LiveBlock> live;  ///< largest first, then by id; empty unless RunOptions::keep_live
  friend bool operator==(const PeakResult&, const PeakResult&) = default;
};

/// A request that could not be served.
struct OomResult {
  std::uint64_t instruction = 0;   ///< counted from 0 over the run
  std::uint32_t event = kNoEvent;  ///< its oom event
  std::uint32_t phase = kNoPhase;
  LabelId label = 0;
  std::string message;  ///< PyTorch's text, the process number written as PID
  OutOfMemory figures;
};

/// Turns of a loop that were not simulated one by one: the whole state was the same before and
/// after `repeat`'s pattern.
struct RepeatResult {
  Repeat repeat;
  std::uint64_t instructions = 0;     ///< left out in all, as the other amounts
  std::vector<std::uint64_t> events;  ///< one a device
  /// Index into DeviceResult::events before which they would stand; one a device.
  std::vector<std::uint32_t> before_event;
  Nanoseconds duration_ns = 0;  ///< 0 unless the run is timed
  friend bool operator==(const RepeatResult&, const RepeatResult&) = default;
};

/// What happened on one GPU.
struct DeviceResult {
  DeviceSpec spec;
  AllocatorSettings settings;
  std::vector<Event> events;  ///< empty unless RunOptions::keep_events
  /// One an event; or none, where a run without RunOptions::keep_samples can do so (levels.h).
  std::vector<MemorySample> samples;
  std::vector<LabelId> labels;        ///< one an event: the operator whose request brought it about
  std::vector<Nanoseconds> times_ns;  ///< one an event, host clock; empty unless the run is timed
  std::vector<PhaseResult> phases;    ///< in order; together they hold every event
  std::vector<MeasuredPoint> points;  ///< in order
  PeakResult peak_allocated;
  PeakResult peak_reserved;
  std::vector<OomResult> ooms;
  AllocatorStatistics statistics;     ///< torch.cuda.memory_stats() at the end
  std::vector<SegmentInfo> segments;  ///< torch.cuda.memory_snapshot() at the end
  Bytes device_free_bytes = 0;        ///< what the driver says is free at the end
  /// CudaMalloc, cudaFree, map and unmap calls, failed ones included.
  std::uint64_t device_calls = 0;
  Nanoseconds device_call_ns = 0;  ///< what they take by the cost model, waits not included
};

/// The host's memory right after a change of it.
struct HostSample {
  std::uint32_t event = 0;         ///< index into the first device's events of the next event there
  std::uint32_t phase = kNoPhase;  ///< index into the first device's phases
  LabelId label = 0;               ///< who changed it
  Nanoseconds time_ns = 0;         ///< host clock; 0 unless the run is timed
  Bytes pageable = 0;              ///< what live storages asked PyTorch's CPU allocator for
  Bytes pinned_in_use = 0;
  Bytes pinned_held = 0;
  /// What the program has of the host's memory.
  [[nodiscard]] Bytes held() const { return pageable + pinned_held; }
  friend bool operator==(const HostSample&, const HostSample&) = default;
};

/// The host's memory over a run: of tensors alone, Python's own objects and libraries not among it.
struct HostResult {
  std::vector<HostSample> samples;  ///< in order; empty unless RunOptions::keep_events
  HostSample peak;                  ///< the first moment with the highest held()
  Bytes pageable_bytes = 0;         ///< at the end
  PinnedStatistics pinned;          ///< at the end
};

/// An installed package of which a run read files.
struct PackageUse {
  std::string name;         ///< as it is imported: "torchvision"
  std::string version;      ///< by its *.dist-info; empty: its folder does not say
  std::size_t modules = 0;  ///< how many of its files were read
};

/// A condition of the program's that depends on a value nobody knows, and what it was taken for.
struct AssumptionResult {
  std::string file;
  std::uint32_t line = 0;  ///< from 1, as the file is read
  std::uint32_t column = 0;
  std::string text;        ///< the condition's
  bool direction = false;  ///< what it was taken to be
  bool is_check = false;   ///< a check for faults, taken to find none
  bool is_given = false;   ///< the user said so
  std::uint64_t times = 0;
  friend bool operator==(const AssumptionResult&, const AssumptionResult&) = default;
};

/// What a run rests on besides such conditions: chance that was given a fixed seed, a data set
/// whose files were not read.
struct NoteResult {
  std::string file;
  std::uint32_t line = 0;  ///< from 1, as the file is read; 0: no line has it
  std::uint32_t column = 0;
  std::string text;  ///< one sentence without its full stop
  std::uint64_t times = 0;
  friend bool operator==(const NoteResult&, const NoteResult&) = default;
};

/// One of the ways in which `assume` leaves open what a run rests on, and what it comes to.
struct AlternativeResult {
  std::vector<std::string> assume;  ///< "train.py:12=true"
  std::string error;                ///< the program failed by itself; else empty
  Bytes peak_allocated = 0;         ///< of the device with the most
  Bytes peak_reserved = 0;
  std::uint64_t refused = 0;  ///< requests
  bool ended_by_oom = false;
  bool is_shown = false;  ///< the worst: the one that the rest of the result is about
  friend bool operator==(const AlternativeResult&, const AlternativeResult&) = default;
};

/// Ranks of a job that did the same, event for event, and what it comes to.
struct RankResult {
  std::vector<int> ranks;  ///< ascending
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;
  std::uint64_t refused = 0;  ///< requests, of each of them
  bool ended_by_oom = false;
  friend bool operator==(const RankResult&, const RankResult&) = default;
};

/// What a rank does with a stretch of time.
enum class RankState : std::uint8_t {
  kIdle,       ///< its host has queued nothing, or is held up
  kComputing,  ///< some stream has kernels under way
  kMoving,     ///< no kernel, a transfer whose ranks are all there
  kLagging,    ///< it waits in a collective for slower ranks
  kBubble,     ///< it waits in a transfer of two for its peer: a pipeline's bubble
};
inline constexpr std::array<std::string_view, 5> kRankStateNames{"idle", "computing", "moving",
                                                                 "lagging", "bubble"};

/// A stretch of it, of a rank.
struct RankSpan {
  Nanoseconds begin_ns = 0;
  Nanoseconds end_ns = 0;
  RankState state = RankState::kIdle;
  Bytes allocated = 0;      ///< when the host queued what begins last before it
  std::uint32_t phase = 0;  ///< index into RankTimes::phases
  friend bool operator==(const RankSpan&, const RankSpan&) = default;
};

/// The times of ranks that wait for each other, over RankTimes of JobTimes::window.
struct RankTimes {
  std::vector<int> ranks;  ///< that have the same times, ascending
  Nanoseconds begin_ns = 0;
  Nanoseconds end_ns = 0;
  std::array<Nanoseconds, kRankStateNames.size()> by_state{};  ///< they sum to end - begin
  Nanoseconds longest_ns = 0;                                  ///< the longest bubble; 0: none
  std::string longest;  ///< "receive from rank 2, train.py:41"
  std::vector<std::string> phases;
  std::vector<RankSpan> spans;  ///< of the whole run, in order, without gaps
};

/// What a job's ranks do over time, once each waits for what the others send. Plain data.
struct JobTimes {
  std::string window;              ///< what is counted: "step 2"; empty: the whole run
  std::vector<RankTimes> ranks;    ///< by their first
  std::vector<std::string> stuck;  ///< ranks that wait for each other for ever: a line each
  std::string missing;             ///< why there is nothing else; empty: there is
  std::vector<std::string> links;  ///< what transfers rest on
  bool has_pipeline = false;       ///< ranks send to each other in twos
  [[nodiscard]] Nanoseconds of(std::size_t rank, RankState state) const {
    return ranks[rank].by_state[static_cast<std::size_t>(state)];
  }
};

/// What a run rests on. Plain data.
struct RunBasis {
  Version pytorch;  ///< the release that ran it
  /// Operators that the program called, of which it is not yet known whether they ask what that
  /// release does; by name.
  std::vector<std::string> unproven_operators;
  std::vector<AssumptionResult> assumptions;    ///< in the order in which they were first made
  std::vector<NoteResult> notes;                ///< in the order in which they were first made
  std::vector<AlternativeResult> alternatives;  ///< in order; empty where there is one way only
  std::optional<Rank> rank = {};                ///< the process that it is, of a job
  /// The ranks that were run, worst first; `rank` is the first of the first. Empty where one was
  /// asked for.
  std::vector<RankResult> ranks = {};
  std::optional<JobTimes> times = {};  ///< only with RunOptions::keep_waits, of several ranks
};

/// All that a run tells. Plain data.
///
/// Where `repeats` is not empty, the devices' events, phases and points (and what is beside them)
/// are those of the turns that were simulated; everything else is of the whole run.
struct RunResult : RunBasis {
  std::vector<DeviceResult> devices;
  HostResult host;
  Program program;                 ///< texts of the labels, category of each request
  std::uint64_t instructions = 0;  ///< executed, those that failed included
  Nanoseconds end_ns = 0;          ///< when the last work ends; 0 unless the run is timed
  bool is_timed = false;
  TimeBand time_band;                  ///< how far the times may err
  bool took_default_pytorch = false;   ///< the scenario names no release
  bool ended_by_oom = false;           ///< the program did not handle its last failure
  std::string printed;                 ///< what the model code printed
  std::vector<PackageUse> packages;    ///< that it read, by name
  std::vector<std::string> own_files;  ///< of the user's that it imported, lexically normal
  std::vector<RepeatResult> repeats;   ///< in order; empty unless RunOptions::leave_out_repeats
  std::optional<RankTrack> track;      ///< what a job's times are made of; only while they are
};

/// All events of a device, those left out included.
std::uint64_t total_events(const RunResult& result, std::size_t device);

/// Index into device.phases of the phase that `event` lies in. Requires: event <
/// device.events.size().
std::uint32_t phase_of(const DeviceResult& device, std::uint32_t event);

/// What the device had free while the allocator held its most.
Bytes spare_bytes(const DeviceResult& device);

/// What was live right after `event`: requested and not yet dropped by its owner. Largest block
/// first, then by id. Cost: linear in the events up to `event`.
std::vector<LiveBlock> live_at(const DeviceResult& device, const Program& program,
                               std::uint32_t event);

}  // namespace tidemark
