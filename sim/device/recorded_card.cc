#include "sim/device/recorded_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/base/problem.h"

namespace tidemark {

namespace {

[[noreturn]] void refuse(const std::string& name, std::string what) {
  throw InputError(Problem{{}, name, std::move(what), "name the card with --device"});
}

/// What each device of the snapshot had besides its free memory and its segments, where a request
/// was refused. The segments of that moment follow from those at the end.
std::vector<std::int64_t> contexts_of(const Snapshot& snapshot, const DeviceSpec& card) {
  std::vector<std::int64_t> reserved(snapshot.traces.size());
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (segment.device < reserved.size())
      reserved[segment.device] += static_cast<std::int64_t>(segment.total_bytes);
  }
  std::vector<std::int64_t> found;
  for (std::size_t device = 0; device < snapshot.traces.size(); ++device) {
    const EventTrace trace = snapshot.trace(device);
    for (std::size_t i = trace.size(); i-- > 0;) {
      const SnapshotEvent event = trace[i];
      const auto bytes = static_cast<std::int64_t>(event.bytes);
      switch (event.action) {
        case Action::kSegmentAlloc:
        case Action::kSegmentMap:
          reserved[device] -= bytes;
          break;
        case Action::kSegmentFree:
        case Action::kSegmentUnmap:
          reserved[device] += bytes;
          break;
        case Action::kOom:
          found.push_back(static_cast<std::int64_t>(card.total_bytes) -
                          static_cast<std::int64_t>(event.address) - reserved[device]);
          break;
        default:
          break;
      }
    }
  }
  return found;
}

/// Of segments of 32 MiB and more, which have pieces of their own: "down", "up", "mixed", or empty
/// where there are too few to say.
std::string address_order(const Snapshot& snapshot) {
  constexpr Bytes kPiece = 32 * kMiB;
  constexpr int kFewest = 3;
  int down = 0;
  int up = 0;
  for (std::size_t device = 0; device < snapshot.traces.size(); ++device) {
    std::uint64_t last = 0;
    for (const SnapshotEvent event : snapshot.trace(device)) {
      if (event.action != Action::kSegmentAlloc || event.bytes < kPiece) continue;
      if (last != 0) (event.address < last ? down : up)++;
      last = event.address;
    }
  }
  if (down + up < kFewest) return {};
  // Pieces that were given back are taken again: three of four tell the order.
  if (4 * down >= 3 * (down + up)) return "down";
  return 4 * up >= 3 * (down + up) ? "up" : "mixed";
}

}  // namespace

void calibrate_by_snapshot(Calibration& calibration, const Snapshot& snapshot,
                           const std::string& name, const DeviceSpec& device) {
  std::vector<std::int64_t> contexts = contexts_of(snapshot, device);
  std::sort(contexts.begin(), contexts.end());
  if (contexts.empty()) {
    calibration.refused.push_back(
        name + ": no request was refused in it, so it does not tell the context");
  } else {
    const std::int64_t half = static_cast<std::int64_t>(device.total_bytes / 2);
    if (contexts.front() < 0) {
      refuse(name, fmt::format("its segments and what was free are {} bytes more than '{}' has",
                               -contexts.front(), device.name));
    }
    if (contexts.back() > half) {
      refuse(name, fmt::format("{} bytes would be neither free nor PyTorch's: more than half of "
                               "'{}'",
                               contexts.back(), device.name));
    }
    const auto at = std::ranges::find(calibration.entries, "context_bytes", &CalibrationEntry::key);
    *at = {"context_bytes",  contexts[contexts.size() / 2],
           Basis::kMeasured, contexts.front(),
           contexts.back(),  static_cast<std::int64_t>(contexts.size())};
  }
  if (const std::string order = address_order(snapshot); !order.empty())
    calibration.address_order = order;
  if (calibration.by.empty()) calibration.by = "snapshot";
}

}  // namespace tidemark
