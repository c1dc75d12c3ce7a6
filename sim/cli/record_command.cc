#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/cli/command.h"
#include "sim/cli/process.h"
#include "sim/cli/torch_runner.h"
#include "sim/device/device.h"
#include "sim/format/whole_file.h"
#include "sim/report/record_report.h"

namespace tidemark::cli {

namespace {

constexpr int kWrongCommand = 2;
constexpr int kNoEnvironment = 4;
constexpr int kNeverUsedCuda = 78;

DeviceSpec device_of(const Arguments& args) {
  DeviceSpec spec = load_device(args.value("device")).spec;
  if (const std::optional<Bytes> total = args.bytes("device-bytes")) spec.total_bytes = *total;
  if (const std::optional<Bytes> context = args.bytes("context-bytes"))
    spec.context_bytes = *context;
  if (spec.context_bytes >= spec.total_bytes)
    usage_error("--device-bytes", "the CUDA context alone takes more than that");
  return spec;
}

class RecordCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "record",
        "run a script under the real PyTorch on a pretend GPU of any size",
        "Runs a user's own script, unmodified, with its real PyTorch and no GPU, and tells what "
        "its allocator did: the peaks, and whether and where it runs out of memory. It writes "
        "the memory snapshot that a GPU would have given, for 'replay' (other settings) and "
        "'explain'. Python's own PyTorch is used where it has CUDA, else one is installed into "
        "the cache (needs g++, Python's venv, 3 GB). Nothing is computed: values are zero, what "
        "depends on them is not seen, nor what libraries allocate within kernels.",
        {{"COMMAND", "after --: python SCRIPT, python -m MODULE or SCRIPT, and its arguments", true,
          true}},
        {{"device", "ID", "the GPU to pretend, or a device file", "h100"},
         {"device-bytes", "N", "its total memory, in place of the device's own", ""},
         {"context-bytes", "N", "what the CUDA context takes", ""},
         {"torch", "VERSION", "the release to install where the Python has none: 2.4.0 to 2.15.0",
          ""},
         {"snapshot", "FILE", "where the memory snapshot goes", "snapshot.pickle"},
         {"events", "FILE", "write every allocator event as CSV (.gz packs it)", ""},
         {"format", "text|json", "how to print", "text"},
         {"fail-on-oom", "", "exit with 3 when an out-of-memory error ends the script", ""}},
        {{"tidemark record -- python train.py --epochs 1", "on an H100"},
         {"tidemark record --device-bytes 8GiB -- python train.py", "on a card of 8 GiB"},
         {"tidemark record --device t4 --fail-on-oom -- train.py",
          "for a script: does it fit a T4?"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    std::map<std::string, std::string> variables = pretend_variables(device_of(args));
    variables["PYTHONHASHSEED"] = "0";
    const SignalsHeld until_tidied;
    const TemporaryFolder scratch;
    const std::string script = script_path("record", "TIDEMARK_VALIDATION", "validation",
                                           TIDEMARK_SOURCE_VALIDATION, "torch/record.py");
    std::vector<std::string> words{python(),       script,  "--cache",
                                   cache_folder(), "--out", scratch.path()};
    if (args.has("torch")) words.insert(words.end(), {"--torch", args.value("torch")});
    words.emplace_back("--");
    words.insert(words.end(), args.positional().begin(), args.positional().end());
    out.flush();
    const int code = run_process(words, variables);
    switch (code) {
      case 0:
        break;
      case kWrongCommand:
        if (!std::filesystem::exists(scratch.path() + "/run.json")) return ExitCode::kInput;
        err.write("warning: the script ended by the error above; what follows is up to there\n");
        break;
      case kNoEnvironment:
        return ExitCode::kIo;
      case kNeverUsedCuda:
        return ExitCode::kInput;
      default:
        throw IoError(fmt::format("record: the script's process ended with {}", code));
    }
    const MeasuredRun measured = read_measured_run(scratch.path(), "run");
    write_whole_file(args.value("snapshot"), read_whole_file(scratch.path() + "/snapshot.pickle"));
    if (args.has("events"))
      write_whole_file(args.value("events"),
                       read_whole_file(scratch.path() + "/run.events.csv.gz"));
    const std::string title = fmt::format("{}", fmt::join(args.positional(), " "));
    if (args.value("format") == "json") {
      out.write(record_json(measured, title));
    } else {
      out.write(record_text(measured, title, args.value("snapshot"),
                            {static_cast<std::size_t>(out.width()), out.colour()}));
    }
    if (code == kWrongCommand) return ExitCode::kInput;
    return measured.ended_by_oom && args.has("fail-on-oom") ? ExitCode::kOutOfMemory
                                                            : ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_record_command() { return std::make_unique<RecordCommand>(); }

}  // namespace tidemark::cli
