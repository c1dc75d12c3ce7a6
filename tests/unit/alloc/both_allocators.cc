#include "tests/unit/alloc/both_allocators.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "sim/alloc/settings_parser.h"

namespace tidemark {

namespace {

naive::Options naive_options(const BothAllocators::Setup& setup) {
  naive::Options options;
  options.settings = parse_settings("conf", setup.conf, setup.version).settings;
  options.total_bytes = setup.total_bytes;
  options.context_bytes = setup.total_bytes - setup.room_bytes;
  options.memory_fraction = setup.fraction;
  if (setup.no_split_pool != 0) options.no_split_pools.insert(setup.no_split_pool);
  return options;
}

char letter(BlockState state) {
  return state == BlockState::kActiveAllocated     ? 'A'
         : state == BlockState::kActivePendingFree ? 'P'
                                                   : 'f';
}

std::string size_text(Bytes bytes, Bytes unit) {
  if (bytes % unit == 0) return std::to_string(bytes / unit);
  return fmt::format("{}", static_cast<double>(bytes) / static_cast<double>(unit));
}

std::string event_size(Bytes bytes) {
  if (bytes >= kMiB && bytes % kMiB == 0) return fmt::format("{}M", bytes / kMiB);
  return std::to_string(bytes);
}

}  // namespace

BothAllocators::BothAllocators(const Setup& setup)
    : memory_({setup.total_bytes, setup.total_bytes - setup.room_bytes, 0, 0}),
      fast_(parse_settings("conf", setup.conf, setup.version).settings, memory_, clock_),
      naive_(naive_options(setup)),
      version_(setup.version) {
  fast_.set_history(&history_);
  if (setup.fraction) fast_.set_memory_fraction(*setup.fraction);
  if (setup.no_split_pool != 0) {
    fast_.create_pool({0, setup.no_split_pool});
    fast_.set_no_split({0, setup.no_split_pool});
  }
}

void BothAllocators::execute(const Instruction& instruction) {
  fast_.execute(std::span(&instruction, 1));
  const bool fast_refused = fast_.refused();
  refused_ = !naive_.execute(instruction);
  REQUIRE(fast_refused == refused_);
}

RequestId BothAllocators::malloc(Bytes bytes, StreamId stream, PoolId pool) {
  Instruction instruction;
  instruction.verb = Verb::kAlloc;
  instruction.id = next_++;
  instruction.bytes = bytes;
  instruction.stream = stream;
  instruction.pool = pool;
  execute(instruction);
  return instruction.id;
}

void BothAllocators::free(RequestId id) {
  Instruction instruction;
  instruction.verb = Verb::kFree;
  instruction.id = id;
  execute(instruction);
}

void BothAllocators::use(RequestId id, StreamId stream) {
  Instruction instruction;
  instruction.verb = Verb::kUse;
  instruction.id = id;
  instruction.stream = stream;
  execute(instruction);
}

void BothAllocators::sync(StreamId stream) {
  Instruction instruction;
  instruction.verb = Verb::kSync;
  instruction.stream = stream;
  execute(instruction);
}

void BothAllocators::empty_cache() {
  Instruction instruction;
  instruction.verb = Verb::kEmptyCache;
  execute(instruction);
}

void BothAllocators::delete_pool(PoolId pool) {
  fast_.release_pool({0, pool});
  fast_.empty_cache(PoolKey{0, pool});
  naive_.delete_pool(pool);
}

void BothAllocators::check_equal() {
  const auto what = [](const std::vector<Event>& events) {
    std::vector<std::tuple<Action, std::uint64_t, Bytes, StreamId, RequestId>> rows;
    for (const Event& each : events)
      rows.emplace_back(each.action, each.address, each.bytes, each.stream, each.id);
    return rows;
  };
  REQUIRE(what(history_.events) == what(naive_.events()));
  REQUIRE(flatten(fast_.statistics(), version_) == naive_.flat_statistics());
  REQUIRE(fast_.segments() == naive_.segments());
}

std::string BothAllocators::drawing(Bytes unit) {
  check_equal();
  std::map<std::uint64_t, std::size_t> created;  // the segment that begins there now
  std::size_t count = 0;
  for (const Event& event : naive_.events()) {
    if (event.action == Action::kSegmentAlloc) created[event.address] = count++;
  }
  std::map<std::size_t, std::string> ordinary;
  std::map<std::pair<PoolKind, StreamId>, std::pair<std::string, std::uint64_t>>
      ranges;  // drawing so far, its end
  for (const SegmentInfo& segment : naive_.segments()) {
    std::string blocks;
    for (const BlockInfo& block : segment.blocks) {
      blocks += fmt::format(" {}{}", size_text(block.bytes, unit), letter(block.state));
    }
    if (!segment.expandable) {
      ordinary[created.at(segment.address)] = blocks;
      continue;
    }
    auto& [text, end] = ranges[{segment.kind, segment.stream}];
    if (!text.empty()) text += fmt::format(" {}u", size_text(segment.address - end, unit));
    text += blocks;
    end = segment.address + segment.total_bytes;
  }
  std::vector<std::string> parts;
  for (const auto& [number, blocks] : ordinary)
    parts.push_back(fmt::format("S{}:{}", number, blocks));
  for (const auto& [key, range] : ranges) {
    const std::string stream = key.second == 0 ? std::string() : std::to_string(key.second);
    parts.push_back(
        fmt::format("{}{}:{}", key.first == PoolKind::kLarge ? "L" : "s", stream, range.first));
  }
  return fmt::format("{}", fmt::join(parts, " | "));
}

std::string BothAllocators::events() {
  check_equal();
  std::vector<std::string> parts;
  for (; events_told_ < naive_.events().size(); ++events_told_) {
    const Event& event = naive_.events()[events_told_];
    parts.push_back(fmt::format("{}({})", action_name(event.action), event_size(event.bytes)));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::int64_t BothAllocators::stat(const std::string& key) {
  check_equal();
  for (const auto& [name, value] : naive_.flat_statistics()) {
    if (name == key) return value;
  }
  FAIL("no statistic " + key);
  return 0;
}

std::pair<std::int64_t, std::int64_t> BothAllocators::split() {
  return {stat("inactive_split.all.current"), stat("inactive_split_bytes.all.current")};
}

std::string BothAllocators::cell(const std::string& name) {
  return fmt::format("{}/{}/{}/{}", stat(name + ".current"), stat(name + ".peak"),
                     stat(name + ".allocated"), stat(name + ".freed"));
}

}  // namespace tidemark
