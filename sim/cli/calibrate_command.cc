#include <fmt/format.h>

#include <filesystem>

#include "sim/cli/command.h"
#include "sim/cli/process.h"
#include "sim/cli/torch_runner.h"
#include "sim/device/calibration.h"
#include "sim/device/device.h"
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
  std::string out =
      fmt::format("{}{}, driver {}, CUDA {}, {}, {}\n", c.device,
                  c.pretend ? " (the pretend GPU: its times are not taken)" : "", c.driver, c.cuda,
                  c.pytorch.empty() ? "no PyTorch" : "PyTorch " + c.pytorch, c.date);
  out += fmt::format("{} entries measured, {} interpolated, {} assumed; {} repeats in {} ms\n",
                     c.count(Basis::kMeasured), c.count(Basis::kInterpolated),
                     c.count(Basis::kAssumed), c.repeats, c.took_ns / 1'000'000);
  for (const FitQuality& fit : c.fits) {
    out += fmt::format("{} by size: off by {} in the mean, {} at most, on {} sizes held out\n",
                       fit.what, percent(static_cast<std::uint64_t>(fit.mean_error_ppm)),
                       percent(static_cast<std::uint64_t>(fit.max_error_ppm)), fit.held_out);
  }
  return out;
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

class CalibrateCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {"calibrate",
            "measure a GPU and write what run --calibration loads",
            "Runs tidemark-probe (built in validation/cuda) on the GPU at hand, or takes what it "
            "printed elsewhere, and writes context bytes, latencies of driver calls by size, "
            "launch overhead and achieved rates, each entry marked measured, interpolated or "
            "assumed, with a receipt. It holds for that card alone. Exit code 77: no GPU, or no "
            "probe.",
            {},
            {{"device", "NAME", "the card it is, of configs/devices or a device file", ""},
             {"probe", "FILE", "what tidemark-probe printed, in place of running it", ""},
             {"out", "FILE", "where the calibration goes", "calibration.yaml"}},
            {{"tidemark calibrate --device rtx-4090", "on the machine with the card"},
             {"tidemark calibrate --device h100 --probe probe.json", "from a bundle's results"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    if (!args.has("device")) usage_error("--device", "is needed: which card is it?");
    const DeviceSpec device = load_device(args.value("device")).spec;
    std::string text;
    std::string name = "tidemark-probe";
    if (args.has("probe")) {
      name = args.value("probe");
      text = read_whole_file(name);
    } else {
      const std::string probe = find_probe();
      if (probe.empty()) {
        err.write(
            "no probe was found: build validation/cuda, and set TIDEMARK_CUDA to its program "
            "tidemark-cuda\n");
        return ExitCode::kNoDevice;
      }
      const SignalsHeld until_tidied;
      const TemporaryFile file("");
      const int code = run_process({probe, "--out", file.path(), "--pytorch", pytorch_at_hand()},
                                   pretend_variables(device));
      if (code == static_cast<int>(ExitCode::kNoDevice)) return ExitCode::kNoDevice;
      if (code != 0) throw IoError(fmt::format("{} ended with exit code {}", probe, code));
      text = read_whole_file(file.path());
    }
    const Calibration calibration = calibrate(read_json(text, name), device);
    write_whole_file(args.value("out"), calibration_yaml(calibration));
    out.write(receipt(calibration) + "Written: " + args.value("out") + "\n");
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace tidemark::cli
