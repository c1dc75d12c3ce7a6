#include "sim/study/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/event_clock.h"
#include "sim/alloc/make_allocator.h"
#include "sim/base/check.h"
#include "sim/base/parallel.h"
#include "sim/run/simulator.h"

namespace tidemark {

namespace {

/// A trace's clock that also counts what the driver is called for.
class MeteredClock final : public TraceClock {
 public:
  MeteredClock(const EventPolicy& policy, const CostModel& costs)
      : TraceClock(make(policy)), costs_(costs) {}

  void device_call(DeviceCall call, Bytes bytes, StreamId /*stream*/) override {
    ++calls_;
    total_ns_ += driver_call_ns(costs_, driver_call(call), bytes);
  }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] Nanoseconds total_ns() const { return total_ns_; }

 private:
  static TraceClock make(const EventPolicy& policy) {
    if (policy.kind == EventPolicy::Kind::kReady) return TraceClock(TraceClock::Policy::kReady);
    if (policy.kind == EventPolicy::Kind::kLag)
      return TraceClock(TraceClock::Policy::kLag, policy.lag);
    return TraceClock(TraceClock::Policy::kSync);
  }
  static DriverCall driver_call(DeviceCall call) {
    switch (call) {
      case DeviceCall::kMalloc:
      case DeviceCall::kMallocFailed:
        return DriverCall::kMalloc;
      case DeviceCall::kFree:
        return DriverCall::kFree;
      case DeviceCall::kMap:
      case DeviceCall::kMapFailed:
        return DriverCall::kMap;
      case DeviceCall::kUnmap:
        return DriverCall::kUnmap;
    }
    TIDEMARK_CHECK(false, "a device call without a cost");
  }

  CostModel costs_;
  std::uint64_t calls_ = 0;
  Nanoseconds total_ns_ = 0;
};

/// Follows the events for what the statistics do not tell: live bytes, fragmentation, how many
/// ranges are held.
class Follower {
 public:
  explicit Follower(bool ideal) : ideal_(ideal) {}

  /// `live` takes the live bytes after each event; nullptr: nobody asks.
  void follow(std::span<const Event> events, std::vector<Bytes>* live) {
    for (const Event& event : events) {
      follow(event);
      if (live != nullptr) live->push_back(live_);
    }
  }

  void tell(ReplaySummary& summary) const {
    summary.peak_live = peak_live_;
    summary.fragmentation_at_peak = share_at_peak_;
    summary.mean_fragmentation = counted_ == 0 ? 0 : static_cast<std::uint64_t>(shares_ / counted_);
    summary.most_segments = most_segments_;
    summary.ooms = ooms_;
  }

 private:
  void follow(const Event& event) {
    switch (event.action) {
      case Action::kSegmentAlloc:
        hold(event.bytes);
        ++segments_;
        break;
      case Action::kSegmentFree:
        reserved_ -= event.bytes;
        --segments_;
        break;
      case Action::kSegmentMap:
        hold(event.bytes);
        map(event.address, event.bytes);
        break;
      case Action::kSegmentUnmap:
        reserved_ -= event.bytes;
        unmap(event.address, event.bytes);
        break;
      case Action::kAlloc:
        live_ += event.bytes;
        peak_live_ = std::max(peak_live_, live_);
        // The ideal allocator has no device calls: its reserved bytes are the live ones.
        if (ideal_) hold(event.bytes);
        break;
      case Action::kFreeRequested:
        live_ -= event.bytes;
        if (ideal_) reserved_ -= event.bytes;
        break;
      case Action::kOom:
        ++ooms_;
        break;
      case Action::kFreeCompleted:
      case Action::kSnapshot:
        break;
    }
    most_segments_ = std::max(most_segments_, segments_ + ranges_.size());
    if (reserved_ == 0) return;
    const std::uint64_t share = unneeded_share();
    shares_ += share;
    ++counted_;
    // The request that brought the peak about counts as live there: its own event follows the
    // segment's.
    if (at_peak_ && event.action == Action::kAlloc) {
      share_at_peak_ = share;
      at_peak_ = false;
    }
  }

  [[nodiscard]] std::uint64_t unneeded_share() const {
    const Bytes unneeded = reserved_ > live_ ? reserved_ - live_ : 0;
    return static_cast<std::uint64_t>((static_cast<Wide>(unneeded) * 1'000'000U + reserved_ / 2) /
                                      reserved_);
  }
  void hold(Bytes bytes) {
    reserved_ += bytes;
    if (reserved_ <= peak_reserved_) return;
    peak_reserved_ = reserved_;
    share_at_peak_ = unneeded_share();
    at_peak_ = true;
  }
  void map(std::uint64_t address, Bytes bytes) {
    auto next = ranges_.lower_bound(address);
    if (next != ranges_.end() && next->first == address + bytes) {
      bytes += next->second;
      next = ranges_.erase(next);
    }
    if (next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second == address) {
      std::prev(next)->second += bytes;
    } else {
      ranges_.emplace_hint(next, address, bytes);
    }
  }
  void unmap(std::uint64_t address, Bytes bytes) {
    const auto range = std::prev(ranges_.upper_bound(address));
    const std::uint64_t end = range->first + range->second;
    if (range->first == address) {
      ranges_.erase(range);
    } else {
      range->second = address - range->first;
    }
    if (end > address + bytes) ranges_.emplace(address + bytes, end - address - bytes);
  }

  bool ideal_;
  Bytes reserved_ = 0;
  Bytes peak_reserved_ = 0;
  Bytes live_ = 0;
  Bytes peak_live_ = 0;
  bool at_peak_ = false;
  std::uint64_t share_at_peak_ = 0;
  Wide shares_ = 0;
  std::uint64_t counted_ = 0;
  std::uint64_t segments_ = 0;
  std::uint64_t most_segments_ = 0;
  std::map<std::uint64_t, Bytes> ranges_;  ///< mapped, by address, no two touching
  std::int64_t ooms_ = 0;
};

DeviceMemory::Config memory_config(const ReplayOptions& options) {
  return {options.device.total_bytes, options.device.context_bytes, options.other_bytes, 0};
}

ReplayResult replay_timed(Instructions given, const AllocatorSettings& settings,
                          const ReplayOptions& options) {
  // Reports have the trace's labels; the simulator gets none.
  const Program program;
  std::vector<Instruction> unlabelled = given.unpacked();
  for (Instruction& instruction : unlabelled) instruction.label = 0;
  std::span<const Instruction> instructions(unlabelled);
  SimulatorOptions simulated;
  simulated.policy = options.policy;
  simulated.costs = options.costs;
  simulated.keep_live = false;
  SimulatedDevice device;
  device.spec = options.device;
  device.settings = settings;
  device.other_bytes = options.other_bytes;
  device.memory_fraction = options.memory_fraction;
  Simulator simulator(program, {device}, simulated);
  while (!instructions.empty()) {
    const Outcome outcome = simulator.execute(instructions);
    if (!outcome.failed_at) break;
    instructions = instructions.subspan(*outcome.failed_at + 1);
  }
  RunResult run = simulator.finish();
  DeviceResult& told = run.devices.front();
  ReplayResult result;
  result.settings = settings;
  result.statistics = std::move(told.statistics);
  result.events = std::move(told.events);
  if (options.keep_samples) result.samples = std::move(told.samples);
  result.segments = std::move(told.segments);
  if (!told.ooms.empty()) result.first_oom = told.ooms.front().figures;
  result.summary.peak_reserved = told.peak_reserved.bytes;
  result.summary.peak_allocated = told.peak_allocated.bytes;
  result.summary.device_calls = told.device_calls;
  result.summary.device_call_ns = told.device_call_ns;
  result.summary.retries = result.statistics.num_alloc_retries;
  Follower follower(settings.backend == Backend::kIdeal);
  follower.follow(result.events, options.keep_samples ? &result.live : nullptr);
  follower.tell(result.summary);
  if (options.follow) options.follow({0, result.events, result.samples, result.live});
  if (!options.keep_events) {
    result.live = {};
    result.samples = {};
    result.events = {};
    result.segments = {};
  }
  return result;
}

/// Instructions played between two looks at the events.
constexpr std::size_t kChunk = 8192;

/// The highest value over the whole trace, whatever reset_peak did on the way.
class PeakOverResets {
 public:
  void look(const AllocatorStatistics& statistics) {
    reserved_ = std::max(reserved_, statistics.reserved_bytes.all.peak);
    allocated_ = std::max(allocated_, statistics.allocated_bytes.all.peak);
  }
  [[nodiscard]] Bytes reserved() const { return static_cast<Bytes>(reserved_); }
  [[nodiscard]] Bytes allocated() const { return static_cast<Bytes>(allocated_); }

 private:
  std::int64_t reserved_ = 0;
  std::int64_t allocated_ = 0;
};

/// Looks at the events that came since the last look, and forgets those that nobody keeps.
class FinishedEvents {
 public:
  FinishedEvents(const ReplayOptions& options, History& history, std::vector<Bytes>& live,
                 Follower& follower)
      : options_(options), history_(history), live_(live), follower_(follower) {}

  /// `all`: the last one too, whose sample is whole only when the next event or the end comes.
  void take(bool all) {
    const bool sampled = history_.sampling;
    const std::size_t whole = sampled && !all && !history_.events.empty()
                                  ? history_.events.size() - 1
                                  : history_.events.size();
    if (whole == looked_at_) return;
    const std::size_t first = looked_at_;
    const std::size_t count = whole - first;
    const std::span<const Event> events(history_.events.data() + first, count);
    follower_.follow(events, sampled ? &live_ : nullptr);
    if (options_.follow) {
      ReplayedEvents given{forgotten_ + first, events, {}, {}};
      if (sampled) {
        given.samples = {history_.samples.data() + first, count};
        given.live = {live_.data() + first, count};
      }
      options_.follow(given);
    }
    looked_at_ = whole;
    if (!options_.keep_events) forget();
  }

 private:
  void forget() {
    const auto end = static_cast<std::ptrdiff_t>(looked_at_);
    history_.events.erase(history_.events.begin(), history_.events.begin() + end);
    if (history_.sampling) {
      history_.samples.erase(history_.samples.begin(), history_.samples.begin() + end);
      live_.erase(live_.begin(), live_.begin() + end);
    }
    forgotten_ += looked_at_;
    looked_at_ = 0;
  }
  const ReplayOptions& options_;
  History& history_;
  std::vector<Bytes>& live_;
  Follower& follower_;
  std::size_t looked_at_ = 0;
  std::size_t forgotten_ = 0;
};

}  // namespace

ReplayResult replay(Instructions instructions, const AllocatorSettings& settings,
                    const ReplayOptions& options) {
  if (options.policy.kind == EventPolicy::Kind::kSimulated)
    return replay_timed(instructions, settings, options);
  DeviceMemory memory(memory_config(options));
  MeteredClock clock(options.policy, options.costs);
  const std::unique_ptr<Allocator> allocator =
      make_allocator(settings, memory, clock, options.memory_fraction);
  History history;
  history.sampling = options.keep_samples;
  if (options.keep_events) history.events.reserve(instructions.size() + instructions.size() / 2);
  allocator->set_history(&history);

  ReplayResult result;
  result.settings = settings;
  Follower follower(settings.backend == Backend::kIdeal);
  PeakOverResets peaks;
  FinishedEvents finished(options, history, result.live, follower);
  InstructionReader reader(instructions);
  std::size_t done = 0;
  for (std::span<const Instruction> some = reader.next(kChunk); !some.empty();) {
    // Events that nobody keeps are looked at while they are in the cache. Peaks are read before
    // each reset: a trace's own resets must not hide the highest moment.
    std::span<const Instruction> chunk = some;
    const auto reset = std::find_if(chunk.begin(), chunk.end(), [](const Instruction& each) {
      return each.verb == Verb::kResetPeak;
    });
    if (reset == chunk.begin()) {
      peaks.look(allocator->statistics());
      chunk = chunk.first(1);
    } else {
      chunk = chunk.first(static_cast<std::size_t>(reset - chunk.begin()));
    }
    allocator->set_instruction(static_cast<std::uint32_t>(done));
    const std::size_t executed = allocator->execute(chunk);
    done += executed;
    some = some.subspan(executed);
    if (allocator->refused() && !result.first_oom) result.first_oom = allocator->failure();
    finished.take(false);
    if (some.empty()) some = reader.next(kChunk);
  }
  allocator->finish_samples();
  finished.take(true);
  follower.tell(result.summary);
  result.statistics = allocator->statistics();
  peaks.look(result.statistics);
  result.summary.peak_reserved = peaks.reserved();
  result.summary.peak_allocated = peaks.allocated();
  result.summary.device_calls = clock.calls();
  result.summary.device_call_ns = clock.total_ns();
  result.summary.retries = result.statistics.num_alloc_retries;
  if (options.keep_events) {
    result.segments = allocator->segments();
    result.events = std::move(history.events);
    result.samples = std::move(history.samples);
  } else {
    result.live = {};
  }
  return result;
}

std::vector<ReplayResult> replay_all(Instructions instructions,
                                     std::span<const AllocatorSettings> settings,
                                     const ReplayOptions& options, unsigned threads) {
  std::vector<ReplayResult> results(settings.size());
  in_parallel(settings.size(), threads,
              [&](std::size_t i) { results[i] = replay(instructions, settings[i], options); });
  return results;
}

ReplaySpeed measure_replay(std::span<const Instruction> instructions,
                           const AllocatorSettings& settings, const ReplayOptions& options,
                           std::size_t repeats) {
  TIDEMARK_CHECK(repeats > 0, "nothing to measure");
  ReplaySpeed speed;
  speed.events = static_cast<std::uint64_t>(
      std::count_if(instructions.begin(), instructions.end(), [](const Instruction& instruction) {
        return instruction.verb == Verb::kFree ||
               (instruction.verb == Verb::kAlloc && instruction.bytes > 0);
      }));
  for (std::size_t run = 0; run < repeats; ++run) {
    DeviceMemory memory(memory_config(options));
    MeteredClock clock(options.policy, options.costs);
    const std::unique_ptr<Allocator> allocator =
        make_allocator(settings, memory, clock, options.memory_fraction);
    const auto begin = std::chrono::steady_clock::now();
    for (std::span<const Instruction> rest = instructions; !rest.empty();) {
      rest = rest.subspan(allocator->execute(rest));
    }
    const auto end = std::chrono::steady_clock::now();
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
    speed.run_ns.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(1, took)));
  }
  std::vector<std::uint64_t> sorted = speed.run_ns;
  std::sort(sorted.begin(), sorted.end());
  const auto per_second = [&](std::uint64_t ns) {
    return static_cast<std::uint64_t>(static_cast<Wide>(speed.events) * 1'000'000'000U / ns);
  };
  speed.median_events_per_s = per_second(sorted[sorted.size() / 2]);
  speed.best_events_per_s = per_second(sorted.front());
  return speed;
}

}  // namespace tidemark
