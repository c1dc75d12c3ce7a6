#include "sim/study/replay/agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/knob_values.h"
#include "sim/alloc/make_allocator.h"
#include "sim/alloc/settings_parser.h"

namespace tidemark {

namespace {

constexpr std::size_t kShownBlocks = 8;
constexpr std::size_t kShownEvents = 4;

RecordingFigures figures_of(const SnapshotProgram& program) {
  RecordingFigures figures;
  const Bytes reserved = program.start.reserved_bytes();
  Bytes requested = 0;
  for (const StateBlock& block : program.start.blocks) requested += block.requested_bytes;
  const EventTotals totals = event_totals(program.recorded, {reserved, requested});
  figures.events = program.recorded.size();
  figures.peak_reserved_bytes = totals.peak_reserved_bytes;
  figures.peak_requested_bytes = totals.peak_requested_bytes;
  figures.end_reserved_bytes = totals.end_reserved_bytes;
  figures.ooms = totals.count[static_cast<std::size_t>(Action::kOom)];
  return figures;
}

/// What a program leaves behind.
struct Simulated {
  /// Events that are as the recorded ones and are not kept; `events` follow them.
  std::size_t as_recorded = 0;
  std::vector<Event> events;
  [[nodiscard]] std::size_t event_count() const { return as_recorded + events.size(); }
  AllocatorStatistics statistics;
  std::vector<SegmentInfo> segments;
};

/// A refused request is dead from there on; the program goes on.
void execute_all(Allocator& allocator, std::span<const Instruction> instructions) {
  while (!instructions.empty())
    instructions = instructions.subspan(allocator.execute(instructions));
}

/// Events are taken out of `history` as far as they are as the recorded ones, and all of them after
/// the first that is not.
void take_events(const std::vector<Event>& recorded, History& history, Simulated& simulated) {
  const DiffOptions all_columns;
  auto next = history.events.begin();
  while (simulated.events.empty() && next != history.events.end() &&
         simulated.as_recorded < recorded.size() &&
         !compare_events(recorded[simulated.as_recorded], *next, all_columns).any()) {
    ++simulated.as_recorded;
    ++next;
  }
  simulated.events.insert(simulated.events.end(), next, history.events.end());
  history.events.clear();
}

Simulated simulate(const SnapshotProgram& program, std::uint8_t device,
                   const AllocatorSettings& settings, Bytes capacity) {
  DeviceMemory memory({capacity, 0, 0, device});
  DeviceMemory::Recording recording;
  for (const RecordedAddresses::Segment& each : program.addresses.segments) {
    recording.segments.push_back({each.bytes, each.address});
  }
  recording.reservations = program.addresses.reservations;
  memory.follow(std::move(recording));
  TraceClock clock;
  const std::unique_ptr<Allocator> allocator = make_allocator(settings, memory, clock);
  const std::span<const Instruction> all(program.instructions);
  execute_all(*allocator, all.first(program.start_instructions));
  Simulated simulated;
  History history;
  allocator->set_history(&history);
  constexpr std::size_t kChunk = 8192;
  for (std::size_t at = program.start_instructions; at < all.size(); at += kChunk) {
    execute_all(*allocator, all.subspan(at, std::min(kChunk, all.size() - at)));
    take_events(program.recorded, history, simulated);
  }
  simulated.statistics = allocator->statistics();
  simulated.segments = allocator->segments();
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

std::vector<Event> first_few(const std::vector<Event>& events, std::size_t first) {
  const auto at = [&](std::size_t i) {
    return events.begin() + static_cast<std::ptrdiff_t>(std::min(i, events.size()));
  };
  return {at(first), at(first + kShownEvents)};
}

bool goes_on_after_oom(const std::vector<Event>& events) {
  const auto last_refused =
      std::ranges::find(events.rbegin(), events.rend(), Action::kOom, &Event::action);
  return last_refused != events.rend() &&
         std::ranges::find(events.rbegin(), last_refused, Action::kAlloc, &Event::action) !=
             last_refused;
}

Agreement agree(const Snapshot& snapshot, const AgreementOptions& options, Version version) {
  Agreement agreement;
  agreement.device = options.device;
  agreement.settings = recorded_settings(snapshot, version);
  SnapshotProgramOptions program_options;
  program_options.device = options.device;
  program_options.from_event = options.from_event;
  program_options.to_event = options.to_event;
  program_options.exact_start = true;
  program_options.rounded = [&agreement](Bytes bytes) {
    return rounded_request(agreement.settings, bytes);
  };
  SnapshotProgram program = make_snapshot_program(snapshot, program_options);
  agreement.warm = program.warm;
  agreement.notes = program.notes;
  agreement.start_blocks_of_unknown_size = program.start_blocks_of_unknown_size;
  agreement.recorded = figures_of(program);
  const Bytes capacity = roomy_capacity(program, agreement.recorded.peak_reserved_bytes);
  Simulated simulated = simulate(program, options.device, agreement.settings, capacity);
  program.instructions = {};

  RecordingFigures& figures = agreement.simulated;
  figures.events = simulated.event_count();
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
  std::vector<Event> recorded = std::move(program.recorded);
  // Which of several waiting blocks the allocator looks at first depends on streams that a
  // recording does not name.
  agreement.late_frees = program.late_frees;
  DiffOptions diff;
  diff.unordered_frees = program.late_frees > 0;
  std::vector<Event> played;
  const bool is_equal = simulated.events.empty() && simulated.as_recorded == recorded.size();
  if (is_equal && !options.keep_events) {
    agreement.events.a_events = agreement.events.b_events = recorded.size();
    agreement.events.a = agreement.events.b = event_totals(recorded);
  } else {
    played = std::move(simulated.events);
    played.insert(played.begin(), recorded.begin(),
                  recorded.begin() + static_cast<std::ptrdiff_t>(simulated.as_recorded));
    agreement.events = diff_events(recorded, played, diff);
  }
  agreement.goes_on_after_oom = goes_on_after_oom(recorded);
  if (agreement.events.first) {
    agreement.recorded_from_first = first_few(recorded, *agreement.events.first);
    agreement.simulated_from_first = first_few(played, *agreement.events.first);
  }
  const std::size_t common =
      played.empty() ? simulated.as_recorded : std::min(recorded.size(), played.size());
  for (std::size_t i = 0; i < common; ++i) {
    const Event& a = recorded[i];
    if (a.action != Action::kAlloc) continue;
    ++agreement.allocations;
    if (i < simulated.as_recorded) continue;
    const Event& b = played[i];
    if (b.action != Action::kAlloc || b.address != a.address) ++agreement.placed_differently;
  }
  if (options.keep_events) {
    agreement.recorded_events = std::move(recorded);
    agreement.simulated_events = std::move(played);
    agreement.origins = std::move(program.origins);
  } else {
    agreement.events.a_order = {};
    agreement.events.b_order = {};
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
  const auto maps = [](const SnapshotEvent& event) { return event.action == Action::kSegmentMap; };
  if (!snapshot.settings.recorded && (std::ranges::any_of(snapshot.segments, expandable) ||
                                      std::ranges::any_of(snapshot.events, maps))) {
    text = "expandable_segments:True";
  }
  return parse_settings(snapshot.name + ": allocator_settings", text, version).settings;
}

std::vector<Version> plausible_versions(const Snapshot& snapshot) {
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
    if (best->events.equal()) break;
  }
  return std::move(*best);
}

}  // namespace tidemark
