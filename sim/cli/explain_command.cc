#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/cli/snapshot_input.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/explain_report.h"

namespace tidemark::cli {

namespace {

constexpr std::size_t kTop = 10;

class ExplainCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "explain",
        "tell what holds the memory of a recorded run, and why",
        "Tells the peaks of allocated and of reserved memory, who held them and why reserved "
        "grew. Rebuilds one moment by re-simulation: what is live and who made it, what is free "
        "and who pins it. At an out-of-memory error: its class with the proof, and what would "
        "have served the request; of a scenario, what lets the program run to its end. --churn: "
        "growth by step, churners, lifetimes.",
        {{"RUN",
          "a memory snapshot of PyTorch or of run --snapshot, a scenario, or a request trace"},
         kScriptArguments},
        with_program_options(
            {{"at", "WHEN",
              "peak (reserved), allocated, oom, an event's number, step:N, time:1.5s or mark:TEXT "
              "(default: oom, else peak)",
              ""},
             {"device-bytes", "N",
              "what PyTorch can get of the device: tells the largest request served", ""},
             {"churn", "", "also what the whole recording asked for and kept, by call site", ""},
             {"top", "N", "rows of each list", "10"},
             {"gpu", "N", "which of the devices (default: the worst)", ""},
             kSetOption,
             kVariantOption,
             kDeviceOption,
             {"format", "text|json", "how to print", "text"}}),
        {{"tidemark explain snapshot.pickle", "the answer"},
         {"tidemark explain snapshot.pickle --at step:3 --churn", "another moment, and leaks"},
         {"tidemark explain scenario.yaml --set device=rtx-3060", "a run that has not been made"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const RecordingBudget within(args.positional().front());
    const LoadedRecording loaded =
        load_recording(args.positional().front(), scenario_choice(args), err);
    const Snapshot& snapshot = loaded.snapshot;
    const AgreementOptions range = recording_options(args, snapshot);
    const std::size_t top =
        static_cast<std::size_t>(args.number("top", 1, 1'000'000).value_or(kTop));
    std::optional<Bytes> capacity = args.bytes("device-bytes");
    if (!capacity && range.device < loaded.capacity_bytes.size())
      capacity = loaded.capacity_bytes[range.device];
    const auto program = program_of(args.positional().front(), scenario_choice(args));
    const Explanation explanation = explain(
        snapshot, {range.device, args.value("at"), capacity, program ? &*program : nullptr});
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    const bool json = args.value("format") == "json";
    if (json && args.has("churn")) {
      out.write(churn_json(churn_of(snapshot, range.device), top));
    } else if (json) {
      out.write(explain_json(explanation, loaded.basis, top));
    } else {
      if (!loaded.ending.empty()) out.print("{}\n", loaded.ending);
      for (const std::string& line : assumption_lines(loaded.basis)) out.print("{}\n", line);
      out.write(explain_text(explanation, top, style));
      if (args.has("churn")) out.write(churn_text(churn_of(snapshot, range.device), top, style));
    }
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace tidemark::cli
