#include "sim/study/explain/memory_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/format/address_map.h"
#include "sim/format/snapshot_program.h"
#include "sim/study/explain/moment.h"
#include "sim/study/explain/oom_answer.h"
#include "sim/study/replay/recording_range.h"

namespace tidemark {

namespace {

HeldBlock held_block(const Snapshot& snapshot, const EventTrace& trace,
                     const SnapshotProgram& program, const BlockInfo& block,
                     const std::vector<std::size_t>& steps) {
  HeldBlock held;
  held.address = block.address;
  held.bytes = block.bytes;
  held.requested_bytes = block.requested_bytes;
  held.id = block.id;
  if (block.id >= program.origins.size()) return held;
  const RequestOrigin origin = program.origins.at(block.id, trace);
  held.maker = stack_summary(snapshot, origin.stack);
  TextId phase = 0;
  if (origin.event != RequestOrigin::kNoEvent) {
    held.event = origin.event;
    held.step = step_of(steps, origin.event);
    phase = trace[origin.event].user_metadata;
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

/// The stack of the request that an event belongs to: a segment is followed by what asked for it.
StackId maker_at(const Snapshot& snapshot, std::uint8_t device, std::size_t event) {
  const EventTrace trace = snapshot.trace(device);
  for (std::size_t i = event; i < trace.size(); ++i) {
    const SnapshotEvent each = trace[i];
    if (each.stack != 0) return each.stack;
    if (each.action != Action::kSegmentAlloc && each.action != Action::kSegmentMap) break;
  }
  return 0;
}

/// The largest request of the default pools that free blocks of its stream can serve.
Bytes largest_cached(const std::vector<SegmentInfo>& segments, StreamId stream) {
  Bytes largest = 0;
  for (const SegmentInfo& segment : segments) {
    if (segment.stream != stream || segment.pool != PoolKey{}) continue;
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::kInactive) continue;
      // A small pool serves requests of 1 MiB and less.
      largest = std::max(
          largest, segment.kind == PoolKind::kSmall ? std::min(block.bytes, kMiB) : block.bytes);
    }
  }
  return largest;
}

}  // namespace

std::size_t picture_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view at) {
  const EventTrace trace = snapshot.trace(device);
  if (at != "peak" && at != "oom" && at != "allocated") {
    const std::size_t event = recording_moment(snapshot, device, "--at", at);
    return std::min(event, trace.empty() ? 0 : trace.size() - 1);
  }
  std::int64_t held = 0;
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  std::int64_t wanted = 0;
  std::int64_t owned = 0;
  std::int64_t most_owned = std::numeric_limits<std::int64_t>::min();
  std::size_t most_allocated = 0;
  std::int64_t most_wanted = std::numeric_limits<std::int64_t>::min();
  std::size_t peak = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const SnapshotEvent event = trace[i];
    const auto bytes = static_cast<std::int64_t>(event.bytes);
    const Action action = event.action;
    if (action == Action::kSegmentAlloc || action == Action::kSegmentMap) held += bytes;
    if (action == Action::kSegmentFree || action == Action::kSegmentUnmap) held -= bytes;
    if (action == Action::kAlloc) wanted += bytes;
    if (action == Action::kFreeCompleted) wanted -= bytes;
    if (action == Action::kAlloc) owned += bytes;
    if (action == Action::kFreeRequested) owned -= bytes;
    if (owned > most_owned) {
      most_owned = owned;
      most_allocated = i;
    }
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
  return at == "allocated" ? most_allocated : peak;
}

namespace {

/// What is held and free, and by whom; not yet what would help.
MemoryPicture layout_at(const Snapshot& snapshot, std::uint8_t device, std::size_t event,
                        const AllocatorSettings& settings) {
  const SnapshotProgram program = program_until(snapshot, device, event + 1, true, settings);
  const std::vector<std::size_t> steps = recording_steps(snapshot, device).first_events;
  const EventTrace trace = snapshot.trace(device);
  MemoryPicture picture;
  picture.event = event;
  picture.step = step_of(steps, event);
  picture.maker = stack_summary(snapshot, maker_at(snapshot, device, event));
  picture.setting = settings.text;
  simulated(program, settings, roomy_capacity(program, reserved_in_all(program)), true,
            [&](Allocator& allocator, const Refusals&) {
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
        picture.live.push_back(held_block(snapshot, trace, program, block, steps));
      }
    }
  }
  picture.stream = trace[event].stream;
  picture.largest_cached_bytes = largest_cached(picture.segments, picture.stream);
  note_pins(picture);
  note_sites(picture);
  return picture;
}

}  // namespace

MemoryPicture picture_at(const Snapshot& snapshot, std::uint8_t device, std::size_t event,
                         Version version, std::optional<Bytes> capacity) {
  const AllocatorSettings settings = recorded_settings(snapshot, version);
  MemoryPicture picture = layout_at(snapshot, device, event, settings);
  if (snapshot.trace(device)[event].action == Action::kOom) {
    picture.oom = oom_answer(snapshot, device, picture);
    capacity = picture.oom->capacity_bytes;
  }
  if (capacity) {
    picture.capacity_bytes = *capacity;
    // Right before a refused request; else right after what the event tells.
    const std::size_t end = picture.oom ? event : event + 1;
    if (end > 0) {
      picture.largest_fitting_bytes =
          MomentTrials(snapshot, device, end, settings, *capacity).largest_served(picture.stream);
    }
  }
  return picture;
}

MemoryPicture picture_named(const Snapshot& snapshot, std::uint8_t device, std::string_view at,
                            Version version, std::optional<Bytes> capacity) {
  if (at.empty()) {
    const EventTrace trace = snapshot.trace(device);
    at = trace.find(Action::kOom) ? "oom" : "peak";
  }
  return picture_at(snapshot, device, picture_moment(snapshot, device, at), version, capacity);
}

MemoryPicture picture_named(const Snapshot& snapshot, std::uint8_t device, std::string_view at) {
  AgreementOptions range;
  range.device = device;
  return picture_named(snapshot, device, at,
                       agreement_with_recording(snapshot, range).settings.version);
}

namespace {

void note_merged(const std::map<Bytes, std::uint64_t>& sizes, const AllocatorSettings& rounding,
                 ChurnReport& report) {
  // Rounding keeps the order, so that sizes that become one stand together.
  for (const auto& [size, requests] : sizes) {
    const Bytes rounded = rounded_request(rounding, size);
    if (report.merged.empty() || report.merged.back().rounded != rounded)
      report.merged.push_back({rounded, size, size, 0, 0});
    ChurnReport::Merged& each = report.merged.back();
    each.largest = size;
    ++each.sizes;
    each.requests += requests;
  }
  report.distinct_sizes = sizes.size();
  report.distinct_sizes_rounded = report.merged.size();
  std::erase_if(report.merged, [](const ChurnReport::Merged& each) { return each.sizes == 1; });
  std::ranges::stable_sort(report.merged, std::greater<>(), &ChurnReport::Merged::requests);
}

}  // namespace

ChurnReport churn_of(const Snapshot& snapshot, std::uint8_t device) {
  struct Live {
    std::size_t site = 0;
    std::size_t event = 0;
    Bytes bytes = 0;
  };
  ChurnReport report;
  const EventTrace trace = snapshot.trace(device);
  const RecordingSteps recorded_steps = recording_steps(snapshot, device);
  const std::vector<std::size_t>& steps = recorded_steps.first_events;
  report.steps = steps.size() - (recorded_steps.last_is_whole ? 0 : 1);
  report.told_by = recorded_steps.told_by;
  std::map<std::string, std::size_t> site_of_maker;
  std::map<StackId, std::size_t> site_of_stack;
  std::vector<ChurnReport::Site> sites;
  std::vector<std::int64_t> held;
  AddressMap<Live> live;
  std::map<Bytes, std::uint64_t> sizes;
  const AllocatorSettings rounding =
      parse_settings("rounding", "roundup_power2_divisions:8").settings;
  std::size_t step = 1;
  const auto end_step = [&] {
    for (std::size_t i = 0; i < sites.size(); ++i) sites[i].live_at_step_end.push_back(held[i]);
  };
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (step < steps.size() && i == steps[step]) {
      end_step();
      ++step;
    }
    const SnapshotEvent event = trace[i];
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
      ++sizes[round_up(std::max<Bytes>(event.bytes, 1), kMinBlockBytes)];
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
  note_merged(sizes, rounding, report);
  for (ChurnReport::Site& site : sites) {
    // The first step also makes what stays for good: growth counts from its end on.
    const std::span<const std::int64_t> ends =
        std::span<const std::int64_t>(site.live_at_step_end).first(report.steps);
    if (ends.size() < 3) continue;
    site.growth = ends.back() - ends.front();
    site.grows_every_step = true;
    for (std::size_t i = 1; i < ends.size(); ++i)
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
