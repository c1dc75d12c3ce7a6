#include "sim/study/recording_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"

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

std::size_t first_event_at(std::span<const SnapshotEvent> trace, std::int64_t time_us) {
  const auto found = std::ranges::find_if(
      trace, [time_us](const SnapshotEvent& event) { return event.time_us >= time_us; });
  return static_cast<std::size_t>(found - trace.begin());
}

}  // namespace

std::vector<std::size_t> recording_steps(const Snapshot& snapshot, std::uint8_t device) {
  std::vector<std::size_t> steps{0};
  for (const SnapshotAnnotation& each : snapshot.annotations) {
    if (each.device != device || !each.end ||
        !snapshot.texts[each.name].starts_with("Optimizer.step"))
      continue;
    const std::size_t event = first_event_at(snapshot.trace(device), each.time_us);
    if (event > steps.back()) steps.push_back(event);
  }
  return steps;
}

std::size_t recording_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view option,
                             std::string_view text) {
  const std::span<const SnapshotEvent> trace = snapshot.trace(device);
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
    const std::vector<std::size_t> steps = recording_steps(snapshot, device);
    if (*number >= steps.size()) {
      refuse(option, steps.size() == 1
                         ? "the recording has no annotation 'Optimizer.step' to tell steps by"
                         : fmt::format("the recording has only steps 0 to {}", steps.size() - 1));
    }
    return steps[static_cast<std::size_t>(*number)];
  }
  if (form == "time") {
    const std::optional<std::int64_t> time = microseconds(rest);
    if (!time) refuse(option, fmt::format("{}, found '{}'", kForms, text));
    return trace.empty() ? 0 : first_event_at(trace, trace.front().time_us + *time);
  }
  if (form == "mark") {
    for (const SnapshotAnnotation& each : snapshot.annotations) {
      if (each.device == device && !each.end &&
          snapshot.texts[each.name].find(rest) != std::string_view::npos) {
        return first_event_at(trace, each.time_us);
      }
    }
    refuse(option, fmt::format("no annotation of the recording holds '{}'", rest));
  }
  refuse(option, fmt::format("{}, found '{}'", kForms, text));
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
