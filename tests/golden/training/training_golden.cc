// Runs the scenario of each folder here and compares with what the real PyTorch did: events with
// addresses, statistics, phases with their peaks, refusals. Prints one line a run; fails when a run
// that must be exact is not.
//
//     golden_training [--root DIR] [--required FILE] [--change-event] [NAME...]
//
// --root DIR: the folder of recorded runs; without it this one. Others are made by
// tools/pack_training_goldens.py.
// --required FILE: only the names in it must be exact, the others are shown; without it all must
// be.
// --change-event: changes one recorded event first, to show that the comparison notices.
// NAME: these alone; a name that ends in '*' stands for all that begin so.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/format/whole_file.h"
#include "sim/run/run.h"
#include "tests/golden/training/recorded_run.h"

namespace tidemark {
namespace {

struct Request {
  std::string root = TIDEMARK_SOURCE_DIR "/tests/golden/training";
  std::vector<std::string> names;
  std::set<std::string> required;
  bool all_required = true;
  bool change_event = false;
};

bool matches(const std::string& name, const std::vector<std::string>& wanted) {
  return wanted.empty() ||
         std::any_of(wanted.begin(), wanted.end(), [&](const std::string& pattern) {
           return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                         : name == pattern;
         });
}

std::vector<std::string> folders(const std::string& root) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (std::filesystem::exists(entry.path() / "scenario.yaml"))
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// One run in words; true when it is exact.
bool run_one(const std::string& root, const std::string& name, bool change_event) {
  RecordedRun recorded = read_recorded_run(root + "/" + name);
  if (change_event) recorded.events.at(recorded.events.size() / 2).bytes += 1;
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_ms = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  RunComparison comparison;
  double ms = 0;
  try {
    const RunResult result = run(load_scenario(root + "/" + name + "/scenario.yaml"));
    ms = elapsed_ms();
    comparison = compare(recorded, result);
  } catch (const std::exception& error) {
    std::string message = error.what();
    fmt::print("{:<44} {:>8} {:>8} {:>6} {:>6} {:>5} {:>8.1f}  not run: {}\n", name,
               recorded.events.size(), "-", "-", "-", "-", elapsed_ms(),
               message.substr(0, message.find('\n', message.find('\n') + 1)));
    return false;
  }
  fmt::print("{:<44} {:>8} {:>8} {:>6} {:>6} {:>5} {:>8.1f}  {}\n", name, comparison.events,
             comparison.differing_events, comparison.differing_statistics,
             comparison.differing_phases, comparison.differing_ooms, ms,
             comparison.exact() ? "exact" : comparison.first);
  return comparison.exact();
}

int run_all(const Request& request) {
  const std::string& root = request.root;
  fmt::print("{:<44} {:>8} {:>8} {:>6} {:>6} {:>5} {:>8}\n", "run", "events", "differ", "stats",
             "phases", "ooms", "ms");
  std::size_t exact = 0;
  std::size_t runs = 0;
  std::vector<std::string> failed;
  std::set<std::string> seen;
  for (const std::string& name : folders(root)) {
    if (!matches(name, request.names)) continue;
    seen.insert(name);
    ++runs;
    const bool is_exact = run_one(root, name, request.change_event);
    exact += is_exact ? 1 : 0;
    if (!is_exact && (request.all_required || request.required.contains(name)))
      failed.push_back(name);
    std::fflush(stdout);
  }
  for (const std::string& name : request.required) {
    if (matches(name, request.names) && !seen.contains(name))
      failed.push_back(name + " (not there)");
  }
  fmt::print("{} of {} runs exact\n", exact, runs);
  if (!failed.empty()) fmt::print("must be exact and is not: {}\n", fmt::join(failed, ", "));
  return failed.empty() && runs > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  tidemark::Request request;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--change-event") {
      request.change_event = true;
    } else if (words[i] == "--root" && i + 1 < words.size()) {
      request.root = words[++i];
    } else if (words[i] == "--required" && i + 1 < words.size()) {
      request.all_required = false;
      std::istringstream lines(tidemark::read_whole_file(words[++i]));
      for (std::string name; lines >> name;) request.required.insert(name);
    } else {
      request.names.push_back(words[i]);
    }
  }
  return tidemark::run_all(request);
}
