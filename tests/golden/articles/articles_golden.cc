// Runs every variant of configs/articles and compares with what the real PyTorch did: eleven
// figures at every marked point, the texts of out-of-memory errors, and for some every event with
// its address. Prints one line a variant; fails when one differs that is not among the exceptions.
//
//     golden_articles [--exceptions FILE] [--change-number] [NAME...]
//
// --exceptions FILE: lines "NAME: FIGURE, FIGURE: reason"; these figures of these variants may
// differ, and nothing else of them. "order of frees" is a figure of the events: frees that follow
// one another may come in any order; "held at the end": blocks that PyTorch still holds at the end
// of its record and that are free here. An exception that is exact without it fails too, so that
// the list cannot grow stale.
// --change-number: changes a recorded number first, to show that the comparison notices.
// NAME: "S21/empty_cache", or "S21/*" for all that begin so.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/format/events_csv.h"
#include "sim/format/whole_file.h"
#include "sim/run/run.h"
#include "sim/timeline/diff.h"
#include "sim/yaml/yaml.h"

namespace tidemark {
namespace {

const std::string kData = TIDEMARK_SOURCE_DIR "/tests/golden/articles/";
const std::string kConfigs = TIDEMARK_SOURCE_DIR "/configs/articles/";

using Figures = std::vector<std::string>;

struct Exception {
  std::string pattern;
  Figures figures;
  std::string reason;
};

struct Request {
  std::vector<std::string> names;
  std::vector<Exception> exceptions;
  bool change_number = false;
};

bool matches(const std::string& name, const std::string& pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

std::int64_t figure(const MeasuredPoint& point, const DeviceSpec& device, std::string_view name) {
  const AllocatorStatistics& s = point.statistics;
  if (name == "allocated") return s.allocated_bytes.all.current;
  if (name == "peak") return s.allocated_bytes.all.peak;
  if (name == "reserved") return s.reserved_bytes.all.current;
  if (name == "peak_reserved") return s.reserved_bytes.all.peak;
  if (name == "requested") return s.requested_bytes.all.current;
  if (name == "inactive_split") return s.inactive_split_bytes.all.current;
  if (name == "segments") return s.segment.all.current;
  if (name == "blocks") return s.allocation.all.current;
  if (name == "retries") return s.num_alloc_retries;
  if (name == "ooms") return s.num_ooms;
  return static_cast<std::int64_t>(device.total_bytes - point.device_free_bytes);
}

/// One variant's comparison. `first`: the first difference in words; empty: it is exact.
struct Comparison {
  std::size_t points = 0;
  std::size_t events = 0;
  std::string first;
};

/// Requests numbered from 0 in the order in which they first appear.
std::vector<Event> renumbered(std::vector<Event> events) {
  std::map<RequestId, RequestId> numbers;
  for (Event& event : events) {
    if (event.id == kNoRequest) continue;
    event.id = numbers.try_emplace(event.id, static_cast<RequestId>(numbers.size())).first->second;
  }
  return events;
}

bool holds(const Figures& figures, std::string_view name) {
  return std::find(figures.begin(), figures.end(), name) != figures.end();
}

/// Frees that follow one another, sorted by request.
std::vector<Event> with_frees_sorted(std::vector<Event> events) {
  const auto is_free = [](const Event& e) {
    return e.action == Action::kFreeRequested || e.action == Action::kFreeCompleted;
  };
  auto begin = events.begin();
  while (begin != events.end()) {
    const auto end = std::find_if_not(begin, events.end(), is_free);
    std::stable_sort(begin, end, [](const Event& a, const Event& b) { return a.id < b.id; });
    begin = std::find_if(end, events.end(), is_free);
  }
  return events;
}

/// Without the frees after the last request of blocks that `wanted` never frees.
std::vector<Event> without_last_frees(std::vector<Event> events, const std::vector<Event>& wanted) {
  std::set<RequestId> freed;
  for (const Event& event : wanted) {
    if (event.action == Action::kFreeRequested) freed.insert(event.id);
  }
  const auto last = std::find_if(events.rbegin(), events.rend(),
                                 [](const Event& event) { return event.action == Action::kAlloc; });
  events.erase(std::remove_if(last.base(), events.end(),
                              [&](const Event& event) { return !freed.contains(event.id); }),
               events.end());
  return events;
}

class Comparer {
 public:
  Comparer(const yaml::Node& recorded, const RunResult& result, const Figures& excepted)
      : recorded_(recorded), result_(result), excepted_(excepted) {}

  Comparison compare(std::int64_t change) {
    compare_points(change);
    compare_texts();
    compare_events();
    return std::move(comparison_);
  }

 private:
  void note(std::string text) {
    if (comparison_.first.empty()) comparison_.first = std::move(text);
  }

  /// Points by name; a name that comes again is "NAME#2".
  void collect() {
    for (const DeviceResult& device : result_.devices) {
      for (const MeasuredPoint& point : device.points) {
        std::string name = point.name;
        for (int again = 2; measured_.contains(name); ++again)
          name = fmt::format("{}#{}", point.name, again);
        measured_[name] = {&point, &device.spec};
      }
    }
  }

  void compare_points(std::int64_t change) {
    collect();
    const yaml::Node& points = *recorded_.find("points");
    if (points.entries.size() != measured_.size()) {
      note(fmt::format("{} points marked, recorded {}", measured_.size(), points.entries.size()));
    }
    for (const yaml::Entry& point : points.entries) {
      ++comparison_.points;
      const auto found = measured_.find(point.key);
      if (found == measured_.end()) {
        note(fmt::format("'{}' was not reached", point.key));
        continue;
      }
      for (const yaml::Entry& cell : point.value.entries) {
        if (holds(excepted_, cell.key)) continue;
        const std::int64_t wanted = yaml::integer(cell.value).value_or(-1) + change;
        const std::int64_t got = figure(*found->second.first, *found->second.second, cell.key);
        if (wanted != got) {
          note(fmt::format("'{}': {} is {}, recorded {} ({:+})", point.key, cell.key, got, wanted,
                           got - wanted));
        }
      }
    }
  }

  /// Every refusal that PyTorch's handler saw, in order, and the errors that it printed.
  void compare_texts() {
    const yaml::Node* notes = recorded_.find("notes");
    std::size_t refusals = 0;
    if (notes != nullptr) {
      for (const yaml::Entry& entry : notes->entries) {
        const std::string& text = entry.value.text;
        if (text.starts_with("CUDA out of memory")) {
          const std::vector<OomResult>& ooms = result_.devices[0].ooms;
          if (refusals >= ooms.size()) {
            note(fmt::format("{} refusals, recorded more", ooms.size()));
          } else if (ooms[refusals].message != text) {
            note(fmt::format("refusal {}: {}", refusals, ooms[refusals].message));
          }
          ++refusals;
        } else if (entry.key == "error" && result_.printed.find(text) == std::string::npos) {
          note(fmt::format("'{}' was not printed", text));
        }
      }
    }
    if (refusals != result_.devices[0].ooms.size()) {
      note(fmt::format("{} refusals, recorded {}", result_.devices[0].ooms.size(), refusals));
    }
  }

  void compare_events() {
    const yaml::Node* trace = recorded_.find("trace");
    if (trace == nullptr) return;
    const std::string path = kData + trace->find("file")->text;
    std::vector<Event> wanted = renumbered(read_events_csv(read_whole_file(path), path).events);
    std::vector<Event> got = renumbered(result_.devices[0].events);
    if (holds(excepted_, "held at the end")) got = without_last_frees(std::move(got), wanted);
    if (holds(excepted_, "order of frees")) {
      wanted = with_frees_sorted(std::move(wanted));
      got = with_frees_sorted(std::move(got));
    }
    comparison_.events = wanted.size();
    const EventDiff diff = diff_events(wanted, got, {});
    if (diff.differing == 0) return;
    note(fmt::format("{} of {} events differ, the first is event {}", diff.differing, wanted.size(),
                     diff.first.value_or(0)));
  }

  const yaml::Node& recorded_;
  const RunResult& result_;
  const Figures& excepted_;
  std::map<std::string, std::pair<const MeasuredPoint*, const DeviceSpec*>> measured_;
  Comparison comparison_;
};

/// "S21/empty_cache" as file and variant; "base" is the file as it stands.
/// Twice: all of it, and without what is excepted.
std::pair<Comparison, Comparison> compare_variant(const std::string& name,
                                                  const yaml::Node& recorded,
                                                  const Figures& excepted, std::int64_t change) {
  const std::size_t slash = name.find('/');
  const std::string file = kConfigs + name.substr(0, slash) + ".yaml";
  const std::string variant = name.substr(slash + 1);
  RunOptions options;
  options.keep_events = recorded.find("trace") != nullptr;
  options.keep_live = false;
  options.keep_times = false;
  try {
    const RunResult result =
        run(load_scenario(file, {}, variant == "base" ? std::string() : variant), options);
    const Figures none;
    return {Comparer(recorded, result, none).compare(change),
            Comparer(recorded, result, excepted).compare(change)};
  } catch (const std::exception& error) {
    const std::string message = error.what();
    Comparison comparison;
    comparison.first = "not run: " + message.substr(0, message.find('\n'));
    return {comparison, comparison};
  }
}

Exception exception_of(const Request& request, const std::string& name) {
  for (const Exception& exception : request.exceptions) {
    if (matches(name, exception.pattern)) return exception;
  }
  return {};
}

Exception parse_exception(const std::string& line) {
  const std::size_t pattern = line.find(": ");
  const std::size_t figures = line.find(": ", pattern + 2);
  Exception out{line.substr(0, pattern), {}, line.substr(figures + 2)};
  std::istringstream names(line.substr(pattern + 2, figures - pattern - 2));
  for (std::string name; std::getline(names >> std::ws, name, ',');) out.figures.push_back(name);
  return out;
}

int run_all(const Request& request) {
  const std::string path = kData + "numbers.json.gz";
  auto source = std::make_shared<SourceText>();
  source->name = path;
  source->text = read_whole_file(path);
  const yaml::Node numbers = yaml::parse(source);  // JSON is YAML
  fmt::print("{:<44} {:>6} {:>7} {:>8}\n", "variant", "points", "events", "ms");
  std::size_t runs = 0;
  std::size_t exact = 0;
  std::size_t excepted = 0;
  std::vector<std::string> failed;
  for (const yaml::Entry& entry : numbers.entries) {
    const bool is_wanted =
        request.names.empty() ||
        std::any_of(request.names.begin(), request.names.end(),
                    [&](const std::string& pattern) { return matches(entry.key, pattern); });
    if (!is_wanted) continue;
    ++runs;
    const auto begin = std::chrono::steady_clock::now();
    const Exception exception = exception_of(request, entry.key);
    const auto [got, rest] =
        compare_variant(entry.key, entry.value, exception.figures, request.change_number ? 1 : 0);
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    const bool is_excepted = !got.first.empty() && rest.first.empty();
    const std::string verdict =
        got.first.empty() ? "exact"
        : is_excepted     ? fmt::format("exact but for {} ({})", fmt::join(exception.figures, ", "),
                                        exception.reason)
                          : rest.first;
    fmt::print("{:<44} {:>6} {:>7} {:>8.1f}  {}\n", entry.key, got.points, got.events, ms, verdict);
    std::fflush(stdout);
    if (got.first.empty()) ++exact;
    if (is_excepted) ++excepted;
    if (!rest.first.empty() || got.first.empty() != exception.reason.empty())
      failed.push_back(entry.key);
  }
  fmt::print("{} of {} variants exact, {} exact but for the figures named\n", exact, runs,
             excepted);
  if (!failed.empty()) fmt::print("not as they must be: {}\n", fmt::join(failed, ", "));
  return failed.empty() && runs > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  tidemark::Request request;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--change-number") {
      request.change_number = true;
    } else if (words[i] == "--exceptions" && i + 1 < words.size()) {
      std::istringstream lines(tidemark::read_whole_file(words[++i]));
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#') && !line.empty())
          request.exceptions.push_back(tidemark::parse_exception(line));
      }
    } else {
      request.names.push_back(words[i]);
    }
  }
  return tidemark::run_all(request);
}
