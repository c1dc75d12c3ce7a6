#include "sim/study/replay/agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/knob_values.h"
#include "sim/alloc/make_allocator.h"
#include "sim/alloc/settings_parser.h"
#include "sim/timeline/diff.h"

namespace tidemark {

namespace {

constexpr std::size_t kShownBlocks = 8;

/// What a program leaves behind.
struct Simulated {
  AllocatorStatistics statistics;
  std::vector<SegmentInfo> segments;
};

/// A refused request is dead from there on; the program goes on.
void execute_all(Allocator& allocator, std::span<const Instruction> instructions) {
  while (!instructions.empty())
    instructions = instructions.subspan(allocator.execute(instructions));
}

/// Follows the recorded events for what their order tells.
class RecordedEvents {
 public:
  explicit RecordedEvents(const SnapshotState& start) : counter_(held_before(start)) {}

  void take(std::span<const Event> events) {
    for (const Event& event : events) {
      counter_.add(event);
      if (event.action == Action::kOom) {
        refused_ = true;
        goes_on_ = false;
      }
      if (event.action == Action::kAlloc) goes_on_ = refused_;
    }
    count_ += events.size();
  }

  [[nodiscard]] bool goes_on_after_oom() const { return goes_on_; }
  [[nodiscard]] RecordingFigures figures() const {
    const EventTotals totals = counter_.totals();
    RecordingFigures figures;
    figures.events = count_;
    figures.peak_reserved_bytes = totals.peak_reserved_bytes;
    figures.peak_requested_bytes = totals.peak_requested_bytes;
    figures.end_reserved_bytes = totals.end_reserved_bytes;
    figures.ooms = totals.count[static_cast<std::size_t>(Action::kOom)];
    return figures;
  }

 private:
  static HeldBefore held_before(const SnapshotState& start) {
    Bytes requested = 0;
    for (const StateBlock& block : start.blocks) requested += block.requested_bytes;
    return {start.reserved_bytes(), requested};
  }
  EventCounter counter_;
  std::size_t count_ = 0;
  bool refused_ = false;
  bool goes_on_ = false;
};

/// Plays the requests and gives what was recorded and what came about to `recorded` and
/// `comparison`, as it comes.
Simulated simulate(SnapshotRequests& requests, std::uint8_t device,
                   const AllocatorSettings& settings, RecordedEvents& recorded,
                   EventComparison& comparison) {
  const SnapshotProgram& program = requests.program();
  DeviceMemory memory({roomy_capacity(program, program.peak_reserved_bytes), 0, 0, device});
  DeviceMemory::Recording recording;
  for (const RecordedAddresses::Segment& each : program.addresses.segments) {
    recording.segments.push_back({each.bytes, each.address});
  }
  recording.reservations = program.addresses.reservations;
  memory.follow(std::move(recording));
  TraceClock clock;
  const std::unique_ptr<Allocator> allocator = make_allocator(settings, memory, clock);
  InstructionReader start(program.instructions);
  for (std::span<const Instruction> some = start.next(); !some.empty(); some = start.next())
    execute_all(*allocator, some);
  History history;
  allocator->set_history(&history);
  std::vector<Instruction> instructions;
  std::vector<Event> events;
  while (requests.next(instructions, events)) {
    execute_all(*allocator, instructions);
    recorded.take(events);
    comparison.take(events, history.events);
    history.events.clear();
  }
  Simulated simulated{allocator->statistics(), allocator->segments()};
  allocator->set_history(nullptr);
  return simulated;
}

/// A block of the end, in a form that both sides have.
struct EndBlock {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  Bytes requested_bytes = 0;  ///< 0 for inactive blocks, whose left-over figure means nothing
  std::string_view state;
  friend bool operator==(const EndBlock&, const EndBlock&) = default;
};

std::string_view state_name(SnapshotBlockState state) {
  return state == SnapshotBlockState::kActiveAllocated     ? "active_allocated"
         : state == SnapshotBlockState::kActivePendingFree ? "active_pending_free"
                                                           : "inactive";
}

std::vector<EndBlock> recorded_end(const Snapshot& snapshot, std::uint8_t device,
                                   RecordingFigures& figures) {
  std::vector<EndBlock> blocks;
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    ++figures.end_segments;
    for (const SnapshotBlock& block : snapshot.blocks_of(segment)) {
      const bool active = block.state != SnapshotBlockState::kInactive;
      blocks.push_back({block.address, block.bytes, active ? block.requested_bytes : 0,
                        state_name(block.state)});
    }
  }
  figures.end_blocks = blocks.size();
  return blocks;
}

std::vector<EndBlock> simulated_end(const Simulated& simulated) {
  std::vector<EndBlock> blocks;
  for (const SegmentInfo& segment : simulated.segments) {
    for (const BlockInfo& block : segment.blocks) {
      const bool active = block.state != BlockState::kInactive;
      blocks.push_back({block.address, block.bytes, active ? block.requested_bytes : 0,
                        block_state_name(block.state)});
    }
  }
  std::ranges::sort(blocks, {}, &EndBlock::address);
  return blocks;
}

std::string describe(std::string_view side, const EndBlock& block) {
  return fmt::format("{}: 0x{:x} {} bytes {}, requested {}", side, block.address, block.bytes,
                     block.state, block.requested_bytes);
}

void compare_ends(const std::vector<EndBlock>& recorded, const std::vector<EndBlock>& simulated,
                  Agreement& agreement) {
  std::size_t a = 0;
  std::size_t b = 0;
  const auto differ = [&agreement](std::string line) {
    ++agreement.differing_blocks;
    if (agreement.block_differences.size() < kShownBlocks)
      agreement.block_differences.push_back(std::move(line));
  };
  while (a < recorded.size() || b < simulated.size()) {
    const bool has_a = a < recorded.size();
    const bool has_b = b < simulated.size();
    if (has_a && has_b && recorded[a].address == simulated[b].address) {
      if (recorded[a] != simulated[b]) {
        differ(describe("recorded", recorded[a]) + "; " + describe("simulated", simulated[b]));
      }
      ++a;
      ++b;
    } else if (has_a && (!has_b || recorded[a].address < simulated[b].address)) {
      differ(describe("only recorded", recorded[a++]));
    } else {
      differ(describe("only simulated", simulated[b++]));
    }
  }
}

Agreement agree(const Snapshot& snapshot, const AgreementOptions& options, Version version) {
  Agreement agreement;
  agreement.device = options.device;
  agreement.is_run = snapshot.release.has_value();
  agreement.settings = recorded_settings(snapshot, version);
  SnapshotProgramOptions program_options;
  program_options.device = program_options.played_device = options.device;
  program_options.from_event = options.from_event;
  program_options.to_event = options.to_event;
  program_options.exact_start = true;
  program_options.keep_origins = false;
  program_options.rounded = [&agreement](Bytes bytes) {
    return rounded_request(agreement.settings, bytes);
  };
  SnapshotRequests requests(snapshot, program_options);
  const SnapshotProgram& program = requests.program();
  RecordedEvents recorded(program.start);
  EventComparison comparison;
  const Simulated simulated =
      simulate(requests, options.device, agreement.settings, recorded, comparison);
  agreement.warm = program.warm;
  agreement.notes = program.notes;
  agreement.start_blocks_of_unknown_size = program.start_blocks_of_unknown_size;
  agreement.recorded = recorded.figures();
  // Which of several waiting blocks the allocator looks at first depends on streams that a
  // recording does not name.
  agreement.late_frees = program.late_frees;
  agreement.events = comparison.finish(program.late_frees > 0);
  agreement.allocations = comparison.allocations();
  agreement.placed_differently = comparison.placed_differently();
  agreement.goes_on_after_oom = recorded.goes_on_after_oom();

  RecordingFigures& figures = agreement.simulated;
  figures.events = agreement.events.b_events;
  figures.peak_reserved_bytes = static_cast<Bytes>(simulated.statistics.reserved_bytes.all.peak);
  figures.peak_requested_bytes = static_cast<Bytes>(simulated.statistics.requested_bytes.all.peak);
  figures.end_reserved_bytes = static_cast<Bytes>(simulated.statistics.reserved_bytes.all.current);
  figures.ooms = static_cast<std::size_t>(simulated.statistics.num_ooms);
  agreement.compares_end = options.to_event >= snapshot.trace(options.device).size();
  if (agreement.compares_end) {
    const std::vector<EndBlock> recorded_blocks =
        recorded_end(snapshot, options.device, agreement.recorded);
    const std::vector<EndBlock> simulated_blocks = simulated_end(simulated);
    figures.end_segments = simulated.segments.size();
    figures.end_blocks = simulated_blocks.size();
    compare_ends(recorded_blocks, simulated_blocks, agreement);
  }
  return agreement;
}

}  // namespace

Bytes rounded_request(const AllocatorSettings& settings, Bytes bytes) {
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const int power = 63 - __builtin_clzll(bytes);
  const auto bucket = static_cast<std::size_t>(std::clamp(power - 20, 0, 15));
  const std::uint32_t divisions = settings.knobs->roundup_power2_divisions[bucket];
  if (divisions > 1 && bytes > kMinBlockBytes * divisions) {
    const Bytes floor = Bytes{1} << static_cast<unsigned>(power);
    return floor == bytes ? bytes : round_up(bytes, floor / divisions);
  }
  return round_up(bytes, kMinBlockBytes);
}

Bytes roomy_capacity(const SnapshotProgram& program, Bytes peak_reserved_bytes) {
  if (program.capacity_bytes != 0)
    return std::min(program.capacity_bytes, DeviceMemory::kMostBytes);
  constexpr Bytes kRoom = 256 * kGiB;
  return std::clamp(round_up(2 * peak_reserved_bytes, kGiB), kRoom, DeviceMemory::kMostBytes);
}

AllocatorSettings recorded_settings(const Snapshot& snapshot, Version version) {
  std::string text = snapshot.settings.text;
  // The first releases record no settings; that segments were expandable shows all the same.
  const auto expandable = [](const SnapshotSegment& segment) { return segment.expandable; };
  const auto maps = [&snapshot] {
    return EventTrace(snapshot.events, 0, snapshot.events.size()).find(Action::kSegmentMap);
  };
  if (!snapshot.settings.recorded &&
      (std::ranges::any_of(snapshot.segments, expandable) || maps())) {
    text = "expandable_segments:True";
  }
  return parse_settings(snapshot.name + ": allocator_settings", text, version).settings;
}

std::vector<Version> plausible_versions(const Snapshot& snapshot) {
  if (snapshot.release) return {*snapshot.release};
  if (snapshot.keys.host) return {{2, 15}, {2, 13}};
  if (snapshot.keys.pool_id) return {{2, 12}, {2, 13}};
  if (snapshot.keys.user_metadata) return {{2, 11}, {2, 12}, {2, 13}};
  if (snapshot.keys.compile_context) return {{2, 10}, {2, 11}};
  return {{2, 6}, {2, 4}};
}

Agreement agreement_with_recording(const Snapshot& snapshot, const AgreementOptions& options) {
  if (options.version) return agree(snapshot, options, *options.version);
  std::optional<Agreement> best;
  for (const Version version : plausible_versions(snapshot)) {
    std::optional<Agreement> each;
    try {
      each = agree(snapshot, options, version);
    } catch (const InputError&) {
      if (best || version != plausible_versions(snapshot).back()) continue;
      throw;
    }
    if (!best || each->events.differing < best->events.differing) best = std::move(each);
    if (!best->events.first) break;
  }
  return std::move(*best);
}

}  // namespace tidemark
