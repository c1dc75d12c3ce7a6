#include "tests/golden/training/recorded_run.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/format/events_csv.h"
#include "sim/format/whole_file.h"
#include "sim/timeline/diff.h"
#include "sim/yaml/yaml.h"

namespace tidemark {
namespace {

/// JSON is YAML.
yaml::Node read_json(const std::string& path) {
  auto source = std::make_shared<SourceText>();
  source->name = path;
  source->text = read_whole_file(path);
  return yaml::parse(source);
}

const yaml::Node& member(const yaml::Node& node, std::string_view key) {
  static const yaml::Node kNone;
  const yaml::Node* found = node.find(key);
  return found == nullptr ? kNone : *found;
}

std::int64_t whole_number(const yaml::Node& node) { return yaml::integer(node).value_or(-1); }

std::string event_text(const std::vector<Event>& events, std::size_t i,
                       const std::vector<std::uint32_t>& order) {
  if (i >= events.size()) return "nothing";
  const Event& event = events[order.empty() ? i : order[i]];
  return fmt::format("{} {} @{} id {}", action_name(event.action), event.bytes, event.address,
                     event.id == kNoRequest ? -1 : static_cast<std::int64_t>(event.id));
}

/// The phase that the recorded event lies in.
std::string phase_name_at(const RecordedRun& recorded, std::size_t event) {
  for (const RecordedRun::Phase& phase : recorded.phases) {
    if (static_cast<std::int64_t>(event) < phase.first_event + phase.events) return phase.name;
  }
  return recorded.phases.empty() ? std::string() : recorded.phases.back().name;
}

std::map<std::string, std::int64_t> bytes_of(const PhaseResult& phase) {
  std::map<std::string, std::int64_t> bytes;
  const auto add = [&](const std::string& name, const PhaseBytes& value) {
    bytes[name + ".current"] = static_cast<std::int64_t>(value.current);
    bytes[name + ".peak"] = static_cast<std::int64_t>(value.peak);
  };
  add("allocated_bytes", phase.allocated);
  add("reserved_bytes", phase.reserved);
  add("active_bytes", phase.active);
  add("requested_bytes", phase.requested);
  bytes["inactive_split_bytes.current"] = static_cast<std::int64_t>(phase.inactive_split_bytes);
  return bytes;
}

class Comparer {
 public:
  Comparer(const RecordedRun& recorded, const RunResult& result)
      : recorded_(recorded), device_(result.devices.at(0)) {}

  RunComparison compare() {
    result_.events = recorded_.events.size();
    compare_events();
    compare_ooms();
    compare_phases();
    compare_statistics();
    return std::move(result_);
  }

 private:
  void note(std::string text) {
    if (result_.first.empty()) result_.first = std::move(text);
  }

  void compare_events() {
    DiffOptions options;
    options.unordered_frees = recorded_.frees_in_no_order;
    const EventDiff diff = diff_events(recorded_.events, device_.events, options);
    result_.differing_events = diff.differing;
    if (!diff.first) return;
    const std::vector<std::uint32_t> a(diff.a_order.begin(), diff.a_order.end());
    const std::vector<std::uint32_t> b(diff.b_order.begin(), diff.b_order.end());
    const std::size_t at = *diff.first;
    const std::string label =
        at < device_.labels.size()
            ? fmt::format(" (label {})", device_.labels[b.empty() ? at : b[at]])
            : std::string();
    note(fmt::format("event {} in {}: recorded {}, simulated {}{}", at,
                     phase_name_at(recorded_, at), event_text(recorded_.events, at, a),
                     event_text(device_.events, at, b), label));
  }

  void compare_ooms() {
    const std::size_t most = std::max(recorded_.ooms.size(), device_.ooms.size());
    for (std::size_t i = 0; i < most; ++i) {
      if (i >= recorded_.ooms.size() || i >= device_.ooms.size()) {
        ++result_.differing_ooms;
        note(fmt::format("{} requests refused, recorded {}", device_.ooms.size(),
                         recorded_.ooms.size()));
        continue;
      }
      const RecordedRun::Oom& wanted = recorded_.ooms[i];
      const OomResult& got = device_.ooms[i];
      const std::string phase =
          got.phase == kNoPhase ? std::string() : device_.phases[got.phase].name;
      if (wanted.phase == phase && wanted.message == got.message &&
          wanted.requested == got.figures.rounded_bytes &&
          wanted.device_free == got.figures.device_free_bytes) {
        continue;
      }
      ++result_.differing_ooms;
      note(fmt::format("refusal {} in {}: {}\n    recorded in {}: {}", i, phase, got.message,
                       wanted.phase, wanted.message));
    }
  }

  void compare_phases() {
    const std::size_t most = std::max(recorded_.phases.size(), device_.phases.size());
    for (std::size_t i = 0; i < most; ++i) {
      if (i >= recorded_.phases.size() || i >= device_.phases.size()) {
        ++result_.differing_phases;
        note(fmt::format("{} phases, recorded {}", device_.phases.size(), recorded_.phases.size()));
        continue;
      }
      const RecordedRun::Phase& wanted = recorded_.phases[i];
      const PhaseResult& got = device_.phases[i];
      if (wanted.name == got.name && wanted.first_event == got.first_event &&
          wanted.events == got.events && wanted.bytes == bytes_of(got)) {
        continue;
      }
      ++result_.differing_phases;
      note(fmt::format("phase {} '{}': events {}+{}, peak {}; recorded '{}': {}+{}, {}", i,
                       got.name, got.first_event, got.events, got.allocated.peak, wanted.name,
                       wanted.first_event, wanted.events, wanted.bytes.at("allocated_bytes.peak")));
    }
  }

  void compare_statistics() {
    const auto flat = flatten(device_.statistics, device_.settings.version);
    const std::map<std::string, std::int64_t> got(flat.begin(), flat.end());
    for (const auto& [key, value] : recorded_.statistics) {
      // How often free parts of segments came and went hangs on the order of the frees; what is
      // there at the end does not.
      if (recorded_.frees_in_no_order && key.starts_with("inactive_split") &&
          !key.ends_with(".current"))
        continue;
      const auto found = got.find(key);
      if (found != got.end() && found->second == value) continue;
      ++result_.differing_statistics;
      note(fmt::format("{} is {}, recorded {}", key,
                       found == got.end() ? "absent" : std::to_string(found->second), value));
    }
  }

  const RecordedRun& recorded_;
  const DeviceResult& device_;
  RunComparison result_;
};

}  // namespace

RecordedRun read_recorded_run(const std::string& folder) {
  RecordedRun run;
  const std::string events = folder + "/events.csv.gz";
  run.events = read_events_csv(read_whole_file(events), events).events;
  const yaml::Node stats = read_json(folder + "/stats.json.gz");
  for (const yaml::Entry& entry : member(stats, "stats").entries) {
    run.statistics.emplace_back(entry.key, whole_number(entry.value));
  }
  for (const yaml::Node& node : member(stats, "phases").items) {
    RecordedRun::Phase phase;
    for (const yaml::Entry& entry : node.entries) {
      if (entry.key == "phase") {
        phase.name = entry.value.text;
      } else if (entry.key == "first_event") {
        phase.first_event = whole_number(entry.value);
      } else if (entry.key == "events") {
        phase.events = whole_number(entry.value);
      } else {
        phase.bytes[entry.key] = whole_number(entry.value);
      }
    }
    run.phases.push_back(std::move(phase));
  }
  const yaml::Node config = read_json(folder + "/config.json");
  run.frees_in_no_order = config.find("frees_in_no_order") != nullptr;
  for (const yaml::Node& node : member(config, "oom_events").items) {
    run.ooms.push_back({member(node, "phase").text, member(node, "message").text,
                        static_cast<Bytes>(whole_number(member(node, "requested"))),
                        static_cast<Bytes>(whole_number(member(node, "device_free")))});
  }
  return run;
}

RunComparison compare(const RecordedRun& recorded, const RunResult& result) {
  return Comparer(recorded, result).compare();
}

}  // namespace tidemark
