#include "tests/golden/allocator/allocator_case.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "sim/alloc/caching_allocator.h"
#include "sim/alloc/make_allocator.h"
#include "sim/alloc/settings_parser.h"
#include "sim/format/events_csv.h"
#include "sim/format/json_reader.h"
#include "sim/format/whole_file.h"

namespace tidemark::golden {
namespace {

std::string words(const Event& event) {
  return fmt::format("{},{},{},{},{}", action_name(event.action), event.address, event.bytes,
                     event.stream, event.id == kNoRequest ? "" : std::to_string(event.id));
}

bool same(const Event& a, const Event& b) {
  return a.action == b.action && a.address == b.address && a.bytes == b.bytes &&
         a.stream == b.stream && a.id == b.id;
}

bool same(const SegmentInfo& a, const SegmentInfo& b) {
  if (a.blocks.size() != b.blocks.size()) return false;
  SegmentInfo left = a;
  SegmentInfo right = b;
  for (SegmentInfo* each : {&left, &right}) {
    for (BlockInfo& block : each->blocks) block.id = kNoRequest;
  }
  return left == right;
}

}  // namespace

AllocatorCase read_case(const std::string& folder) {
  AllocatorCase golden;
  golden.name = std::filesystem::path(folder).filename().string();
  const JsonValue config =
      read_json(read_whole_file(folder + "/config.json"), folder + "/config.json");
  const std::string& torch = config.find("torch")->text;
  const Version version = parse_version("torch", torch.substr(0, torch.find('+')));
  golden.settings = parse_settings("conf", config.find("conf")->text, version).settings;
  golden.device.total_bytes = config.find("device_total_bytes")->unsigned_integer;
  golden.device.context_bytes = config.find("context_bytes")->unsigned_integer;
  const JsonValue& fraction = *config.find("memory_fraction");
  if (fraction.kind != JsonValue::Kind::kNull) golden.memory_fraction = fraction.real;
  const std::string& policy = config.find("event_policy")->text;
  if (policy == "ready") golden.policy = TraceClock::Policy::kReady;
  if (policy.starts_with("lag:")) {
    golden.policy = TraceClock::Policy::kLag;
    golden.lag = std::stoull(policy.substr(4));
  }
  golden.clock = TraceClock(golden.policy, golden.lag);
  golden.trace = read_request_trace_file(folder + "/requests.tmt.gz");
  golden.statistics = read_stats_json(read_whole_file(folder + "/stats.json"), "stats.json");
  if (std::filesystem::exists(folder + "/events.csv.gz")) {
    golden.events =
        read_events_csv(read_whole_file(folder + "/events.csv.gz"), "events.csv").events;
    golden.segments_text = read_whole_file(folder + "/segments.json.gz");
    golden.segments = read_segments_json(golden.segments_text, "segments.json");
  }
  return golden;
}

std::vector<std::string> case_folders(const std::string& folder) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (std::filesystem::exists(entry.path() / "config.json"))
      folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::optional<std::string> shared_goldens() {
  const char* const named = std::getenv("TIDEMARK_SHARED");
  std::string folder = named != nullptr ? named : std::string(TIDEMARK_SOURCE_DIR) + "/../shared";
  folder += "/goldens";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

Played play(const AllocatorCase& golden) {
  DeviceMemory device(golden.device);
  TraceClock clock = golden.clock;
  const auto allocator = make_allocator(golden.settings, device, clock, golden.memory_fraction);
  Played played;
  played.history.events.reserve(2 * golden.trace.instructions.size());
  allocator->set_history(&played.history);
  std::span<const Instruction> rest(golden.trace.instructions);
  while (!rest.empty()) rest = rest.subspan(allocator->execute(rest));
  played.statistics = flatten(allocator->statistics(), golden.settings.version);
  played.segments = allocator->segments();
  return played;
}

Differences compare(const AllocatorCase& golden, const Played& played) {
  Differences differences;
  const auto differ = [&differences](std::size_t& count, const auto& say) {
    if (differences.none()) differences.first = say();
    ++count;
  };
  const auto& ours = played.history.events;
  for (std::size_t at = 0; at < std::max(ours.size(), golden.events.size()); ++at) {
    if (at < ours.size() && at < golden.events.size() && same(ours[at], golden.events[at]))
      continue;
    differ(differences.events, [&] {
      return fmt::format("event {}: {}; expected {}", at,
                         at < ours.size() ? words(ours[at]) : "none",
                         at < golden.events.size() ? words(golden.events[at]) : "none");
    });
  }
  for (std::size_t at = 0; at < std::max(played.statistics.size(), golden.statistics.size());
       ++at) {
    if (at < played.statistics.size() && at < golden.statistics.size() &&
        played.statistics[at] == golden.statistics[at]) {
      continue;
    }
    differ(differences.statistics, [&] {
      const auto say = [at](const FlatStatistics& all) {
        return at < all.size() ? fmt::format("{} = {}", all[at].first, all[at].second)
                               : std::string("none");
      };
      return say(played.statistics) + "; expected " + say(golden.statistics);
    });
  }
  for (std::size_t at = 0; at < std::max(played.segments.size(), golden.segments.size()); ++at) {
    if (at < played.segments.size() && at < golden.segments.size() &&
        same(played.segments[at], golden.segments[at])) {
      continue;
    }
    differ(differences.segments,
           [&] { return fmt::format("segment {} of {}", at, golden.segments.size()); });
  }
  std::string text;
  write_segments_json(played.segments, text);
  if (differences.segments == 0 && text != golden.segments_text) {
    differ(differences.segments, [] { return std::string("the text of the segments"); });
  }
  return differences;
}

}  // namespace tidemark::golden
