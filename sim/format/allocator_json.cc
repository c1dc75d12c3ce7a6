#include "sim/format/allocator_json.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/format/json_reader.h"

namespace tidemark {
namespace {

[[noreturn]] void fail(std::string_view name, const JsonValue& at, std::string message) {
  SourceText source;
  source.name = std::string(name);
  source.first_line = at.at.line;
  Problem problem;
  problem.at = at.at;
  problem.at.line = problem.at.end_line = 1;
  problem.at.source = std::make_shared<const SourceText>(std::move(source));
  problem.message = std::move(message);
  throw InputError(std::move(problem));
}

/// Reads the members of one object by key.
class Fields {
 public:
  Fields(const JsonValue& object, std::string_view name) : object_(object), name_(name) {
    if (object.kind != JsonValue::Kind::kObject) fail(name, object, "expected an object");
  }
  [[nodiscard]] const JsonValue& member(std::string_view key, JsonValue::Kind kind) const {
    const JsonValue* const value = object_.find(key);
    if (value == nullptr) fail(name_, object_, fmt::format("the key '{}' is missing", key));
    if (value->kind != kind) fail(name_, *value, fmt::format("'{}' is of the wrong kind", key));
    return *value;
  }
  [[nodiscard]] std::uint64_t number(std::string_view key,
                                     std::uint64_t largest = INT64_MAX) const {
    const JsonValue& value = member(key, JsonValue::Kind::kInteger);
    if (value.integer < 0 || value.unsigned_integer > largest) {
      fail(name_, value, fmt::format("'{}' is out of range", key));
    }
    return value.unsigned_integer;
  }
  [[nodiscard]] const std::vector<JsonValue>& list(std::string_view key) const {
    return member(key, JsonValue::Kind::kArray).items;
  }
  [[nodiscard]] const std::string& text(std::string_view key) const {
    return member(key, JsonValue::Kind::kText).text;
  }
  [[nodiscard]] bool claim(std::string_view key) const {
    return member(key, JsonValue::Kind::kBoolean).boolean;
  }
  [[noreturn]] void unknown(std::string_view key) const {
    fail(name_, *object_.find(key), fmt::format("unknown {} '{}'", key, text(key)));
  }

 private:
  const JsonValue& object_;
  std::string_view name_;
};

BlockInfo read_block(const JsonValue& value, std::string_view name) {
  const Fields fields(value, name);
  BlockInfo block;
  block.address = fields.number("address");
  block.bytes = fields.number("size");
  block.requested_bytes = fields.number("requested_size");
  constexpr std::array kStates{BlockState::kActiveAllocated, BlockState::kActivePendingFree,
                               BlockState::kInactive};
  const auto* const state = std::find_if(
      kStates.begin(), kStates.end(),
      [&fields](BlockState each) { return block_state_name(each) == fields.text("state"); });
  if (state == kStates.end()) fields.unknown("state");
  block.state = *state;
  return block;
}

SegmentInfo read_segment(const JsonValue& value, std::string_view name) {
  const Fields fields(value, name);
  SegmentInfo segment;
  segment.device = static_cast<std::uint8_t>(fields.number("device", 0xff));
  segment.address = fields.number("address");
  segment.total_bytes = fields.number("total_size");
  segment.allocated_bytes = fields.number("allocated_size");
  segment.active_bytes = fields.number("active_size");
  segment.requested_bytes = fields.number("requested_size");
  segment.stream = static_cast<StreamId>(fields.number("stream", 0xffff));
  const std::string& kind = fields.text("segment_type");
  if (kind != "small" && kind != "large") fields.unknown("segment_type");
  segment.kind = kind == "small" ? PoolKind::kSmall : PoolKind::kLarge;
  const auto& pool = fields.list("segment_pool_id");
  const auto is_number = [](const JsonValue& each) {
    return each.kind == JsonValue::Kind::kInteger && each.unsigned_integer <= UINT32_MAX;
  };
  if (pool.size() != 2 || !is_number(pool[0]) || !is_number(pool[1])) {
    fail(name, value, "'segment_pool_id' is no pair of numbers");
  }
  segment.pool = {static_cast<std::uint32_t>(pool[0].unsigned_integer),
                  static_cast<std::uint32_t>(pool[1].unsigned_integer)};
  segment.expandable = fields.claim("is_expandable");
  for (const JsonValue& block : fields.list("blocks"))
    segment.blocks.push_back(read_block(block, name));
  return segment;
}

}  // namespace

void write_stats_json(const FlatStatistics& statistics, std::string& out) {
  out += '{';
  std::string_view separator = "\n";
  for (const auto& [key, value] : statistics) {
    out += fmt::format("{} \"{}\": {}", separator, key, value);
    separator = ",\n";
  }
  out += "\n}\n";
}

FlatStatistics read_stats_json(std::string_view text, std::string_view name) {
  const JsonValue document = read_json(text, name);
  if (document.kind != JsonValue::Kind::kObject) fail(name, document, "expected an object");
  FlatStatistics statistics;
  for (const auto& [key, value] : document.members) {
    if (value.kind != JsonValue::Kind::kInteger)
      fail(name, value, fmt::format("'{}' is no integer", key));
    statistics.emplace_back(key, value.integer);
  }
  return statistics;
}

void write_segments_json(std::span<const SegmentInfo> segments, std::string& out) {
  out += "[\n";
  bool first = true;
  for (const SegmentInfo& segment : segments) {
    if (!first) out += ",\n";
    first = false;
    fmt::format_to(
        std::back_inserter(out),
        R"({{"device": {}, "address": {}, "total_size": {}, "allocated_size": {}, "active_size": {}, )"
        R"("requested_size": {}, "stream": {}, "segment_type": "{}", "segment_pool_id": [{}, {}], )"
        R"("is_expandable": {}, "blocks": [)",
        segment.device, segment.address, segment.total_bytes, segment.allocated_bytes,
        segment.active_bytes, segment.requested_bytes, segment.stream,
        segment.kind == PoolKind::kSmall ? "small" : "large", segment.pool.capture,
        segment.pool.user, segment.expandable);
    std::string_view separator;
    for (const BlockInfo& block : segment.blocks) {
      fmt::format_to(std::back_inserter(out),
                     R"({}{{"address": {}, "size": {}, "requested_size": {}, "state": "{}"}})",
                     separator, block.address, block.bytes, block.requested_bytes,
                     block_state_name(block.state));
      separator = ", ";
    }
    out += "]}";
  }
  out += "\n]\n";
}

std::vector<SegmentInfo> read_segments_json(std::string_view text, std::string_view name) {
  const JsonValue document = read_json(text, name);
  if (document.kind != JsonValue::Kind::kArray) fail(name, document, "expected an array");
  std::vector<SegmentInfo> segments;
  for (const JsonValue& value : document.items) segments.push_back(read_segment(value, name));
  return segments;
}

}  // namespace tidemark
