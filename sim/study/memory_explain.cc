#include "sim/study/memory_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/make_allocator.h"
#include "sim/alloc/settings_parser.h"
#include "sim/format/address_map.h"
#include "sim/format/snapshot_program.h"
#include "sim/study/recording_range.h"

namespace tidemark {

namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Purpose by_phase(std::string_view phase) {
  if (phase.starts_with("optimizer")) return Purpose::kOptimizer;
  if (phase.starts_with("backward")) return Purpose::kBackward;
  if (phase.starts_with("forward")) return Purpose::kForward;
  if (phase.starts_with("model")) return Purpose::kParameters;
  if (phase.starts_with("inputs")) return Purpose::kInputs;
  return Purpose::kUnknown;
}

/// Runs a program and hands the allocator over for questions.
template <class Ask>
auto simulated(const SnapshotProgram& program, const AllocatorSettings& settings, Bytes capacity,
               bool recorded_places, Ask ask) {
  DeviceMemory memory({capacity, 0, 0, 0});
  if (recorded_places) {
    DeviceMemory::Recording recording;
    for (const RecordedAddresses::Segment& each : program.addresses.segments) {
      recording.segments.push_back({each.bytes, each.address});
    }
    recording.reservations = program.addresses.reservations;
    memory.follow(std::move(recording));
  }
  TraceClock clock;
  const std::unique_ptr<Allocator> allocator = make_allocator(settings, memory, clock);
  std::size_t refusals = 0;
  for (std::span<const Instruction> rest(program.instructions); !rest.empty();) {
    rest = rest.subspan(allocator->execute(rest));
    if (allocator->refused()) ++refusals;
  }
  return ask(*allocator, refusals);
}

SnapshotProgram program_until(const Snapshot& snapshot, std::uint8_t device, std::size_t event,
                              bool exact, const AllocatorSettings& settings) {
  SnapshotProgramOptions options;
  options.device = device;
  options.to_event = event + 1;
  options.exact_start = exact;
  options.repeat_reclaims = exact;
  options.rounded = [&settings](Bytes bytes) { return rounded_request(settings, bytes); };
  SnapshotProgram program = make_snapshot_program(snapshot, options);
  for (Instruction& each : program.instructions) each.device = 0;
  return program;
}

std::size_t step_of(const std::vector<std::size_t>& steps, std::size_t event) {
  return static_cast<std::size_t>(std::ranges::upper_bound(steps, event) - steps.begin()) - 1;
}

HeldBlock held_block(const Snapshot& snapshot, std::uint8_t device, const SnapshotProgram& program,
                     const BlockInfo& block, const std::vector<std::size_t>& steps) {
  HeldBlock held{
      block.address, block.bytes, block.requested_bytes, {}, Purpose::kUnknown, std::nullopt, 0};
  if (block.id >= program.origins.size()) return held;
  const RequestOrigin& origin = program.origins[block.id];
  held.maker = stack_summary(snapshot, origin.stack);
  TextId phase = 0;
  if (origin.event != RequestOrigin::kNoEvent) {
    held.event = origin.event;
    held.step = step_of(steps, origin.event);
    phase = snapshot.trace(device)[origin.event].user_metadata;
  }
  held.purpose = purpose_of(snapshot, origin.stack, phase);
  return held;
}

void note_pins(MemoryPicture& picture) {
  auto block = picture.live.begin();
  for (const SegmentInfo& segment : picture.segments) {
    PinnedSegment pinned{
        segment.address, segment.total_bytes, segment.total_bytes - segment.active_bytes, {}};
    for (; block != picture.live.end() && block->address < segment.address + segment.total_bytes;
         ++block) {
      if (block->address >= segment.address) pinned.holders.push_back(*block);
    }
    if (pinned.holders.empty() || pinned.free_bytes * 2 < pinned.total_bytes) continue;
    std::ranges::stable_sort(pinned.holders, {}, &HeldBlock::bytes);
    picture.pinned.push_back(std::move(pinned));
  }
  std::ranges::stable_sort(picture.pinned, std::greater<>(), &PinnedSegment::free_bytes);
}

void note_sites(MemoryPicture& picture) {
  std::map<std::pair<std::string, Purpose>, CallSite> sites;
  for (const HeldBlock& block : picture.live) {
    picture.by_purpose[static_cast<std::size_t>(block.purpose)] += block.bytes;
    CallSite& site = sites[{block.maker, block.purpose}];
    site.maker = block.maker;
    site.purpose = block.purpose;
    site.bytes += block.bytes;
    ++site.blocks;
  }
  for (auto& [key, site] : sites) picture.sites.push_back(std::move(site));
  std::ranges::stable_sort(picture.sites, std::greater<>(), &CallSite::bytes);
}

OomAnswer oom_answer(const Snapshot& snapshot, std::uint8_t device, const MemoryPicture& picture,
                     const AllocatorSettings& settings) {
  const SnapshotEvent& refused = snapshot.trace(device)[picture.event];
  OomAnswer answer;
  answer.event = picture.event;
  answer.rounded_bytes = refused.bytes;
  answer.capacity_bytes = picture.reserved_bytes + refused.address;
  answer.live_bytes = picture.requested_bytes;
  answer.cached_free_bytes = picture.reserved_bytes - picture.active_bytes;
  answer.largest_free_bytes = picture.largest_free_bytes;
  if (answer.live_bytes + refused.bytes > answer.capacity_bytes) {
    answer.why = OomClass::kTooMuchLive;
  } else if (answer.cached_free_bytes + refused.address >= refused.bytes) {
    answer.why = OomClass::kFragmentation;
  } else {
    answer.why = OomClass::kRounding;
  }
  const auto refusals = [&](const AllocatorSettings& each, Bytes capacity) {
    const SnapshotProgram program = program_until(snapshot, device, picture.event, false, each);
    return simulated(program, each, capacity, false,
                     [](Allocator&, std::size_t count) { return count; });
  };
  for (const std::string& conf : settings_grid(settings.version)) {
    const AllocatorSettings each = parse_settings("grid", conf, settings.version).settings;
    if (refusals(each, answer.capacity_bytes) > 0) continue;
    answer.helps = conf;
    answer.settings_help = true;
    break;
  }
  // The least that helps, by halving between nothing and certainly enough.
  constexpr Bytes kStep = 2 * kMiB;
  Bytes low = 0;
  Bytes high = round_up(answer.cached_free_bytes + 2 * refused.bytes, kStep) / kStep + 16;
  while (low < high) {
    const Bytes middle = (low + high) / 2;
    if (refusals(settings, answer.capacity_bytes + middle * kStep) > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  answer.more_bytes = low * kStep;
  return answer;
}

}  // namespace

std::string_view purpose_rule() {
  return "a phase name that says so; else a frame in a file of an optimizer: optimizer; else of "
         "the autograd engine or a "
         "node: backward; else Module.to or a constructor outside forward: parameters; else named "
         "forward: forward; else of "
         "a data loader: inputs";
}

Purpose purpose_of(const Snapshot& snapshot, StackId stack, TextId user_metadata) {
  if (const Purpose told = by_phase(snapshot.texts[user_metadata]); told != Purpose::kUnknown)
    return told;
  bool optimizer = false;
  bool backward = false;
  bool forward = false;
  bool parameters = false;
  bool inputs = false;
  for (const std::uint32_t index : snapshot.stack(stack)) {
    const std::string_view name = snapshot.texts[snapshot.frames[index].name];
    const std::string_view file = snapshot.texts[snapshot.frames[index].filename];
    optimizer = optimizer || holds(file, "torch/optim/") || file.ends_with("optimizer.py") ||
                holds(file, "optimizers/");
    backward = backward || holds(name, "torch::autograd::Engine") ||
               holds(name, "_engine_run_backward") || holds(name, "Backward0");
    forward = forward || name == "forward" || name == "_call_impl";
    parameters = parameters || name == "_apply" || name == "__init__";
    inputs =
        inputs || holds(file, "dataloader") || holds(name, "pin_memory") || holds(name, "collate");
  }
  if (optimizer) return Purpose::kOptimizer;
  if (backward) return Purpose::kBackward;
  if (parameters && !forward) return Purpose::kParameters;
  if (forward) return Purpose::kForward;
  return inputs ? Purpose::kInputs : Purpose::kUnknown;
}

std::size_t picture_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view at) {
  const std::span<const SnapshotEvent> trace = snapshot.trace(device);
  if (at != "peak" && at != "oom") {
    const std::size_t event = recording_moment(snapshot, device, "--at", at);
    return std::min(event, trace.empty() ? 0 : trace.size() - 1);
  }
  std::int64_t held = 0;
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  std::int64_t wanted = 0;
  std::int64_t most_wanted = std::numeric_limits<std::int64_t>::min();
  std::size_t peak = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const auto bytes = static_cast<std::int64_t>(trace[i].bytes);
    const Action action = trace[i].action;
    if (action == Action::kSegmentAlloc || action == Action::kSegmentMap) held += bytes;
    if (action == Action::kSegmentFree || action == Action::kSegmentUnmap) held -= bytes;
    if (action == Action::kAlloc) wanted += bytes;
    if (action == Action::kFreeCompleted) wanted -= bytes;
    if (action == Action::kOom && at == "oom") return i;
    // Among the moments at which most is held: the one at which most is in use.
    if (held > highest || (held == highest && wanted > most_wanted)) {
      highest = held;
      most_wanted = wanted;
      peak = i;
    }
  }
  if (at == "oom") {
    Problem problem;
    problem.path = "--at";
    problem.message = "no out-of-memory error was recorded";
    throw InputError(std::move(problem));
  }
  return peak;
}

MemoryPicture picture_at(const Snapshot& snapshot, std::uint8_t device, std::size_t event,
                         Version version) {
  const AllocatorSettings settings = recorded_settings(snapshot, version);
  const SnapshotProgram program = program_until(snapshot, device, event, true, settings);
  const std::vector<std::size_t> steps = recording_steps(snapshot, device);
  MemoryPicture picture;
  picture.event = event;
  picture.step = step_of(steps, event);
  picture.setting = settings.text;
  Bytes peak = program.start.reserved_bytes();
  for (const Event& each : program.recorded) {
    if (each.action == Action::kSegmentAlloc || each.action == Action::kSegmentMap)
      peak += each.bytes;
  }
  simulated(program, settings, roomy_capacity(program, peak), true,
            [&](Allocator& allocator, std::size_t) {
              const MemorySample sample = allocator.sample();
              picture.reserved_bytes = sample.reserved;
              picture.active_bytes = sample.active;
              picture.requested_bytes = sample.requested;
              picture.segments = allocator.segments();
              return 0;
            });
  std::ranges::sort(picture.segments, {}, &SegmentInfo::address);
  for (const SegmentInfo& segment : picture.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::kInactive) {
        picture.largest_free_bytes = std::max(picture.largest_free_bytes, block.bytes);
      } else {
        picture.live.push_back(held_block(snapshot, device, program, block, steps));
      }
    }
  }
  note_pins(picture);
  note_sites(picture);
  if (snapshot.trace(device)[event].action == Action::kOom) {
    picture.oom = oom_answer(snapshot, device, picture, settings);
  }
  return picture;
}

std::vector<MemorySample> recorded_amounts(const Snapshot& snapshot, std::uint8_t device,
                                           Version version) {
  const AllocatorSettings settings = recorded_settings(snapshot, version);
  const std::size_t last = std::max<std::size_t>(snapshot.trace(device).size(), 1) - 1;
  SnapshotProgram program = program_until(snapshot, device, last, true, settings);
  Bytes peak = program.start.reserved_bytes();
  for (const Event& each : program.recorded) {
    if (each.action == Action::kSegmentAlloc || each.action == Action::kSegmentMap)
      peak += each.bytes;
  }
  const std::vector<Instruction> recording(
      program.instructions.begin() + static_cast<std::ptrdiff_t>(program.start_instructions),
      program.instructions.end());
  program.instructions.resize(program.start_instructions);
  History history;
  history.sampling = true;
  simulated(program, settings, roomy_capacity(program, peak), true,
            [&](Allocator& allocator, std::size_t) {
              allocator.set_history(&history);
              for (std::span<const Instruction> rest(recording); !rest.empty();)
                rest = rest.subspan(allocator.execute(rest));
              allocator.finish_samples();
              allocator.set_history(nullptr);
              return 0;
            });
  return std::move(history.samples);
}

ChurnReport churn_of(const Snapshot& snapshot, std::uint8_t device) {
  struct Live {
    std::size_t site = 0;
    std::size_t event = 0;
    Bytes bytes = 0;
  };
  ChurnReport report;
  const std::span<const SnapshotEvent> trace = snapshot.trace(device);
  const std::vector<std::size_t> steps = recording_steps(snapshot, device);
  report.steps = steps.size();
  std::map<std::string, std::size_t> site_of_maker;
  std::map<StackId, std::size_t> site_of_stack;
  std::vector<ChurnReport::Site> sites;
  std::vector<std::int64_t> held;
  AddressMap<Live> live;
  std::set<Bytes> sizes;
  std::set<Bytes> rounded_sizes;
  AllocatorSettings rounding;
  rounding.roundup_power2_divisions.fill(8);
  std::size_t step = 1;
  const auto end_step = [&] {
    for (std::size_t i = 0; i < sites.size(); ++i) sites[i].live_at_step_end.push_back(held[i]);
  };
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (step < steps.size() && i == steps[step]) {
      end_step();
      ++step;
    }
    const SnapshotEvent& event = trace[i];
    if (event.action == Action::kAlloc) {
      auto found = site_of_stack.find(event.stack);
      if (found == site_of_stack.end()) {
        const std::string maker = stack_summary(snapshot, event.stack);
        const auto [site, fresh] = site_of_maker.try_emplace(maker, sites.size());
        if (fresh) {
          sites.emplace_back();
          sites.back().maker = maker;
          sites.back().live_at_step_end.assign(step - 1, 0);
          held.push_back(0);
        }
        found = site_of_stack.emplace(event.stack, site->second).first;
      }
      ChurnReport::Site& site = sites[found->second];
      ++site.allocs;
      site.bytes += event.bytes;
      held[found->second] += static_cast<std::int64_t>(event.bytes);
      live[event.address] = {found->second, i, event.bytes};
      sizes.insert(round_up(std::max<Bytes>(event.bytes, 1), kMinBlockBytes));
      rounded_sizes.insert(rounded_request(rounding, event.bytes));
    } else if (event.action == Action::kFreeCompleted) {
      const Live* block = live.find(event.address);
      if (block == nullptr) continue;
      held[block->site] -= static_cast<std::int64_t>(block->bytes);
      std::size_t bucket = 0;
      for (std::size_t most = 1; bucket + 1 < report.lifetimes.size() && i - block->event > most;
           most *= 10)
        ++bucket;
      ++report.lifetimes[bucket];
      live.erase(event.address);
    }
  }
  end_step();
  report.never_freed = live.size();
  report.distinct_sizes = sizes.size();
  report.distinct_sizes_rounded = rounded_sizes.size();
  for (ChurnReport::Site& site : sites) {
    // The first step also makes what stays for good: growth counts from its end on.
    const std::vector<std::int64_t>& ends = site.live_at_step_end;
    if (ends.size() < 3) continue;
    site.growth = ends[ends.size() - 2] - ends.front();
    site.grows_every_step = true;
    for (std::size_t i = 1; i + 1 < ends.size(); ++i)
      site.grows_every_step = site.grows_every_step && ends[i] > ends[i - 1];
  }
  report.churners = sites;
  std::ranges::stable_sort(report.churners, std::greater<>(), &ChurnReport::Site::bytes);
  std::erase_if(sites, [](const ChurnReport::Site& site) { return site.growth <= 0; });
  report.growing = std::move(sites);
  std::ranges::stable_sort(report.growing, std::greater<>(), &ChurnReport::Site::growth);
  return report;
}

}  // namespace tidemark
