// Runs every operator case and compares its events with the recorded ones. Prints a table of exact
// cases by group.
//
//     golden_ops [--folder DIR] [--events FILE] [--pytorch RELEASE] [--device ID] [--show N]
//     [--program] [--change GROUP] [--known FILE] [GROUP[/NAME]...]
//
// --known FILE: cases that are not exact yet, one a line: release, a tab, GROUP/NAME. They may
// differ, and must: one that is exact is to be taken off.
// Run whole, it also holds sim/ops/exactness.cc to what the cases called: an operator that no exact
// case calls is to be there, and no other.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/device/device.h"
#include "sim/format/whole_file.h"
#include "sim/ops/exactness.h"
#include "sim/ops/registry.h"
#include "tests/golden/ops/operator_case.h"

namespace {

using tidemark::OperatorCase;
using tidemark::OperatorEvents;

struct Options {
  std::string folder = TIDEMARK_SOURCE_DIR "/tests/golden/ops";
  std::string events;
  std::string device = "h100";
  std::string pytorch = "2.11";
  std::size_t show = 3;
  bool print_program = false;
  std::string known;
  std::string change;  ///< a group whose records are changed, to see that a difference is noticed
  std::vector<std::string> only;
};

struct Count {
  std::size_t exact = 0;
  std::size_t total = 0;
};

bool is_wanted(const Options& options, const OperatorCase& c) {
  if (options.only.empty()) return true;
  return std::any_of(options.only.begin(), options.only.end(), [&](const std::string& only) {
    return only == c.group || only == c.group + "/" + c.name;
  });
}

std::string name_of(const OperatorCase& c) { return c.group + "/" + c.name; }

std::set<std::string> known_differences(const Options& options) {
  std::set<std::string> out;
  if (options.known.empty()) return out;
  std::istringstream lines(tidemark::read_whole_file(options.known));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos && line.substr(0, tab) == options.pytorch)
      out.insert(line.substr(tab + 1));
  }
  return out;
}

/// The release raised an error: it lacks the operator, or an argument of it.
bool is_absent(const OperatorEvents& recorded) {
  return std::any_of(recorded.begin(), recorded.end(),
                     [](const auto& run) { return run.second == "absent"; });
}

/// Where two texts of words differ, in a few words around it.
std::string difference(const std::string& recorded, const std::string& simulated) {
  std::size_t at = 0;
  while (at < recorded.size() && at < simulated.size() && recorded[at] == simulated[at]) ++at;
  const std::size_t from = at < 60 ? 0 : recorded.rfind(' ', at - 40) + 1;
  const auto part = [from](const std::string& text) {
    return from < text.size() ? text.substr(from, 150) : std::string("(ends)");
  };
  return fmt::format("      PyTorch  {}\n      Tidemark {}\n", part(recorded), part(simulated));
}

/// Empty when exact, else what differs.
std::string check(const OperatorCase& c, const Options& options, const OperatorEvents& recorded,
                  const tidemark::OperatorRunner& runner) {
  try {
    const OperatorEvents simulated = run_operator_case(c, runner);
    std::string out;
    for (const auto& [run, text] : recorded) {
      const std::string& mine = simulated.at(run);
      const std::string given = options.change == c.group ? text + " +1" : text;
      const std::string events = tidemark::with_order_of(given, mine);
      if (events != mine) out += fmt::format("    {}\n{}", run, difference(events, mine));
    }
    return out;
  } catch (const tidemark::InputError& e) {
    return fmt::format("    refused: {}\n", e.what());
  } catch (const std::exception& e) {
    return fmt::format("    failed: {}\n", e.what());
  }
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (word == "--folder") {
      options.folder = next();
    } else if (word == "--events") {
      options.events = next();
    } else if (word == "--device") {
      options.device = next();
    } else if (word == "--pytorch") {
      options.pytorch = next();
    } else if (word == "--known") {
      options.known = next();
    } else if (word == "--show") {
      options.show = std::stoul(next());
    } else if (word == "--change") {
      options.change = next();
    } else if (word == "--program") {
      options.print_program = true;
    } else {
      options.only.push_back(word);
    }
  }
  if (options.events.empty()) options.events = options.folder + "/events.tsv.gz";
  return options;
}

/// How many operators are told to be unproven and are not, or the other way round. Prints them.
std::size_t wrongly_told(const std::set<std::string>& proven, tidemark::Version release) {
  std::set<std::string> found;
  for (const auto& family : tidemark::ops::op_families()) {
    for (const tidemark::ops::OpDef& def : family) {
      std::string name(def.signature.substr(0, def.signature.find('(')));
      if (!name.starts_with('_') && def.releases.contain(release) && !proven.contains(name))
        found.insert(std::move(name));
    }
  }
  std::set<std::string> told;
  for (const tidemark::ops::Unproven& each : tidemark::ops::unproven_operators()) {
    if (each.releases.contain(release)) told.emplace(each.name);
  }
  std::size_t wrong = 0;
  for (const std::string& name : found) {
    if (told.contains(name)) continue;
    fmt::print("{}: no exact case calls it: put it into sim/ops/exactness.cc\n", name);
    ++wrong;
  }
  for (const std::string& name : told) {
    if (found.contains(name)) continue;
    fmt::print("{}: is exact: take it off sim/ops/exactness.cc\n", name);
    ++wrong;
  }
  return wrong;
}

int run(const Options& options) {
  const tidemark::Version release = tidemark::parse_version("--pytorch", options.pytorch);
  std::set<std::string> called;
  const tidemark::OperatorRunner runner{options.folder, TIDEMARK_SOURCE_DIR "/configs/models",
                                        tidemark::load_device(options.device).spec,
                                        tidemark::pypi_wheel(release), &called};
  auto recorded = tidemark::read_operator_events(options.events);
  // What a release does otherwise than the one that all cases were recorded with.
  const std::string others = fmt::format("{}/releases/{}.tsv.gz", options.folder, options.pytorch);
  if (std::filesystem::exists(others)) {
    for (const auto& [key, events] : tidemark::read_operator_events(others)) {
      for (const auto& [run, text] : events) recorded[key][run] = text;
    }
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  const std::set<std::string> known = known_differences(options);
  std::set<std::string> differing;
  std::set<std::string> proven;
  std::set<std::string> inexact;  // operators after which cases are named that differ
  Count all;
  std::size_t absent = 0;
  for (const std::string& file : files) {
    const std::string group = std::filesystem::path(file).stem().string();
    Count count;
    std::size_t shown = 0;
    for (const OperatorCase& c : tidemark::read_operator_cases(file, group)) {
      if (!is_wanted(options, c)) continue;
      const auto expected = recorded.find(key_of(c));
      if (expected != recorded.end() && is_absent(expected->second)) {
        ++absent;
        continue;
      }
      if (options.print_program) fmt::print("{}\n", program_text(c, options.folder));
      ++count.total;
      called.clear();
      const std::string differs = expected == recorded.end()
                                      ? std::string("    not recorded\n")
                                      : check(c, options, expected->second, runner);
      if (differs.empty()) {
        ++count.exact;
        proven.merge(called);
      } else if (known.contains(name_of(c))) {
        differing.insert(name_of(c));
        inexact.insert(c.name.substr(0, c.name.find(' ')));
        --count.total;
      } else if (shown++ < options.show) {
        fmt::print("  {}\n{}", c.title(), differs);
      }
    }
    if (count.total == 0) continue;
    fmt::print("{:<24} {:>5} of {:>5} exact\n", group, count.exact, count.total);
    all.exact += count.exact;
    all.total += count.total;
  }
  fmt::print("{:<24} {:>5} of {:>5} exact\n", "all", all.exact, all.total);
  if (absent > 0) fmt::print("PyTorch {} does not have {} more\n", options.pytorch, absent);
  std::size_t mended = 0;
  for (const std::string& name : known) {
    if (differing.contains(name)) continue;
    fmt::print("{} is exact: take it off {}\n", name, options.known);
    ++mended;
  }
  if (!differing.empty()) fmt::print("{} more are known not to be exact\n", differing.size());
  for (const std::string& name : inexact) proven.erase(name);
  const std::size_t wrong = options.only.empty() ? wrongly_told(proven, release) : 0;
  return all.exact == all.total && all.total > 0 && mended + wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(read_options(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 70;
  }
}
