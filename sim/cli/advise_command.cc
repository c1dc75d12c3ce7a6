#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/format/whole_file.h"
#include "sim/report/advice_report.h"
#include "sim/report/file_diff.h"
#include "sim/run/script.h"

namespace tidemark::cli {

namespace {

/// The words of --allow, in the order of Price.
constexpr std::array<std::string_view, 5> kAllowed{"free", "time", "numerics", "training",
                                                   "device"};

class AdviseCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "advise",
        "what makes a scenario fit: each change simulated, cheapest first",
        "Tries every remedy known, alone and together, and says what each saves and what it costs. "
        "A change is free (the same numbers in about the same time), costs time, changes rounding, "
        "is another training, or another device. Times are simulated; bytes are exact.",
        {{"SCENARIO", "a scenario in YAML or a training script; - for standard input"},
         kScriptArguments},
        with_program_options(
            {{"device", "ID", "the GPU that it is to fit on, whatever the scenario says", ""},
             {"capacity", "AMOUNT", "the memory of that GPU, whatever it has: 24GiB", ""},
             kHeadroomOption,
             {"allow", "free|time|numerics|training|device", "the dearest change to be tried",
              "device"},
             {"over", "WHAT", "also how far each lets batch, length or layers go", ""},
             {"write", "FILE", "write the scenario, or the script, with the change applied", ""},
             {"diff", "", "print the change as a patch and nothing else", ""},
             {"pick", "N", "which change of the table to write", "1"},
             {"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
             {"variant", "NAME", "one of the scenario's variants", ""},
             {"threads", "N", "runs at a time; 0: one a processor", "0"},
             {"format", "text|json", "how to print", "text"}}),
        {{"tidemark advise s.yaml --device rtx-4090", "what makes it fit there"},
         {"tidemark advise s.yaml --headroom 5% --allow time", "the same numbers, 5 % kept free"},
         {"tidemark advise s.yaml --over batch", "how large the batch may be with each change"},
         {"tidemark advise train.py --device rtx-4090 --diff",
          "the edit of the script, as a patch"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    AdviceOptions options;
    options.headroom_ppm = parse_headroom(args.value("headroom"));
    options.dearest = static_cast<Price>(
        std::find(kAllowed.begin(), kAllowed.end(), args.value("allow")) - kAllowed.begin());
    options.over = args.value("over");
    options.threads = static_cast<unsigned>(args.number("threads", 0, 1024).value_or(0));
    const auto pick = static_cast<std::size_t>(args.number("pick", 1, 1000).value_or(1));
    if (args.has("pick") && !args.has("write") && !args.has("diff"))
      usage_error("--pick", "says what to write", "give --write FILE or --diff");
    std::vector<Override> overrides = script_overrides(args);
    if (const auto capacity = args.bytes("capacity"))
      overrides.push_back({"device.total", std::to_string(*capacity), "--capacity"});
    const std::string& path = args.positional()[0];
    const ScenarioSource source = open_scenario(path, std::move(overrides), args.value("variant"));
    if (!options.over.empty()) require_quantity(source, "--over", options.over);
    const Advice advice = advise(source, options);
    if (args.has("diff")) {
      out.write(patch(source, advice, pick, args));
      return ExitCode::kDone;
    }
    const AdviceReportOptions report{path, options.over, is_script_path(path)};
    const bool is_text = args.value("format") == "text";
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    // A change that cannot be written is told before anything is.
    const WrittenScenario text =
        args.has("write") ? written(source, advice, pick, args) : WrittenScenario();
    out.write(is_text ? advice_text(advice, report, style) : advice_json(advice, report));
    if (!args.has("write")) return ExitCode::kDone;
    write_whole_file(args.value("write"), text.text);
    if (!text.model_path.empty()) write_whole_file(text.model_path, text.model_text);
    if (is_text)
      out.print("{}{}{}: number {} applied\n", args.value("write"),
                text.model_path.empty() ? "" : " and ", text.model_path, pick);
    return ExitCode::kDone;
  }

 private:
  static std::string patch(const ScenarioSource& source, const Advice& advice, std::size_t pick,
                           const Arguments& args) {
    const AdvisedChange& change = picked(advice, pick, args, "--diff");
    const std::vector<ChangedFile> files = changed_files(source, change.change);
    const std::string outside = outside_text(change.change);
    if (files.empty()) {
      usage_error("--diff", "the change is none of a script's text",
                  outside.empty() ? "--write FILE writes the scenario with it" : outside);
    }
    std::string text = applied_comment(advice, change);
    if (is_script_path(args.positional()[0]) && !outside.empty())
      text += fmt::format("# outside the script: {}\n", outside);
    for (const ChangedFile& file : files) text += unified_diff(file.path, file.before, file.after);
    return text;
  }

  static const AdvisedChange& picked(const Advice& advice, std::size_t pick, const Arguments& args,
                                     std::string_view option) {
    const bool is_default = !args.has("pick");
    const AdvisedChange* change = numbered_change(advice, pick);
    if (change == nullptr || (is_default && advice.meeting.empty())) {
      const std::size_t rows = advice.meeting.size() + advice.saving.size();
      usage_error(std::string(option),
                  is_default ? std::string("no change known makes the scenario fit")
                             : fmt::format("the table has {} changes, no number {}", rows, pick),
                  is_default && rows > 0 ? "--pick N writes one that is not enough" : "");
    }
    return *change;
  }

  static WrittenScenario written(const ScenarioSource& source, const Advice& advice,
                                 std::size_t pick, const Arguments& args) {
    const AdvisedChange& change = picked(advice, pick, args, "--write");
    const std::string& path = args.value("write");
    if (is_script_path(path))
      return {applied_script(source, change, applied_comment(advice, change), path), {}, {}};
    return applied_scenario(source, change, applied_comment(advice, change), path);
  }
};

}  // namespace

std::unique_ptr<Command> make_advise_command() { return std::make_unique<AdviseCommand>(); }

}  // namespace tidemark::cli
