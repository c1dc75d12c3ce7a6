#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/format/snapshot_builder.h"

namespace tidemark {

void SnapshotBuilder::take_traces(const PickleReader& reader) {
  if (traces_value_.kind() == PickleValue::kList || traces_value_.kind() == PickleValue::kNone)
    return;
  if (traces_value_.kind() == kDefect)
    reader.fail(defects_[static_cast<std::size_t>(traces_value_.payload())]);
  if (traces_value_.kind() != kRange ||
      ranges_[static_cast<std::size_t>(traces_value_.payload())].kind != kRange) {
    reader.fail(
        "the snapshot's 'device_traces' is not a list with one list of trace entries for each "
        "device");
  }
  const Range all = ranges_[static_cast<std::size_t>(traces_value_.payload())];
  if (all.count > 128)
    reader.fail(fmt::format("the snapshot has {} devices, more than 128", all.count));
  for (std::size_t device = 0; device < all.count; ++device) {
    const Range& range = ranges_[all.first + device];
    if (range.kind != kEvent)
      reader.fail(fmt::format("the trace of device {} is not a list of trace entries", device));
    snapshot_.traces.push_back({range.first, range.count});
  }
}

void SnapshotBuilder::take_segments(const PickleReader& reader) {
  if (segments_value_.kind() == PickleValue::kList) {
    snapshot_.segments.clear();
    return;
  }
  if (segments_value_.kind() == kDefect)
    reader.fail(defects_[static_cast<std::size_t>(segments_value_.payload())]);
  if (segments_value_.kind() != kRange ||
      ranges_[static_cast<std::size_t>(segments_value_.payload())].kind != kSegment) {
    reader.fail("the snapshot's 'segments' is not a list of segments");
  }
  const Range range = ranges_[static_cast<std::size_t>(segments_value_.payload())];
  auto& segments = snapshot_.segments;
  segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(range.first + range.count),
                 segments.end());
  segments.erase(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(range.first));
}

/// Numbers the streams by ascending handle, as free blocks are ordered.
void SnapshotBuilder::order_streams() {
  std::vector<StreamId> order(snapshot_.streams.size());
  std::iota(order.begin(), order.end(), StreamId{0});
  std::ranges::sort(order, {}, [this](StreamId id) { return snapshot_.streams[id]; });
  std::vector<StreamId> renamed(order.size());
  std::vector<std::uint64_t> handles(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    renamed[order[i]] = static_cast<StreamId>(i);
    handles[i] = snapshot_.streams[order[i]];
  }
  snapshot_.streams = std::move(handles);
  for (SnapshotSegment& segment : snapshot_.segments) segment.stream = renamed[segment.stream];
  snapshot_.events.rename_streams(std::move(renamed));
}

void SnapshotBuilder::finish(const PickleReader& reader, PickleValue whole) {
  if (whole.kind() == kRange &&
      ranges_[static_cast<std::size_t>(whole.payload())].kind == kSegment) {
    segments_value_ = whole;  // torch.cuda.memory_snapshot(): the segments alone
  } else if (whole.kind() != kTop || !has_segments_) {
    reader.fail("the pickle holds plain data but no memory snapshot: it has no 'segments'",
                "write the snapshot with torch.cuda.memory._dump_snapshot");
  }
  take_traces(reader);
  take_segments(reader);
  if (annotations_value_.kind() != kRange ||
      ranges_[static_cast<std::size_t>(annotations_value_.payload())].kind != kAnnotation) {
    snapshot_.annotations.clear();
  }
  order_streams();
}

}  // namespace tidemark
