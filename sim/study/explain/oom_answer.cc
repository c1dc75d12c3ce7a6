#include "sim/study/explain/oom_answer.h"

#include <algorithm>
#include <vector>

#include "sim/alloc/settings_parser.h"
#include "sim/study/explain/memory_explain.h"
#include "sim/study/explain/moment.h"
#include "sim/study/replay/recording_range.h"

namespace tidemark {

namespace {

/// Of the call sites that hold something, least bytes first, the first without which the request is
/// served.
std::optional<CallSite> release_that_helps(const MemoryPicture& picture,
                                           const SnapshotEvent& refused, MomentTrials& trials) {
  constexpr std::size_t kMostSites = 200;
  std::vector<const CallSite*> sites;
  for (const CallSite& site : picture.sites) sites.push_back(&site);
  std::ranges::stable_sort(sites, {}, &CallSite::bytes);
  if (sites.size() > kMostSites)
    sites.erase(sites.begin(), sites.end() - static_cast<std::ptrdiff_t>(kMostSites));
  std::vector<RequestId> ids;
  for (const CallSite* site : sites) {
    ids.clear();
    for (const HeldBlock& block : picture.live) {
      if (block.maker == site->maker && block.purpose == site->purpose) ids.push_back(block.id);
    }
    if (trials.serves(refused.bytes, refused.stream, ids)) return *site;
  }
  return std::nullopt;
}

}  // namespace

OomAnswer oom_answer(const Snapshot& snapshot, std::uint8_t device, const MemoryPicture& picture) {
  const EventTrace trace = snapshot.trace(device);
  const SnapshotEvent refused = trace[picture.event];
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
  answer.recording_ends = !trace.find(Action::kAlloc, picture.event + 1);
  return answer;
}

RequestRemedies request_remedies(const Snapshot& snapshot, std::uint8_t device,
                                 const MemoryPicture& picture, Version version) {
  const AllocatorSettings settings = recorded_settings(snapshot, version);
  const EventTrace trace = snapshot.trace(device);
  const SnapshotEvent refused = trace[picture.event];
  const Bytes capacity_bytes = picture.oom->capacity_bytes;
  RequestRemedies answer;
  const std::size_t earlier = trace.count(Action::kOom, picture.event);
  // A setting must not trade this refusal for an earlier one.
  const auto served = [&](const AllocatorSettings& each, Bytes capacity) {
    const SnapshotProgram program = program_until(snapshot, device, picture.event + 1, false, each);
    return simulated(program, each, capacity, false, [earlier](Allocator&, const Refusals& now) {
      return !now.last && now.count <= earlier;
    });
  };
  for (const std::string& conf : settings_grid(settings.version)) {
    const AllocatorSettings each = parse_settings("grid", conf, settings.version).settings;
    ++answer.settings_tried;
    if (!served(each, capacity_bytes)) continue;
    answer.helps = conf;
    break;
  }
  if (picture.event > 0) {  // else nothing came before that could be played again
    MomentTrials trials(snapshot, device, picture.event, settings, capacity_bytes);
    answer.release = release_that_helps(picture, refused, trials);
  }
  // The least that helps, by halving between nothing and certainly enough.
  constexpr Bytes kStep = 2 * kMiB;
  Bytes low = 0;
  Bytes high = round_up(picture.oom->cached_free_bytes + 2 * refused.bytes, kStep) / kStep + 16;
  while (low < high) {
    const Bytes middle = (low + high) / 2;
    if (served(settings, capacity_bytes + middle * kStep)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  answer.more_bytes = low * kStep;
  return answer;
}

}  // namespace tidemark
