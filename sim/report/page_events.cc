#include "sim/report/page_events.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/format/snapshot_program.h"
#include "sim/format/snapshot_state.h"
#include "sim/report/explain_report.h"
#include "sim/study/explain/memory_explain.h"
#include "sim/study/replay/purpose.h"

namespace tidemark {

namespace {

/// Values in the order in which they were first met.
template <class Value>
class Numbered {
 public:
  std::uint32_t of(const Value& value) {
    const auto [at, is_new] =
        numbers_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (is_new) values_.push_back(value);
    return at->second;
  }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  std::unordered_map<Value, std::uint32_t> numbers_;
  std::vector<Value> values_;
};

/// "relu1: relu" of a run, whose frames are a module and an operator; of PyTorch's the summary.
std::string maker_text(const Snapshot& snapshot, StackId stack) {
  const std::span<const std::uint32_t> frames = snapshot.stack(stack);
  std::string out;
  for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
    const SnapshotFrame& frame = snapshot.frames[*at];
    if (!snapshot.texts[frame.filename].empty()) return stack_summary(snapshot, stack);
    if (!out.empty()) out += ": ";
    out += snapshot.texts[frame.name];
  }
  return std::string(maker_of(out));
}

/// Texts of stacks, each summed up once.
class Makers {
 public:
  explicit Makers(const Snapshot& snapshot) : snapshot_(snapshot) {}
  std::uint32_t of(StackId stack) {
    const auto [at, is_new] = by_stack_.try_emplace(stack, 0);
    if (is_new) at->second = texts_.of(maker_text(snapshot_, stack));
    return at->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_.values(); }

 private:
  const Snapshot& snapshot_;
  std::unordered_map<StackId, std::uint32_t> by_stack_;
  Numbered<std::string> texts_;
};

template <class T>
void append(std::string& out, const std::vector<T>& column) {
  if (column.empty()) return;
  const std::size_t at = out.size();
  out.resize(at + column.size() * sizeof(T));
  std::memcpy(out.data() + at, column.data(), column.size() * sizeof(T));
}

std::vector<double> as_doubles(const std::vector<std::uint64_t>& values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const std::uint64_t value : values) out.push_back(static_cast<double>(value));
  return out;
}

void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array(true);
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

/// Columns of events, an entry an event.
struct Columns {
  std::vector<std::uint32_t> address, bytes, asked, maker, phase;
  std::vector<std::uint16_t> stream, pool;
  std::vector<std::uint8_t> action, purpose;
};

void write_start(const SnapshotState& start, const Snapshot& snapshot, Makers& makers,
                 JsonWriter& json) {
  json.key("start").begin_object().key("segments").begin_array(true);
  for (const StateSegment& segment : start.segments) {
    json.begin_array(true).value(segment.address).value(segment.bytes);
    json.value(std::uint64_t{segment.stream}).value(std::uint64_t{segment.pool});
    json.value(std::uint64_t{segment.small}).value(std::uint64_t{segment.expandable}).end_array();
  }
  json.end_array().key("blocks").begin_array(true);
  for (const StateBlock& block : start.blocks) {
    json.begin_array(true).value(block.address).value(block.requested_bytes).value(block.bytes);
    json.value(std::uint64_t{makers.of(block.stack)});
    json.value(static_cast<std::uint64_t>(purpose_of(snapshot, block.stack, 0))).end_array();
  }
  json.end_array().end_object();
}

}  // namespace

std::string write_page_events(const HtmlReport& report, JsonWriter& json) {
  const Snapshot& snapshot = *report.snapshot;
  const std::uint8_t device = report.explanation->device;
  const EventTrace trace = snapshot.trace(device);
  const std::size_t moment = report.explanation->picture.event;
  const std::size_t count = std::min(trace.size(), kMostPageEvents);
  const std::size_t first =
      std::min(trace.size() - count, moment > count / 2 ? moment - count / 2 : 0);
  Makers makers(snapshot);
  makers.of(0);
  Numbered<std::uint64_t> addresses;
  Numbered<std::uint64_t> sizes;
  Numbered<std::string> phases;
  Columns columns;
  std::unordered_map<TextId, std::uint32_t> phase_of;
  std::unordered_map<std::uint64_t, std::uint8_t> purposes;
  for (std::size_t i = first; i < first + count; ++i) {
    const SnapshotEvent event = trace[i];
    const bool asks = event.action == Action::kAlloc;
    columns.address.push_back(addresses.of(event.address));
    columns.bytes.push_back(sizes.of(event.bytes));
    columns.asked.push_back(
        sizes.of(asks ? rounded_request(report.agreement->settings, event.bytes) : event.bytes));
    columns.maker.push_back(makers.of(event.stack));
    const auto [phase, is_new] = phase_of.try_emplace(event.user_metadata, 0);
    if (is_new)
      phase->second =
          phases.of(std::string(phase_in_metadata(snapshot.texts[event.user_metadata])));
    columns.phase.push_back(phase->second);
    columns.stream.push_back(static_cast<std::uint16_t>(event.stream));
    columns.pool.push_back(event.pool);
    columns.action.push_back(static_cast<std::uint8_t>(event.action));
    columns.purpose.push_back(0);
    if (!asks) continue;
    const std::uint64_t key = std::uint64_t{event.stack} << 32U | event.user_metadata;
    const auto [purpose, is_first] = purposes.try_emplace(key, std::uint8_t{0});
    if (is_first)
      purpose->second =
          static_cast<std::uint8_t>(purpose_of(snapshot, event.stack, event.user_metadata));
    columns.purpose.back() = purpose->second;
  }
  SnapshotRewind rewind(snapshot, device);
  write_start(rewind.before(first), snapshot, makers, json);
  json.member("events", std::uint64_t{count}).member("first", std::uint64_t{first});
  json.member("moment", std::uint64_t{moment - first});
  json.member("addresses", std::uint64_t{addresses.values().size()});
  json.member("sizes", std::uint64_t{sizes.values().size()});
  write_texts(json, "makers", makers.texts());
  write_texts(json, "phases", phases.values());
  json.key("purposes").begin_array(true);
  for (const std::string_view name : kPurposeNames) json.value(name);
  json.end_array();

  std::string out;
  append(out, as_doubles(addresses.values()));
  append(out, as_doubles(sizes.values()));
  for (const auto* column :
       {&columns.address, &columns.bytes, &columns.asked, &columns.maker, &columns.phase})
    append(out, *column);
  append(out, columns.stream);
  append(out, columns.pool);
  append(out, columns.action);
  append(out, columns.purpose);
  return out;
}

}  // namespace tidemark
