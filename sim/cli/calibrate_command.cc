#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "sim/cli/command.h"
#include "sim/cli/process.h"
#include "sim/cli/snapshot_input.h"
#include "sim/cli/torch_runner.h"
#include "sim/device/calibration.h"
#include "sim/device/device.h"
#include "sim/device/recorded_card.h"
#include "sim/format/whole_file.h"
#include "sim/report/text.h"

namespace tidemark::cli {

namespace {

/// The probe beside the harness; empty: it is not there.
std::string find_probe() {
  const std::string harness = find_harness();
  if (harness.empty()) return {};
  const auto probe = std::filesystem::path(harness).parent_path() / "tidemark-probe";
  std::error_code error;
  return std::filesystem::is_regular_file(probe, error) ? probe.string() : std::string();
}

std::string receipt(const Calibration& c) {
  const auto told = [](const std::string& text) { return text.empty() ? "not told" : text; };
  std::string out =
      fmt::format("{}{}, driver {}, CUDA {}, {}, {}\n", c.device,
                  c.pretend ? " (the pretend GPU: its times are not taken)" : "", told(c.driver),
                  told(c.cuda), c.pytorch.empty() ? "no PyTorch" : "PyTorch " + c.pytorch, c.date);
  if (c.by == "snapshot") out += "Of a memory snapshot, as if nobody else was on the device\n";
  if (c.by == "pytorch") out += "Measured inside a process of PyTorch\n";
  if (!c.idle.empty() && c.idle != "yes")
    out += fmt::format("Whether others used the device meanwhile: {}\n", c.idle);
  out += fmt::format("{} entries measured, {} interpolated, {} assumed; {} repeats in {} ms\n",
                     c.count(Basis::kMeasured), c.count(Basis::kInterpolated),
                     c.count(Basis::kAssumed), c.repeats, c.took_ns / 1'000'000);
  for (const FitQuality& fit : c.fits) {
    out += fmt::format("{} by size: off by {} in the mean, {} at most, on {} sizes held out\n",
                       fit.what, percent(static_cast<std::uint64_t>(fit.mean_error_ppm)),
                       percent(static_cast<std::uint64_t>(fit.max_error_ppm)), fit.held_out);
  }
  for (const RatePoint& rate : c.rates) {
    out += fmt::format("{} {}, work of {} digits: {} of 1000 of the peak, {} to {}, {} kernels\n",
                       rate.kind, rate.precision, rate.digits, rate.share, rate.low, rate.high,
                       rate.count);
  }
  for (const std::string& each : c.refused) out += "Not believed: " + each + "\n";
  return out;
}

/// When a file was written: "2026-11-01".
std::string day_of(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return {};
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(
      std::chrono::system_clock::from_time_t(about.st_mtime)));
  return fmt::format("{:04}-{:02}-{:02}", int{day.year()}, unsigned{day.month()},
                     unsigned{day.day()});
}

/// Timed kernels, and whose they are.
struct TimedKernels {
  std::string name;
  std::vector<KernelTime> times;
  JsonValue provenance;
};

constexpr std::string_view kTableEnding = ".kernels.csv";

/// A table of the harness as it is; a profiler's trace is made one first.
TimedKernels read_timed_kernels(const std::string& path, const std::string& scratch) {
  std::string table = path;
  if (!path.ends_with(kTableEnding)) {
    table = scratch + "/trace" + std::string(kTableEnding);
    const std::string script =
        script_path("calibrate --kernels", "TIDEMARK_VALIDATION", "validation",
                    TIDEMARK_SOURCE_VALIDATION, "torch/kernel_times.py");
    if (const int code = run_process({python(), script, path, table}, {}); code != 0)
      throw IoError(fmt::format("{}: no table of kernels could be made of it", path));
  }
  const std::string about = table.substr(0, table.size() - kTableEnding.size()) + ".json";
  const JsonValue measured = read_json(read_whole_file(about), about);
  const JsonValue* provenance = measured.find("provenance");
  if (provenance == nullptr)
    throw InputError(Problem{measured.at, "provenance", "does not say which card it was", {}});
  return {path, read_kernel_times(read_whole_file(table), path), *provenance};
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value == nullptr ? std::string() : value->text;
}

/// Errors: InputError where the kernels are of another card, or of the pretend one, whose times
/// are those of the machine it runs on unless it was given some.
void take_kernels(const TimedKernels& kernels, const DeviceSpec& device, Calibration& calibration) {
  const JsonValue& from = kernels.provenance;
  if (const std::string card = text_of(from, "device"); card != device.name) {
    throw InputError(
        Problem{{},
                kernels.name,
                fmt::format("the kernels are of '{}', the device is '{}'", card, device.name),
                "name the card with --device"});
  }
  const auto claim = [&from](std::string_view key) {
    const JsonValue* value = from.find(key);
    return value != nullptr && value->boolean;
  };
  if (claim("pretend") && !claim("given_times")) return;
  if (calibration.date.empty()) {
    calibration.driver = text_of(from, "driver");
    calibration.cuda = text_of(from, "cuda");
    calibration.date = text_of(from, "date");
    calibration.pytorch = text_of(from, "torch");
    calibration.pretend = claim("pretend");
  }
  calibrate_by_kernels(calibration, kernels.times, kernels.name, device);
}

/// The version of the PyTorch at hand, whose allocator programs there will meet. Empty: there is
/// none.
std::string pytorch_at_hand() {
  const std::string torch = find_torch();
  const TemporaryFile file("");
  const int code = run_process({torch.empty() ? python() : torch, "-c",
                                "import importlib.metadata as m, sys; open(sys.argv[1], "
                                "'w').write(next((d.version for d in m.distributions() if d.name "
                                "== 'torch'), ''))",
                                file.path()});
  return code == 0 ? read_whole_file(file.path()) : std::string();
}

/// What a probe printed, and its name.
struct Probed {
  std::string name;
  std::string text;
};

/// Runs what measures the card at hand: torch/probe.py inside PyTorch, the process that users have,
/// where `by` allows it and there is one; else tidemark-probe. std::nullopt: neither sees a device.
/// Errors: IoError.
std::optional<Probed> run_probe(std::string_view by, const DeviceSpec& device, Output& err) {
  const TemporaryFile file("");
  const auto ended = [&file](const std::string& name, int code) -> std::optional<Probed> {
    if (code == static_cast<int>(ExitCode::kNoDevice)) return std::nullopt;
    if (code != 0) throw IoError(fmt::format("{} ended with exit code {}", name, code));
    return Probed{name, read_whole_file(file.path())};
  };
  const std::string pytorch = pytorch_at_hand();
  if (by != "probe" && !pytorch.empty()) {
    const std::string torch = find_torch();
    const std::string script = script_path("calibrate", "TIDEMARK_VALIDATION", "validation",
                                           TIDEMARK_SOURCE_VALIDATION, "torch/probe.py");
    const int code = run_process({torch.empty() ? python() : torch, script, file.path()},
                                 pretend_variables(device));
    if (std::optional<Probed> found = ended("torch/probe.py", code)) return found;
  }
  if (by == "pytorch") {
    err.write("no PyTorch with a CUDA device was found: set TIDEMARK_TORCH to its Python\n");
    return std::nullopt;
  }
  const std::string probe = find_probe();
  if (probe.empty()) {
    err.write(
        "no probe was found: set TIDEMARK_TORCH to a Python with PyTorch; or build "
        "validation/cuda, and set TIDEMARK_CUDA to its program tidemark-cuda\n");
    return std::nullopt;
  }
  return ended(probe, run_process({probe, "--out", file.path(), "--pytorch", pytorch},
                                  pretend_variables(device)));
}

class CalibrateCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "calibrate",
        "measure a GPU and write what run --calibration loads",
        "Measures the GPU at hand inside PyTorch, where a Python has it, else by tidemark-probe "
        "(built in validation/cuda); or takes what a probe printed elsewhere. Writes context "
        "bytes, latencies of driver calls by size, launch overhead and achieved rates, each entry "
        "marked measured, interpolated or assumed, with a receipt. Kernels timed on the card, by "
        "'tidemark-cuda PLAN --kernels time', PyTorch's profiler or nsys, say what products, "
        "convolutions and attention reach; a memory snapshot with a refused request what the "
        "context takes. It holds for that card alone. Exit code 77: no GPU, or nothing to measure "
        "it with.",
        {},
        {{"device", "NAME", "the card it is, of configs/devices or a device file", ""},
         {"by", "WHAT", "pytorch or probe: what measures; else PyTorch where it is", ""},
         {"probe", "FILE", "what a probe printed, in place of running one", ""},
         {"kernels", "FILE",
          "timed kernels: NAME.kernels.csv of the harness, a profiler's trace (.json, .json.gz) "
          "or nsys's .sqlite; without --probe only these are taken",
          "", true},
         {"snapshot", "FILE", "a memory snapshot of the card, taken in the same way", "", true},
         {"out", "FILE", "where the calibration goes", "calibration.yaml"}},
        {{"tidemark calibrate --device rtx-4090", "on the machine with the card"},
         {"tidemark calibrate --device h100 --probe probe.json", "from a bundle's results"},
         {"tidemark calibrate --device h100 --kernels trace.json", "from a profiler's trace"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    if (!args.has("device")) usage_error("--device", "is needed: which card is it?");
    const DeviceSpec device = load_device(args.value("device")).spec;
    const std::string by = args.has("by") ? args.value("by") : "";
    if (!by.empty() && by != "pytorch" && by != "probe")
      usage_error("--by", fmt::format("'{}' is neither pytorch nor probe", by));
    const SignalsHeld until_tidied;
    std::optional<Probed> probed;
    if (args.has("probe")) {
      probed = {args.value("probe"), read_whole_file(args.value("probe"))};
    } else if (args.has("by") || !(args.has("kernels") || args.has("snapshot"))) {
      probed = run_probe(by, device, err);
      if (!probed) return ExitCode::kNoDevice;
    }
    Calibration calibration = probed ? calibrate(read_json(probed->text, probed->name), device)
                                     : assumed_calibration(device);
    for (const std::string& path : args.values("kernels")) {
      const TemporaryFolder scratch;
      take_kernels(read_timed_kernels(path, scratch.path()), device, calibration);
    }
    for (const std::string& path : args.values("snapshot")) {
      calibrate_by_snapshot(calibration, load_snapshot(path, err), path, device);
      if (calibration.date.empty()) calibration.date = day_of(path);
    }
    write_whole_file(args.value("out"), calibration_yaml(calibration));
    out.write(receipt(calibration) + "Written: " + args.value("out") + "\n");
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace tidemark::cli
