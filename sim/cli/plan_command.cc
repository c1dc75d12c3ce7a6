#include <fmt/format.h>

#include <filesystem>

#include "sim/alloc/settings_parser.h"
#include "sim/cli/command.h"
#include "sim/cli/plan_input.h"
#include "sim/cli/scenario_input.h"
#include "sim/device/device.h"
#include "sim/format/request_trace.h"
#include "sim/format/whole_file.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/plan_text.h"
#include "sim/report/torch_job.h"
#include "sim/run/record.h"

namespace tidemark::cli {

namespace {

ReplayOptions options_of(const DeviceSpec& device) {
  ReplayOptions options;
  options.device = device;
  options.keep_events = true;
  return options;
}

class PlanCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "plan",
        "write what a scenario asks of a device as a plan, for the harness on a real GPU",
        "A plan is text (docs/formats/plan.md): requests and frees with the places and driver "
        "calls that Tidemark decides, kernels by kind, operands and work, stream order, marks. "
        "validation/cuda executes it on a real device.",
        {{"SCENARIO", "a scenario in YAML, a training script, or a request trace (.tmt)"}},
        {{"out", "FILE", "where it goes (.gz packs it); not given: standard output", ""},
         {"job", "FILE", "write the program too, as validation/torch runs it under PyTorch", ""},
         {"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
         {"variant", "NAME", "a variant of the scenario", ""},
         {"device", "ID", "the device, whatever the scenario says; of a trace: h100", ""},
         kPackagesOption,
         {"alloc-conf", "CONF", "of a trace: PYTORCH_ALLOC_CONF", ""}},
        {{"tidemark plan configs/scenarios/gpt2.yaml --out gpt2.plan.gz", "for validation/cuda"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& path = args.positional()[0];
    const std::string name = input_name(path);
    std::string plan;
    if (is_trace(path)) {
      if (args.has("job"))
        usage_error("--job", "is for scenarios; play_trace.py takes a request trace as it is");
      const std::string device = args.has("device") ? args.value("device") : "h100";
      plan = plan_of_trace(path, name, load_device(device).spec,
                           trace_settings(args.value("alloc-conf")));
    } else {
      if (args.has("alloc-conf"))
        usage_error("--alloc-conf", "is for request traces", "--set allocator.conf=...");
      const Scenario scenario =
          load_scenario(path, scenario_overrides(args), args.value("variant"));
      plan = plan_of(scenario, name, err);
      if (args.has("job")) {
        write_whole_file(args.value("job"),
                         torch_job_json(scenario, name, "run_scenario.py " + name, "all"));
      }
    }
    if (args.has("out")) {
      write_whole_file(args.value("out"), plan);
    } else {
      out.write(plan);
    }
    return ExitCode::kDone;
  }
};

}  // namespace

bool is_trace(const std::string& path) {
  return path.ends_with(".tmt") || path.ends_with(".tmt.gz");
}

std::string input_name(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  if (name.ends_with(".tmt")) name.resize(name.size() - 4);
  return name;
}

AllocatorSettings trace_settings(const std::string& conf, Version version) {
  return parse_settings("--alloc-conf", conf, version).settings;
}

std::string plan_of(const Scenario& scenario, const std::string& name, Output& err) {
  if (scenario.device_count > 1)
    throw InputError(Problem{{}, name, "a plan is for one device", {}});
  KernelDetails kernels;
  const Recording recording = record(scenario, &kernels);
  if (recording.asks) {
    throw InputError(Problem{{},
                             name,
                             "the code asks for memory figures, which a plan cannot answer",
                             "take the question out of the loop"});
  }
  for (const std::string& line : assumption_lines(recording)) err.print("{}\n", line);
  ReplayOptions options = options_of(scenario.device);
  options.other_bytes = scenario.other_bytes;
  options.memory_fraction = scenario.memory_fraction;
  // A plan is made before any time passes: other streams' uses end where the program waits for
  // them.
  if (scenario.policy.kind != EventPolicy::Kind::kSimulated) options.policy = scenario.policy;
  const ReplayResult result = replay(recording.instructions, scenario.settings, options);
  return plan_text(name, recording.instructions, recording.program, kernels, scenario.device,
                   result, AfterRefusal::kEnds);
}

std::string plan_of_trace(const std::string& path, const std::string& name,
                          const DeviceSpec& device, const AllocatorSettings& settings) {
  RequestTrace trace = read_request_trace_file(path);
  const ReplayResult result = replay(trace.instructions, settings, options_of(device));
  Program program;
  program.labels = std::move(trace.labels);
  return plan_text(name, trace.instructions, program, {}, device, result, AfterRefusal::kGoesOn);
}

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace tidemark::cli
