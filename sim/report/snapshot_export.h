#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/alloc/segments.h"
#include "sim/alloc/settings.h"
#include "sim/format/request_trace.h"
#include "sim/format/snapshot_writer.h"
#include "sim/program/event.h"
#include "sim/run/run_result.h"
#include "sim/study/replay/replay.h"

namespace tidemark {

/// One device's events with all that exports show of them. Views only: what they look at must
/// outlive them.
struct EventView {
  std::string_view device;  ///< its name
  std::span<const Event> events;
  std::vector<std::string_view> labels;  ///< one an event: who brought it about; may be empty texts
  std::span<const Nanoseconds> times_ns;  ///< one an event, or none
  std::span<const MemorySample> samples;  ///< one an event, or none
  std::span<const SegmentInfo> segments;  ///< at the end
  std::vector<SnapshotPhase> phases;
  std::span<const Category> categories;  ///< by RequestId, or none
};
/// Requires for segments in the view: the replay kept its events; for samples, that it kept them.
EventView view_of(const Requests& requests, const ReplayResult& result, std::string_view device);
EventView view_of(const DeviceResult& device, const Program& program);

/// What torch.cuda.memory._dump_snapshot() would have written.
std::string snapshot_of(std::span<const EventView> devices, const AllocatorSettings& settings);

/// Writes JSON for ui.perfetto.dev and chrome://tracing: a counter of the amounts, a slice for each
/// phase and each request, a flow from each alloc to its free, and torch.profiler's "[memory]" for
/// both; beside the devices a counter of the host's memory, where `host` has changes. Time is
/// simulated time, or where there is none the event's number in microseconds. Memory: a megabyte
/// and 8 bytes an event. Errors: IoError.
void write_perfetto(std::span<const EventView> devices, std::span<const HostSample> host,
                    const std::string& path);

/// Writes one NumPy file (.npy) a column into the folder, and columns.json, which names the actions
/// by number. The folder is made when it is not there. Memory: a megabyte. Errors: IoError.
void write_columns(const EventView& view, const std::string& folder);

/// Writes the requests as a .tmt; what a mark may not hold is replaced by spaces. Errors: IoError.
void write_trace_file(const Requests& requests, const std::string& path);

}  // namespace tidemark
