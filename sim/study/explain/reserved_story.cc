#include "sim/study/explain/reserved_story.h"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/alloc/settings_parser.h"
#include "sim/study/explain/moment.h"
#include "sim/study/replay/recording_range.h"

namespace tidemark {
namespace {

/// An instruction that made reserved memory grow.
struct Grown {
  std::size_t at = 0;  ///< in the program
  Bytes bytes = 0;
  Bytes free_bytes = 0;     ///< in the cache right before
  Instruction instruction;  ///< the one at `at`
  [[nodiscard]] bool is_avoidable() const { return free_bytes >= instruction.bytes; }
};

/// Executes what is read next, up to instruction `until`.
void execute_until(Allocator& allocator, InstructionReader& reader, std::size_t until) {
  while (reader.at() < until) {
    for (auto some = reader.next(until - reader.at()); !some.empty();)
      some = some.subspan(allocator.execute(some));
  }
}

/// Every growth of the recorded part.
std::vector<Grown> growths_of(const SnapshotProgram& program, const AllocatorSettings& settings) {
  const Bytes capacity = roomy_capacity(program, reserved_in_all(program));
  const auto ask = [&](Allocator& allocator, const Refusals&) {
    std::vector<Grown> grown;
    History history;
    allocator.set_history(&history);
    std::size_t at = program.start_instructions;
    InstructionReader(program.instructions, at).for_each([&](const Instruction& instruction) {
      const bool asks = instruction.verb == Verb::kAlloc;
      MemorySample before;
      if (asks) before = allocator.sample();
      history.events.clear();
      allocator.execute(std::span(&instruction, 1));
      const std::size_t executed = at++;
      if (!asks) return;
      Bytes bytes = 0;
      for (const Event& event : history.events) {
        if (event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap)
          bytes += event.bytes;
      }
      if (bytes > 0)
        grown.push_back({executed, bytes, before.reserved - before.active, instruction});
    });
    allocator.set_history(nullptr);
    return grown;
  };
  return simulated(program, settings, capacity, true, ask, program.start_instructions);
}

Unserved why_unserved(const SegmentInfo& segment, const BlockInfo& block,
                      const Instruction& request, Bytes rounded) {
  if (segment.stream != request.stream) return Unserved::kOtherStream;
  const bool is_small = rounded <= kSmallMaxBytes;
  const bool is_private = segment.pool != PoolKey{};
  if ((segment.kind == PoolKind::kSmall) != is_small || is_private != (request.pool != 0))
    return Unserved::kOtherPool;
  return block.bytes < rounded ? Unserved::kTooSmall : Unserved::kUnsplit;
}

/// What lay free before each of `chosen`, ascending.
std::vector<ReservedGrowth> told_of(const Snapshot& snapshot, std::uint8_t device,
                                    const SnapshotProgram& program,
                                    const AllocatorSettings& settings,
                                    const std::vector<Grown>& chosen) {
  const std::vector<std::size_t> steps = recording_steps(snapshot, device).first_events;
  const EventTrace trace = snapshot.trace(device);
  return simulated(
      program, settings, roomy_capacity(program, reserved_in_all(program)), true,
      [&](Allocator& allocator, const Refusals&) {
        std::vector<ReservedGrowth> told;
        InstructionReader reader(program.instructions, program.start_instructions);
        for (const Grown& each : chosen) {
          execute_until(allocator, reader, each.at);
          const Instruction& request = each.instruction;
          const RequestOrigin origin = program.origins.at(request.id, trace);
          const Bytes rounded = rounded_request(settings, request.bytes);
          ReservedGrowth growth;
          growth.event = origin.event;
          growth.step = step_of(steps, origin.event);
          growth.maker = stack_summary(snapshot, origin.stack);
          growth.request_bytes = request.bytes;
          growth.grown_bytes = each.bytes;
          for (const SegmentInfo& segment : allocator.segments()) {
            for (const BlockInfo& block : segment.blocks) {
              if (block.state != BlockState::kInactive) continue;
              const Unserved why = why_unserved(segment, block, request, rounded);
              growth.free_bytes += block.bytes;
              growth.unserved[static_cast<std::size_t>(why)] += block.bytes;
              if (why == Unserved::kTooSmall)
                growth.largest_bytes = std::max(growth.largest_bytes, block.bytes);
            }
          }
          told.push_back(std::move(growth));
        }
        return told;
      },
      program.start_instructions);
}

Bytes peak_of(const SnapshotProgram& program, const AllocatorSettings& settings, Bytes capacity) {
  return simulated(program, settings, capacity, false, [](Allocator& allocator, const Refusals&) {
    return static_cast<Bytes>(allocator.statistics().reserved_bytes.all.peak);
  });
}

/// The peak with an empty_cache() before each of `chosen`, ascending.
Bytes emptied_peak_of(const SnapshotProgram& program, const AllocatorSettings& settings,
                      const std::vector<Grown>& chosen) {
  const Instruction empty_cache{0, kNoRequest, 0, 0, 0, Verb::kEmptyCache, 0};
  return simulated(
      program, settings, roomy_capacity(program, reserved_in_all(program)), true,
      [&](Allocator& allocator, const Refusals&) {
        InstructionReader reader(program.instructions);
        for (const Grown& each : chosen) {
          execute_until(allocator, reader, each.at);
          allocator.execute(std::span(&empty_cache, 1));
        }
        execute_until(allocator, reader, program.instructions.size());
        return static_cast<Bytes>(allocator.statistics().reserved_bytes.all.peak);
      },
      0);
}

/// Fills in the setting of the grid under which the recorded requests reserve least.
void try_settings(const Snapshot& snapshot, std::uint8_t device, const AllocatorSettings& own,
                  ReservedStory& story) {
  const std::size_t end = snapshot.trace(device).size();
  const SnapshotProgram program = program_until(snapshot, device, end, false, own);
  // No setting is to be refused what the recording was not: room for all.
  const Bytes capacity = 2 * reserved_in_all(program) + kGiB;
  story.best_setting = own.text;
  story.best_peak_bytes = peak_of(program, own, capacity);
  for (const std::string& conf : settings_grid(own.version)) {
    if (conf == own.text) continue;
    const AllocatorSettings settings = parse_settings("grid", conf, own.version).settings;
    const Bytes peak = peak_of(program, settings, capacity);
    ++story.settings_tried;
    if (peak >= story.best_peak_bytes) continue;
    story.best_setting = conf;
    story.best_peak_bytes = peak;
  }
}

ReservedStory story_of(const Snapshot& snapshot, std::uint8_t device, const MemoryPicture& at_peak,
                       const AllocatorSettings& settings) {
  const std::size_t end = snapshot.trace(device).size();
  const SnapshotProgram program = program_until(snapshot, device, end, true, settings);
  ReservedStory story;
  story.peak_bytes = at_peak.reserved_bytes;
  std::vector<Grown> chosen;
  for (const Grown& each : growths_of(program, settings)) {
    if (program.origins.event(each.instruction.id) > at_peak.event) break;
    ++story.growths;
    if (!each.is_avoidable()) continue;
    ++story.avoidable;
    story.avoidable_bytes += each.bytes;
    chosen.push_back(each);
  }
  std::ranges::stable_sort(chosen, std::greater<>(), &Grown::bytes);
  if (chosen.size() > kMostGrowths) chosen.resize(kMostGrowths);
  std::ranges::sort(chosen, {}, &Grown::at);
  story.largest = told_of(snapshot, device, program, settings, chosen);
  if (!chosen.empty()) {
    story.emptied_peak_bytes = emptied_peak_of(program, settings, chosen);
  }
  return story;
}

}  // namespace

PeakPictures peaks_of(const Snapshot& snapshot, std::uint8_t device, Version version) {
  const auto picture = [&](std::string_view at) {
    return picture_at(snapshot, device, picture_moment(snapshot, device, at), version);
  };
  PeakPictures peaks{picture("allocated"), picture("peak"), {}};
  const AllocatorSettings settings = recorded_settings(snapshot, version);
  peaks.story = story_of(snapshot, device, peaks.reserved, settings);
  try_settings(snapshot, device, settings, peaks.story);
  return peaks;
}

}  // namespace tidemark
