#include <map>
#include <string>

#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/format/whole_file.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/graph_report.h"
#include "sim/run/run.h"
#include "sim/study/trial/trial.h"

namespace tidemark::cli {

namespace {

/// Errors: InputError where nothing was compiled.
std::string compiled_text(const graph::Details& details, const std::string& stage) {
  static const std::map<std::string, std::string graph::CompiledCode::*> kStages{
      {"joint", &graph::CompiledCode::joint},
      {"partitioned", &graph::CompiledCode::partitioned},
      {"fused", &graph::CompiledCode::fused},
      {"buffers", &graph::CompiledCode::buffers}};
  const auto wanted = kStages.find(stage);
  if (wanted == kStages.end())
    usage_error("--stage", "is joint, partitioned, fused or buffers, not '" + stage + "'");
  if (details.compiled.empty()) {
    throw InputError(Problem{{},
                             "--stage",
                             "nothing was compiled",
                             "give --compile model, and a script that calls torch.compile"});
  }
  std::string text;
  for (const graph::CompiledCode& code : details.compiled) {
    if (!text.empty()) text += '\n';
    text += code.*(wanted->second);
  }
  if (text.find_first_not_of('\n') == std::string::npos)
    throw InputError(Problem{{},
                             "--stage",
                             "nothing was compiled by inductor",
                             "joint and partitioned show other code"});
  return text;
}

class GraphCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "graph",
        "the computation graph of one step, for Graphviz, with bytes on its edges",
        "A box is a module in a phase (or, with --ops, one operator call), with the bytes it asks "
        "for. Arrows: data and gradients solid, saved for backward dashed, views of the same "
        "memory dotted, memory written over bold. Without --depth, modules are collapsed until the "
        "picture can be read.",
        {{"SCENARIO", "a scenario in YAML, or a training script in Python; - for standard input"},
         kScriptArguments},
        with_program_options(
            {{"step", "N", "which step (default: 0, or all of a program without steps)", ""},
             {"phase", "NAME", "one phase of it alone: forward, backward, optimizer", ""},
             {"depth", "N", "a box for each module N levels deep", ""},
             {"ops", "", "a box for each operator call", ""},
             {"stage", "joint|partitioned|fused|buffers",
              "what compiled code is made into, as text: takes --compile model", ""},
             {"output", "FILE", "write there instead of to standard output", ""},
             {"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
             {"variant", "NAME", "one of the scenario's variants", ""},
             kDeviceOption}),
        {{"tidemark graph configs/scenarios/gpt2.yaml | dot -Tsvg >gpt2.svg",
          "GPT-2 by its modules"},
         {"tidemark graph s.yaml --phase backward --depth 2", "the second level, backward alone"},
         {"tidemark graph s.yaml --ops --phase forward --output forward.dot",
          "every call of forward"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    GraphOptions drawing;
    drawing.title = args.positional()[0];
    drawing.step = args.value("step");
    drawing.phase = args.value("phase");
    drawing.each_op = args.has("ops");
    if (const auto depth = args.number("depth", 0, 100))
      drawing.depth = static_cast<std::uint32_t>(*depth);
    if (drawing.each_op && drawing.depth) usage_error("--depth", "cannot stand beside --ops");
    const Scenario scenario = read_scenario(
        open_scenario(args.positional()[0], script_overrides(args), args.value("variant")));
    for (const Problem& warning : scenario.warnings) err.write(render_warning(warning));
    graph::Details details;
    RunOptions options;
    options.keep_events = false;
    options.keep_live = false;
    options.keep_times = false;
    options.details = &details;
    const RunResult result = tidemark::run(scenario, options);
    for (const std::string& line : assumption_lines(result)) err.print("{}\n", line);
    const std::string text = args.has("stage") ? compiled_text(details, args.value("stage"))
                                               : graph_dot(details, drawing);
    if (args.has("output")) {
      write_whole_file(args.value("output"), text);
    } else {
      out.write(text);
    }
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_graph_command() { return std::make_unique<GraphCommand>(); }

}  // namespace tidemark::cli
