#include "sim/run/run_result.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/run/levels.h"

namespace tidemark {

std::uint32_t phase_of(const DeviceResult& device, std::uint32_t event) {
  const auto after = std::upper_bound(
      device.phases.begin(), device.phases.end(), event,
      [](std::uint32_t index, const PhaseResult& phase) { return index < phase.first_event; });
  TIDEMARK_CHECK(after != device.phases.begin(),
                 fmt::format("event {} lies before every phase", event));
  return static_cast<std::uint32_t>(after - device.phases.begin() - 1);
}

Bytes spare_bytes(const DeviceResult& device) {
  const Bytes held = static_cast<Bytes>(device.statistics.reserved_bytes.all.current);
  const Bytes free_and_held = held + device.device_free_bytes;
  return free_and_held - std::min(free_and_held, device.peak_reserved.bytes);
}

std::vector<LiveBlock> live_at(const DeviceResult& device, const Program& program,
                               std::uint32_t event) {
  constexpr std::uint32_t kDead = 0xffffffffU;
  std::vector<std::uint32_t> made_by;  // by request: the event that made it
  for (std::uint32_t i = 0; i <= event && i < device.events.size(); ++i) {
    const Event& entry = device.events[i];
    if (entry.id == kNoRequest) continue;
    if (entry.id >= made_by.size())
      made_by.resize(std::max<std::size_t>(entry.id + 1, made_by.size() * 2), kDead);
    if (entry.action == Action::kAlloc) made_by[entry.id] = i;
    if (entry.action == Action::kFreeRequested) made_by[entry.id] = kDead;
  }
  std::vector<LiveBlock> live;
  for (std::size_t id = 0; id < made_by.size(); ++id) {
    const std::uint32_t at = made_by[id];
    if (at == kDead) continue;
    LiveBlock block;
    block.id = static_cast<RequestId>(id);
    block.requested_bytes = device.events[at].bytes;
    block.block_bytes = block_bytes_of(device, at);
    block.alloc_event = at;
    block.label = device.labels[at];
    if (id < program.categories.size()) block.category = program.categories[id];
    live.push_back(block);
  }
  std::sort(live.begin(), live.end(), [](const LiveBlock& a, const LiveBlock& b) {
    return a.block_bytes != b.block_bytes ? a.block_bytes > b.block_bytes : a.id < b.id;
  });
  return live;
}

std::uint64_t total_events(const RunResult& result, std::size_t device) {
  std::uint64_t events = result.devices[device].events.size();
  for (const RepeatResult& repeat : result.repeats) events += repeat.events[device];
  return events;
}

}  // namespace tidemark
