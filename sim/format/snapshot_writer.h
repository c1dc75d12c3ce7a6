#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/segments.h"
#include "sim/alloc/settings.h"
#include "sim/program/event.h"

namespace tidemark {

/// A stretch of a run with a name: events [first_event, first_event + events).
struct SnapshotPhase {
  std::string_view name;
  std::size_t first_event = 0;
  std::size_t events = 0;
};

/// What one device did, for a snapshot. Everything must outlive the call that writes it.
struct SnapshotDevice {
  std::span<const Event> events;
  /// One text an event, or none at all: who made it, "blocks.0.attn: linear>addmm" (module path,
  /// then the calls, the innermost last). It becomes the event's stack; an empty text gives no
  /// stack.
  std::span<const std::string_view> labels;
  /// One an event, or none: then event N is at N microseconds.
  std::span<const std::int64_t> times_ns;
  std::span<const SegmentInfo> segments;  ///< at the end
  std::span<const SnapshotPhase> phases;  ///< become annotations, and user_metadata of their events
  /// By RequestId, or none: what a request is for, in the user_metadata of its events behind the
  /// phase, "forward 0 [activations]".
  std::span<const Category> categories;
};

/// Appends what torch.cuda.memory._snapshot() of PyTorch 2.11 would have returned, pickled:
/// pytorch.org/memory_viz and torch/cuda/_memory_viz.py open it. `devices` by index. Requires:
/// events and segments of a device belong together. Source: docs/rules/snapshots.md#3, #4, #5.
void write_snapshot(std::span<const SnapshotDevice> devices, const AllocatorSettings& settings,
                    std::string& out);

/// A label's stack as a snapshot shows it, the innermost frame first.
std::vector<std::string_view> label_frames(std::string_view label);

}  // namespace tidemark
