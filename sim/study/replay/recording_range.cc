#include "sim/study/replay/recording_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/format/snapshot_program.h"
#include "sim/study/replay/purpose.h"
#include "sim/timeline/timeline.h"

namespace tidemark {

namespace {

constexpr std::string_view kForms =
    "expected an event's number, event:N, step:N, time:1.5s or mark:TEXT";

[[noreturn]] void refuse(std::string_view option, std::string message) {
  Problem problem;
  problem.path = option;
  problem.message = std::move(message);
  throw InputError(std::move(problem));
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "1.5s", "20ms", "300us" in microseconds.
std::optional<std::int64_t> microseconds(std::string_view text) {
  double factor = 0;
  for (const auto& [unit, us] :
       {std::pair<std::string_view, double>{"ms", 1e3}, {"us", 1}, {"s", 1e6}}) {
    if (!text.ends_with(unit)) continue;
    factor = us;
    text.remove_suffix(unit.size());
    break;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr double kLongest = 1e15;
  if (factor == 0 || error != std::errc() || end != text.data() + text.size() || !(number >= 0) ||
      number * factor > kLongest) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number * factor);
}

void add_step(std::vector<std::size_t>& steps, std::size_t event) {
  if (event > steps.back()) steps.push_back(event);
}

std::vector<std::size_t> steps_by_profiler(const Snapshot& snapshot, std::uint8_t device) {
  std::vector<std::size_t> steps{0};
  const EventTrace trace = snapshot.trace(device);
  for (const SnapshotAnnotation& each : snapshot.annotations) {
    if (each.device == device && !each.end &&
        snapshot.texts[each.name].starts_with("ProfilerStep#"))
      add_step(steps, trace.first_at(each.time_us));
  }
  return steps;
}

std::vector<std::size_t> steps_by_metadata(const Snapshot& snapshot, std::uint8_t device) {
  std::vector<std::size_t> steps{0};
  const EventTrace trace = snapshot.trace(device);
  TextId text = 0;
  std::string_view step;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TextId metadata = trace[i].user_metadata;
    if (metadata == text) continue;
    text = metadata;
    // Micro-batches "1.0", "1.1" are one step's.
    const std::string_view micro = split_phase_name(phase_in_metadata(snapshot.texts[text])).step;
    const std::string_view next = micro.substr(0, micro.find('.'));
    if (next.empty() || next == step) continue;
    // What comes before the first step belongs to it.
    if (!step.empty()) add_step(steps, i);
    step = next;
  }
  return steps;
}

std::vector<std::size_t> steps_by_optimizer(const Snapshot& snapshot, std::uint8_t device) {
  std::vector<std::size_t> steps{0};
  const EventTrace trace = snapshot.trace(device);
  for (const SnapshotAnnotation& each : snapshot.annotations) {
    if (each.device == device && each.end &&
        snapshot.texts[each.name].starts_with("Optimizer.step"))
      add_step(steps, trace.first_at(each.time_us));
  }
  return steps;
}

std::vector<std::size_t> steps_by_stacks(const Snapshot& snapshot, std::uint8_t device) {
  std::vector<std::size_t> steps{0};
  std::vector<std::optional<Purpose>> purposes(snapshot.stacks.size());
  const EventTrace trace = snapshot.trace(device);
  bool stepped = false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const SnapshotEvent event = trace[i];
    if (event.action != Action::kAlloc) continue;
    std::optional<Purpose>& purpose = purposes[event.stack];
    if (!purpose) purpose = purpose_of(snapshot, event.stack, 0);
    if (*purpose == Purpose::kOptimizer) {
      stepped = true;
    } else if (stepped && (*purpose == Purpose::kForward || *purpose == Purpose::kBackward ||
                           *purpose == Purpose::kInputs)) {
      add_step(steps, i);
      stepped = false;
    }
  }
  return steps;
}

}  // namespace

RecordingSteps recording_steps(const Snapshot& snapshot, std::uint8_t device) {
  using Teller = std::vector<std::size_t> (*)(const Snapshot&, std::uint8_t);
  constexpr std::pair<Teller, std::string_view> kTellers[]{
      {steps_by_profiler, "the profiler's annotations"},
      {steps_by_metadata, "the numbers in the events' user_metadata"},
      {steps_by_optimizer, "annotations 'Optimizer.step'"},
      {steps_by_stacks, "stacks: requests of an optimizer, then of forward, backward or inputs"}};
  for (const auto& [teller, name] : kTellers) {
    std::vector<std::size_t> steps = teller(snapshot, device);
    const bool whole = teller != steps_by_optimizer;
    if (steps.size() > 1) return {std::move(steps), name, whole};
  }
  return {};
}

std::size_t recording_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view option,
                             std::string_view text) {
  const EventTrace trace = snapshot.trace(device);
  const std::size_t colon = text.find(':');
  const std::string_view form = colon == std::string_view::npos ? "event" : text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? text : text.substr(colon + 1);
  if (form == "event" || form == "step") {
    const std::optional<std::uint64_t> number = whole_number(rest);
    if (!number) refuse(option, fmt::format("{}, found '{}'", kForms, text));
    if (form == "event") {
      if (*number > trace.size())
        refuse(option, fmt::format("there are only {} events", trace.size()));
      return static_cast<std::size_t>(*number);
    }
    const std::vector<std::size_t> steps = recording_steps(snapshot, device).first_events;
    if (*number >= steps.size()) {
      refuse(option, steps.size() == 1
                         ? "the recording has nothing to tell steps by: no annotation "
                           "'ProfilerStep#' or 'Optimizer.step', no number in user_metadata, no "
                           "optimizer in the stacks"
                         : fmt::format("the recording has only steps 0 to {}", steps.size() - 1));
    }
    return steps[static_cast<std::size_t>(*number)];
  }
  if (form == "time") {
    const std::optional<std::int64_t> time = microseconds(rest);
    if (!time) refuse(option, fmt::format("{}, found '{}'", kForms, text));
    if (!trace.empty() && trace[0].time_us == 0)
      refuse(option, "the recording has no times: PyTorch writes them from 2.2 on");
    return trace.empty() ? 0 : trace.first_at(trace[0].time_us + *time);
  }
  if (form == "mark") {
    for (const SnapshotAnnotation& each : snapshot.annotations) {
      if (each.device == device && !each.end &&
          snapshot.texts[each.name].find(rest) != std::string_view::npos) {
        return trace.first_at(each.time_us);
      }
    }
    refuse(option, fmt::format("no annotation of the recording holds '{}'", rest));
  }
  refuse(option, fmt::format("{}, found '{}'", kForms, text));
}

std::size_t step_of(const std::vector<std::size_t>& steps, std::size_t event) {
  return static_cast<std::size_t>(std::ranges::upper_bound(steps, event) - steps.begin()) - 1;
}

std::vector<RecordedDevice> devices_of(const Snapshot& snapshot) {
  std::vector<RecordedDevice> devices;
  for (const std::uint8_t device : recorded_devices(snapshot)) {
    RecordedDevice out;
    out.device = device;
    std::int64_t change = 0;
    std::int64_t highest = 0;
    for (const SnapshotEvent& event : snapshot.trace(device)) {
      ++out.events;
      const auto bytes = static_cast<std::int64_t>(event.bytes);
      if (event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap)
        change += bytes;
      if (event.action == Action::kSegmentFree || event.action == Action::kSegmentUnmap)
        change -= bytes;
      if (event.action == Action::kOom) ++out.ooms;
      highest = std::max(highest, change);
    }
    std::int64_t at_end = 0;
    for (const SnapshotSegment& segment : snapshot.segments) {
      if (segment.device == device) at_end += static_cast<std::int64_t>(segment.total_bytes);
    }
    out.peak_reserved_bytes = static_cast<Bytes>(at_end - change + highest);
    devices.push_back(out);
  }
  return devices;
}

std::uint8_t worst_device(const Snapshot& snapshot) {
  const std::vector<RecordedDevice> devices = devices_of(snapshot);
  const auto badness = [](const RecordedDevice& one) {
    return std::pair(one.ooms > 0, one.ooms > 0 ? Bytes{0} : one.peak_reserved_bytes);
  };
  const auto worst = std::ranges::max_element(devices, {}, badness);
  return worst == devices.end() ? std::uint8_t{0} : worst->device;
}

std::vector<std::string> settings_grid(Version version) {
  std::vector<std::string> grid;
  for (const std::string_view conf :
       {"", "expandable_segments:True", "roundup_power2_divisions:4", "roundup_power2_divisions:8",
        "roundup_power2_divisions:16", "max_split_size_mb:64", "max_split_size_mb:128",
        "max_split_size_mb:256", "max_split_size_mb:512", "large_segment_size_mb:64",
        "expandable_segments:True,roundup_power2_divisions:8",
        "max_split_size_mb:128,roundup_power2_divisions:8"}) {
    try {
      (void)parse_settings("grid", conf, version);
      grid.emplace_back(conf);
    } catch (const InputError&) {
      continue;  // a key that this release does not know
    }
  }
  return grid;
}

}  // namespace tidemark
