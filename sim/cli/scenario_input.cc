#include "sim/cli/scenario_input.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/routing.h"
#include "sim/format/read_scope.h"
#include "sim/run/scenario_fields.h"
#include "sim/run/script.h"
#include "sim/yaml/quoted.h"

namespace tidemark::cli {

std::vector<Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  std::vector<Problem> problems;
  for (const std::string& text : texts) {
    try {
      overrides.push_back(parse_override(text));
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return overrides;
}

namespace {

/// What --world, --rank, --nproc-per-node and --nnodes say of the job.
void add_rank_overrides(const Arguments& args, std::vector<Override>& overrides) {
  const auto add = [&](std::string_view option, const char* key) {
    if (args.has(option))
      overrides.push_back({key, args.value(option), fmt::format("--{}", option)});
  };
  add("world", "ranks.world");
  if (args.has("nnodes")) {
    constexpr std::uint64_t kMost = 1 << 20;
    const std::uint64_t machines = *args.number("nnodes", 1, kMost);
    if (args.has("world")) usage_error("--nnodes", "cannot stand beside --world");
    if (!args.has("nproc-per-node"))
      usage_error("--nnodes", "says too little", "give --nproc-per-node too");
    overrides.push_back({"ranks.world",
                         fmt::format("{}", machines * *args.number("nproc-per-node", 1, 64)),
                         "--nnodes"});
  } else if (args.has("nproc-per-node") && !args.has("world")) {
    add("nproc-per-node", "ranks.world");
  }
  add("nproc-per-node", "ranks.per_node");
  add("rank", "ranks.rank");
}

}  // namespace

std::vector<std::string> given_packages(const Arguments& args) {
  std::vector<std::string> folders;
  for (const std::string& folder : args.values("packages")) {
    if (!std::filesystem::is_directory(folder))
      usage_error("--packages", "'" + folder + "' is no folder");
    user_read_paths().push_back(folder);
    folders.push_back(std::filesystem::absolute(folder).lexically_normal().string());
  }
  return folders;
}

std::vector<Override> scenario_overrides(const Arguments& args) {
  std::vector<Override> overrides = parse_overrides(args.values("set"));
  const auto put_first = [&](std::string_view option, const char* key) {
    if (args.has(option))
      overrides.insert(overrides.begin(), {key, args.value(option), fmt::format("--{}", option)});
  };
  put_first("device", "device");
  put_first("event-policy", "allocator.event_policy");
  put_first("compile", "compile");
  if (args.has("packages")) {
    std::string folders;
    for (const std::string& folder : given_packages(args)) {
      folders += folders.empty() ? "[" : ", ";
      folders += yaml::quoted(folder);
    }
    overrides.insert(overrides.begin(), {"packages", folders + "]", "--packages"});
  }
  for (const std::string& text : args.values("env")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      usage_error("--env", "expected NAME=VALUE, found '" + text + "'");
    overrides.push_back({"script.env." + text.substr(0, equals),
                         yaml::quoted(std::string_view(text).substr(equals + 1)), "--env"});
  }
  if (args.has("steps")) {
    const std::uint64_t steps = args.number("steps", 1, kMostSteps).value_or(1);
    overrides.push_back({"script.steps", std::to_string(steps), "--steps"});
  }
  if (args.has("until")) {
    const std::string& until = args.value("until");
    if (!parse_duration(until)) {
      usage_error("--until", "expected a time with its unit, found '" + until + "'",
                  "as in --until 90s: ns, us, ms, s, min or h");
    }
    overrides.push_back({"script.until", yaml::quoted(until), "--until"});
  }
  std::string assumed;
  for (const std::string& each :
       args.has("assume") ? args.values("assume") : std::vector<std::string>())
    assumed += (assumed.empty() ? "['" : ", '") + each + "'";
  if (!assumed.empty()) overrides.insert(overrides.begin(), {"assume", assumed + "]", "--assume"});
  if (args.has("routing")) {
    const std::string& how = args.value("routing");
    const bool is_file = !names_distribution(how) && std::filesystem::is_regular_file(how);
    if (is_file) let_read(how);
    const std::string said = is_file ? std::filesystem::absolute(how).string() : how;
    overrides.push_back({"routing", yaml::quoted(said), "--routing"});
  }
  add_rank_overrides(args, overrides);
  return overrides;
}

std::vector<OptionSpec> with_program_options(std::vector<OptionSpec> own) {
  own.insert(own.end(), {kPackagesOption, kEnvOption, kStepsOption, kUntilOption, kAssumeOption,
                         kRoutingOption, kCompileOption, kWorldOption, kRankOption,
                         kProcessesOption, kMachinesOption});
  return own;
}

std::vector<Override> script_overrides(const Arguments& args) {
  std::vector<Override> overrides = scenario_overrides(args);
  const std::vector<std::string>& words = args.positional();
  if (words.size() < 2) return overrides;
  if (!is_script_path(words[0])) {
    throw InputError(Problem{{},
                             {},
                             "unexpected argument '" + words[1] + "'",
                             words[1].find('=') == std::string::npos
                                 ? "a scenario's script has its arguments in script.args"
                                 : "did you mean '--set " + words[1] + "'?"});
  }
  std::string list;
  for (std::size_t i = 1; i < words.size(); ++i) {
    list += (i == 1 ? "[" : ", ") + yaml::quoted(words[i]);
    let_read(words[i]);
    let_read(words[i].substr(words[i].find('=') + 1));  // --data=FOLDER
  }
  overrides.push_back({"script.args", list + "]"});
  return overrides;
}

std::uint32_t parse_headroom(const std::string& text) {
  double percent = -1;
  const char* end = text.data() + text.size() - (text.ends_with('%') ? 1 : 0);
  const auto [rest, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc() || rest != end || !(percent >= 0) || percent >= 100)
    usage_error("--headroom", "expected a share from 0% to below 100%, found '" + text + "'");
  return static_cast<std::uint32_t>(std::lround(percent * 10'000));
}

std::string render_warning(const Problem& warning) {
  std::string text = render_problem(warning);
  constexpr std::string_view kError = "error: ";
  if (const std::size_t at = text.find(kError); at != std::string::npos) {
    text.replace(at, kError.size(), "warning: ");
  }
  return text;
}

}  // namespace tidemark::cli
