#include "sim/format/snapshot_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace tidemark {

namespace {

/// The keys that mean something, in the order of their text numbers from 1 on.
enum Key : std::uint32_t {
  kAbsent,
  kAction,
  kAddr,
  kSize,
  kStream,
  kTimeUs,
  kFrames,
  kCompileContext,
  kUserMetadata,
  kPoolId,
  kDeviceFree,
  kDevice,
  kAddress,
  kTotalSize,
  kRequestedSize,
  kSegmentType,
  kSegmentPoolId,
  kIsExpandable,
  kBlocks,
  kState,
  kName,
  kFilename,
  kLine,
  kStage,
  kSegments,
  kDeviceTraces,
  kAllocatorSettings,
  kExternalAnnotations,
  kHostSegments,
  kConf,
  kMaxSplitSize,
  kThreshold,
  kExpandableSegments,
  kRoundupDivisions,
  kKeyCount,
};
constexpr std::array<std::string_view, kKeyCount> kKeyTexts{"",
                                                            "action",
                                                            "addr",
                                                            "size",
                                                            "stream",
                                                            "time_us",
                                                            "frames",
                                                            "compile_context",
                                                            "user_metadata",
                                                            "pool_id",
                                                            "device_free",
                                                            "device",
                                                            "address",
                                                            "total_size",
                                                            "requested_size",
                                                            "segment_type",
                                                            "segment_pool_id",
                                                            "is_expandable",
                                                            "blocks",
                                                            "state",
                                                            "name",
                                                            "filename",
                                                            "line",
                                                            "stage",
                                                            "segments",
                                                            "device_traces",
                                                            "allocator_settings",
                                                            "external_annotations",
                                                            "host_segments",
                                                            "PYTORCH_CUDA_ALLOC_CONF",
                                                            "max_split_size",
                                                            "garbage_collection_threshold",
                                                            "expandable_segments",
                                                            "roundup_power2_divisions"};
static_assert(kKeyCount <= 64);

constexpr std::uint32_t kFirstDivision = kKeyCount;  ///< "1", "2", "4", ... "32768"
constexpr std::uint32_t kFirstAction = kFirstDivision + 16;
constexpr std::uint32_t kEndAction = kFirstAction + static_cast<std::uint32_t>(kActionNames.size());
constexpr std::uint32_t kAnnotate = kEndAction;
constexpr std::uint32_t kActiveAllocated = kAnnotate + 1;
constexpr std::uint32_t kActivePendingFree = kAnnotate + 2;
constexpr std::uint32_t kActiveAwaitingFree = kAnnotate + 3;
constexpr std::uint32_t kInactive = kAnnotate + 4;
constexpr std::uint32_t kSmall = kAnnotate + 5;
constexpr std::uint32_t kLarge = kAnnotate + 6;
[[maybe_unused]] constexpr std::uint32_t kStart = kAnnotate + 7;
constexpr std::uint32_t kEnd = kAnnotate + 8;

constexpr std::uint64_t bit(Key key) { return std::uint64_t{1} << key; }

std::string_view kind_name(PickleValue value) {
  switch (value.kind()) {
    case PickleValue::kNone:
      return "None";
    case PickleValue::kBool:
      return "a boolean";
    case PickleValue::kInt:
    case PickleValue::kWideInt:
      return "an integer";
    case PickleValue::kFloat:
      return "a float";
    case PickleValue::kText:
      return "a text";
    case PickleValue::kDict:
      return "a dict";
    default:
      return "a container";
  }
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  const Wide product = static_cast<Wide>(hash ^ word) * 0xd6e8feb86659fd93U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t hash_of(const SnapshotFrame& frame) {
  return mixed(frame.name | (static_cast<std::uint64_t>(frame.filename) << 32U),
               0x9e3779b97f4a7c15U + static_cast<std::uint32_t>(frame.line));
}

/// Open addressing over rows of a table: the slot holds a row's number + 1.
template <class Hash, class Equal, class Add>
std::uint32_t find_or_add(std::vector<std::uint32_t>& slots, std::size_t rows, std::uint64_t hash,
                          Hash hash_row, Equal equal, Add add) {
  std::size_t slot = hash & (slots.size() - 1);
  for (; slots[slot] != 0; slot = (slot + 1) & (slots.size() - 1)) {
    if (equal(slots[slot] - 1)) return slots[slot] - 1;
  }
  const auto row = static_cast<std::uint32_t>(rows);
  slots[slot] = row + 1;
  add();
  if ((rows + 1) * 2 > slots.size()) {
    std::vector<std::uint32_t> grown(slots.size() * 2);
    for (std::uint32_t i = 0; i <= row; ++i) {
      std::size_t place = hash_row(i) & (grown.size() - 1);
      while (grown[place] != 0) place = (place + 1) & (grown.size() - 1);
      grown[place] = i + 1;
    }
    slots = std::move(grown);
  }
  return row;
}

}  // namespace

/// The known keys of one dict and their values.
struct SnapshotBuilder::Fields {
  std::uint64_t present = 0;
  std::array<PickleValue, kKeyCount> values;
  [[nodiscard]] bool has(Key key) const { return (present & bit(key)) != 0; }
  const PickleValue& operator[](Key key) const { return values[key]; }
};

SnapshotBuilder::SnapshotBuilder(Snapshot& snapshot, Texts& texts)
    : snapshot_(snapshot), texts_(texts), frame_slots_(1024), stack_slots_(1024) {
  for (const std::string_view key : kKeyTexts) texts_.intern(key);
  for (std::uint32_t i = 0; i < 16; ++i) texts_.intern(std::to_string(1U << i));
  for (const std::string_view action : kActionNames) texts_.intern(action);
  for (const std::string_view word :
       {"annotate", "active_allocated", "active_pending_free", "active_awaiting_free", "inactive",
        "small", "large", "START", "END"}) {
    texts_.intern(word);
  }
  snapshot_.streams.push_back(0);
  snapshot_.pools.push_back({});
  intern_stack({});
}

std::size_t SnapshotBuilder::memory_bytes() const {
  const auto bytes = [](const auto& table) { return table.capacity() * sizeof(table[0]); };
  return bytes(snapshot_.frames) + snapshot_.events.memory_bytes() + bytes(snapshot_.blocks) +
         bytes(snapshot_.segments) + bytes(snapshot_.annotations) + bytes(snapshot_.stacks) +
         bytes(snapshot_.stack_frames) + bytes(ranges_) + bytes(frame_slots_) +
         bytes(stack_slots_) + bytes(snapshot_.pools);
}

std::uint64_t SnapshotBuilder::whole(const PickleReader& reader, PickleValue value,
                                     std::string_view what, std::string_view key) const {
  if (value.kind() == PickleValue::kInt && value.payload() >= 0)
    return static_cast<std::uint64_t>(value.payload());
  if (value.kind() == PickleValue::kInt || value.kind() == PickleValue::kWideInt) {
    reader.fail(fmt::format("byte {}: {}'s '{}' is out of range", reader.position(), what, key));
  }
  reader.fail(fmt::format("byte {}: {}'s '{}' is {}, not an integer", reader.position(), what, key,
                          kind_name(value)));
}

TextId SnapshotBuilder::text_of(const PickleReader& reader, PickleValue value,
                                std::string_view what, std::string_view key) const {
  if (value.kind() == PickleValue::kText) return static_cast<TextId>(value.payload());
  reader.fail(fmt::format("byte {}: {}'s '{}' is {}, not a text", reader.position(), what, key,
                          kind_name(value)));
}

StackId SnapshotBuilder::stack_of(PickleValue value) const {
  return value.kind() == kStack ? static_cast<StackId>(value.payload()) : 0;
}

std::uint8_t SnapshotBuilder::device_of(const PickleReader& reader, PickleValue value,
                                        std::string_view what) const {
  const std::uint64_t device = whole(reader, value, what, "device");
  if (device > 127)
    reader.fail(fmt::format("byte {}: {}'s 'device' is {}, more than 127", reader.position(), what,
                            device));
  return static_cast<std::uint8_t>(device);
}

PickleValue SnapshotBuilder::defect(const PickleReader& reader, std::string_view what,
                                    std::string_view key) {
  constexpr std::size_t kKept = 16;
  if (defects_.size() < kKept) {
    defects_.push_back(fmt::format("byte {}: {} has no '{}'", reader.position(), what, key));
  }
  return {kDefect, static_cast<std::int64_t>(defects_.size() - 1)};
}

std::uint32_t SnapshotBuilder::intern_frame(const SnapshotFrame& frame) {
  return find_or_add(
      frame_slots_, snapshot_.frames.size(), hash_of(frame),
      [this](std::uint32_t row) { return hash_of(snapshot_.frames[row]); },
      [this, &frame](std::uint32_t row) { return snapshot_.frames[row] == frame; },
      [this, &frame] { snapshot_.frames.push_back(frame); });
}

StackId SnapshotBuilder::intern_stack(std::span<const std::uint32_t> frames) {
  const auto hash_frames = [](std::span<const std::uint32_t> list) {
    std::uint64_t hash = list.size();
    for (const std::uint32_t frame : list) hash = mixed(hash, frame + 0x9e3779b97f4a7c15U);
    return hash;
  };
  return find_or_add(
      stack_slots_, snapshot_.stacks.size(), hash_frames(frames),
      [this, &hash_frames](std::uint32_t row) { return hash_frames(snapshot_.stack(row)); },
      [this, &frames](std::uint32_t row) {
        return std::ranges::equal(snapshot_.stack(row), frames);
      },
      [this, &frames] {
        snapshot_.stacks.push_back({static_cast<std::uint32_t>(snapshot_.stack_frames.size()),
                                    static_cast<std::uint32_t>(frames.size())});
        snapshot_.stack_frames.insert(snapshot_.stack_frames.end(), frames.begin(), frames.end());
      });
}

StreamId SnapshotBuilder::intern_stream(const PickleReader& reader, std::uint64_t handle) {
  if (snapshot_.streams[last_stream_] == handle) return static_cast<StreamId>(last_stream_);
  const auto found = std::ranges::find(snapshot_.streams, handle);
  last_stream_ = static_cast<std::size_t>(found - snapshot_.streams.begin());
  if (found == snapshot_.streams.end()) {
    constexpr std::size_t kMostStreams = 4096;
    if (snapshot_.streams.size() == kMostStreams) {
      reader.fail(
          fmt::format("byte {}: more than {} different streams", reader.position(), kMostStreams));
    }
    snapshot_.streams.push_back(handle);
  }
  return static_cast<StreamId>(last_stream_);
}

PickleValue SnapshotBuilder::frame(PickleReader& reader, const Fields& fields) {
  SnapshotFrame frame;
  if (fields.has(kName)) frame.name = text_of(reader, fields[kName], "a frame", "name");
  frame.filename = text_of(reader, fields[kFilename], "a frame", "filename");
  if (fields[kLine].kind() == PickleValue::kInt) {
    frame.line = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        fields[kLine].payload(), 0, std::numeric_limits<std::int32_t>::max()));
  }
  return {kFrame, intern_frame(frame)};
}

PickleValue SnapshotBuilder::event(PickleReader& reader, const Fields& fields) {
  constexpr std::string_view kWhat = "a trace entry";
  const TextId action = text_of(reader, fields[kAction], kWhat, "action");
  if (action < kFirstAction || action >= kEndAction) {
    if (action != kAnnotate) ++snapshot_.unknown_actions;
    return {kIgnoredEvent, 0};
  }
  SnapshotEvent event;
  event.action = static_cast<Action>(action - kFirstAction);
  const Key place = event.action == Action::kOom ? kDeviceFree : kAddr;
  if (!fields.has(place)) return defect(reader, kWhat, kKeyTexts[place]);
  if (!fields.has(kSize)) return defect(reader, kWhat, "size");
  event.address = whole(reader, fields[place], kWhat, kKeyTexts[place]);
  event.bytes = whole(reader, fields[kSize], kWhat, "size");
  if (fields.has(kStream))
    event.stream = intern_stream(reader, whole(reader, fields[kStream], kWhat, "stream"));
  if (fields.has(kTimeUs))
    event.time_us = static_cast<std::int64_t>(whole(reader, fields[kTimeUs], kWhat, "time_us"));
  event.stack = stack_of(fields[kFrames]);
  if (fields[kUserMetadata].kind() == PickleValue::kText)
    event.user_metadata = static_cast<TextId>(fields[kUserMetadata].payload());
  if (fields[kCompileContext].kind() == PickleValue::kText) {
    event.compile_context = static_cast<TextId>(fields[kCompileContext].payload());
  }
  if (fields[kPoolId].kind() == kPool)
    event.pool = static_cast<std::uint16_t>(fields[kPoolId].payload());
  if (snapshot_.events.empty()) {
    snapshot_.keys.compile_context = fields.has(kCompileContext);
    snapshot_.keys.user_metadata = fields.has(kUserMetadata);
    snapshot_.keys.pool_id = fields.has(kPoolId);
  }
  snapshot_.events.push_back(event);
  return {kEvent, static_cast<std::int64_t>(snapshot_.events.size() - 1)};
}

PickleValue SnapshotBuilder::block(PickleReader& reader, const Fields& fields) {
  constexpr std::string_view kWhat = "a block";
  if (!fields.has(kSize)) return defect(reader, kWhat, "size");
  SnapshotBlock block;
  block.bytes = whole(reader, fields[kSize], kWhat, "size");
  if (fields.has(kAddress)) block.address = whole(reader, fields[kAddress], kWhat, "address");
  block.requested_bytes = fields.has(kRequestedSize)
                              ? whole(reader, fields[kRequestedSize], kWhat, "requested_size")
                              : block.bytes;
  const TextId state = text_of(reader, fields[kState], kWhat, "state");
  if (state == kActiveAllocated) {
    block.state = SnapshotBlockState::kActiveAllocated;
  } else if (state == kActivePendingFree || state == kActiveAwaitingFree) {
    block.state = SnapshotBlockState::kActivePendingFree;
  } else if (state != kInactive) {
    reader.fail(fmt::format("byte {}: a block's 'state' is '{}'", reader.position(),
                            printable(texts_[state])));
  }
  block.stack = stack_of(fields[kFrames]);
  snapshot_.blocks.push_back(block);
  return {kBlock, static_cast<std::int64_t>(snapshot_.blocks.size() - 1)};
}

PickleValue SnapshotBuilder::segment(PickleReader& reader, const Fields& fields) {
  constexpr std::string_view kWhat = "a segment";
  for (const Key key : {kAddress, kTotalSize, kSegmentType, kBlocks}) {
    if (!fields.has(key)) return defect(reader, kWhat, kKeyTexts[key]);
  }
  SnapshotSegment segment;
  segment.address = whole(reader, fields[kAddress], kWhat, "address");
  segment.total_bytes = whole(reader, fields[kTotalSize], kWhat, "total_size");
  if (fields.has(kDevice)) segment.device = device_of(reader, fields[kDevice], kWhat);
  if (fields.has(kStream))
    segment.stream = intern_stream(reader, whole(reader, fields[kStream], kWhat, "stream"));
  const TextId type = text_of(reader, fields[kSegmentType], kWhat, "segment_type");
  if (type != kSmall && type != kLarge) {
    reader.fail(fmt::format("byte {}: a segment's 'segment_type' is '{}'", reader.position(),
                            printable(texts_[type])));
  }
  segment.small = type == kSmall;
  segment.expandable =
      fields[kIsExpandable].kind() == PickleValue::kBool && fields[kIsExpandable].payload() != 0;
  if (fields[kSegmentPoolId].kind() == kPool)
    segment.pool = static_cast<std::uint16_t>(fields[kSegmentPoolId].payload());
  segment.stack = stack_of(fields[kFrames]);
  const PickleValue blocks = fields[kBlocks];
  if (blocks.kind() == kRange &&
      ranges_[static_cast<std::size_t>(blocks.payload())].kind == kBlock) {
    const Range& range = ranges_[static_cast<std::size_t>(blocks.payload())];
    segment.first_block = range.first;
    segment.block_count = range.count;
  } else if (blocks.kind() == kDefect) {
    reader.fail(defects_[static_cast<std::size_t>(blocks.payload())]);
  } else if (blocks.kind() != PickleValue::kList) {
    reader.fail(
        fmt::format("byte {}: a segment's 'blocks' is not a list of blocks", reader.position()));
  }
  snapshot_.segments.push_back(segment);
  return {kSegment, static_cast<std::int64_t>(snapshot_.segments.size() - 1)};
}

PickleValue SnapshotBuilder::annotation(PickleReader& reader, const Fields& fields) {
  constexpr std::string_view kWhat = "an annotation";
  for (const Key key : {kName, kTimeUs}) {
    if (!fields.has(key)) return defect(reader, kWhat, kKeyTexts[key]);
  }
  SnapshotAnnotation annotation;
  annotation.name = text_of(reader, fields[kName], kWhat, "name");
  annotation.end = text_of(reader, fields[kStage], kWhat, "stage") == kEnd;
  annotation.time_us = static_cast<std::int64_t>(whole(reader, fields[kTimeUs], kWhat, "time_us"));
  if (fields.has(kDevice)) annotation.device = device_of(reader, fields[kDevice], kWhat);
  snapshot_.annotations.push_back(annotation);
  return {kAnnotation, static_cast<std::int64_t>(snapshot_.annotations.size() - 1)};
}

PickleValue SnapshotBuilder::settings(PickleReader& reader, const Fields& fields) {
  SnapshotSettings& settings = snapshot_.settings;
  settings.recorded = true;
  if (fields[kConf].kind() == PickleValue::kText)
    settings.text = texts_[static_cast<TextId>(fields[kConf].payload())];
  if (fields[kMaxSplitSize].kind() == PickleValue::kInt)
    settings.max_split_bytes = fields[kMaxSplitSize].payload();
  if (fields[kThreshold].kind() == PickleValue::kFloat) {
    settings.garbage_collection_threshold = reader.number(fields[kThreshold]);
  }
  if (fields[kExpandableSegments].kind() == PickleValue::kBool) {
    settings.expandable_segments = fields[kExpandableSegments].payload() != 0;
  }
  return {kSettings, 0};
}

PickleValue SnapshotBuilder::divisions(PickleReader& reader, std::span<const PickleValue> items) {
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const auto key = static_cast<std::uint64_t>(items[i].payload());
    if (items[i].kind() != PickleValue::kText || key < kFirstDivision || key >= kFirstAction)
      continue;
    const std::uint64_t value =
        whole(reader, items[i + 1], "roundup_power2_divisions", texts_[static_cast<TextId>(key)]);
    snapshot_.settings.roundup_power2_divisions[key - kFirstDivision] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::uint64_t{1} << 31U));
  }
  return {kDivisions, 0};
}

void SnapshotBuilder::top(const Fields& fields) {
  if (fields.has(kSegments)) {
    has_segments_ = true;
    segments_value_ = fields[kSegments];
  }
  snapshot_.keys.host = snapshot_.keys.host || fields.has(kHostSegments);
  if (fields.has(kDeviceTraces)) traces_value_ = fields[kDeviceTraces];
  if (fields.has(kExternalAnnotations)) annotations_value_ = fields[kExternalAnnotations];
}

PickleValue SnapshotBuilder::dict(PickleReader& reader, PickleValue before,
                                  std::span<const PickleValue> items) {
  Fields fields;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const PickleValue key = items[i];
    if (key.kind() != PickleValue::kText) return {kOpaque, 0};
    const auto id = static_cast<std::uint64_t>(key.payload());
    if (id >= kKeyCount) {
      if (id < kFirstAction) return divisions(reader, items);
      continue;
    }
    fields.present |= std::uint64_t{1} << id;
    fields.values[id] = items[i + 1];
  }
  if (before.kind() == kTop || fields.has(kSegments) || fields.has(kDeviceTraces)) {
    top(fields);
    return {kTop, 0};
  }
  if (!before.fresh_container()) return {kOpaque, 0};
  if (fields.has(kFilename)) return frame(reader, fields);
  if (fields.has(kAction)) return event(reader, fields);
  if (fields.has(kState)) return block(reader, fields);
  if (fields.has(kBlocks) || fields.has(kTotalSize)) return segment(reader, fields);
  if (fields.has(kStage)) return annotation(reader, fields);
  if (fields.has(kConf) || fields.has(kMaxSplitSize)) return settings(reader, fields);
  return {kOpaque, 0};
}

PickleValue SnapshotBuilder::stack(PickleReader& /*reader*/, PickleValue before,
                                   std::span<const PickleValue> items) {
  scratch_.clear();
  if (before.kind() == kStack) {
    const auto head = snapshot_.stack(static_cast<StackId>(before.payload()));
    scratch_.assign(head.begin(), head.end());
  }
  for (const PickleValue item : items) {
    if (item.kind() != kFrame) return {kOpaque, 0};
    scratch_.push_back(static_cast<std::uint32_t>(item.payload()));
  }
  return {kStack, intern_stack(scratch_)};
}

PickleValue SnapshotBuilder::list(PickleReader& reader, PickleValue before,
                                  std::span<const PickleValue> items) {
  if (items.front().kind() == kFrame) return stack(reader, before, items);
  for (const PickleValue item : items) {
    if (item.kind() == kDefect) return item;
  }
  // A list of lists: the traces of several devices, of which some may be empty.
  const auto rows_kind = [](PickleValue item) -> std::uint8_t {
    if (item.kind() == PickleValue::kList) return kRange;
    if (item.kind() == kIgnoredEvent) return kEvent;
    return item.kind();
  };
  const std::uint8_t kind = rows_kind(items.front());
  if (kind != kEvent && kind != kBlock && kind != kSegment && kind != kAnnotation && kind != kRange)
    return {kOpaque, 0};
  std::size_t index = ranges_.size();
  if (before.kind() == kRange) {
    index = static_cast<std::size_t>(before.payload());
    if (ranges_[index].kind != kind) return {kOpaque, 0};
  } else {
    ranges_.push_back({kind, 0, 0});
  }
  for (const PickleValue item : items) {
    if (rows_kind(item) != kind) return {kOpaque, 0};
    if (item.kind() == kIgnoredEvent) continue;
    std::size_t row = static_cast<std::size_t>(item.payload());
    if (kind == kRange) {
      // Each device's range is repeated as a row of its own so that the rows are consecutive.
      row = ranges_.size();
      ranges_.push_back(item.kind() == kRange ? ranges_[static_cast<std::size_t>(item.payload())]
                                              : Range{kEvent, 0, 0});
    }
    Range& list = ranges_[index];
    if (list.count == 0) list.first = row;
    if (row != list.first + list.count) {
      reader.fail(fmt::format("byte {}: a list has the same entry twice", reader.position()));
    }
    ++list.count;
  }
  return {kRange, static_cast<std::int64_t>(index)};
}

PickleValue SnapshotBuilder::tuple(PickleReader& reader, std::span<const PickleValue> items) {
  if (items.size() != 2 || items[0].kind() != PickleValue::kInt ||
      items[1].kind() != PickleValue::kInt) {
    return {kOpaque, 0};
  }
  const SnapshotPool pool{whole(reader, items[0], "a pool", "id"),
                          whole(reader, items[1], "a pool", "id")};
  const auto found = std::ranges::find(snapshot_.pools, pool);
  const auto index = static_cast<std::size_t>(found - snapshot_.pools.begin());
  if (found == snapshot_.pools.end()) {
    constexpr std::size_t kMostPools = 4096;
    if (index == kMostPools)
      reader.fail(
          fmt::format("byte {}: more than {} private pools", reader.position(), kMostPools));
    snapshot_.pools.push_back(pool);
  }
  return {kPool, static_cast<std::int64_t>(index)};
}

}  // namespace tidemark
