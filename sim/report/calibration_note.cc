#include "sim/report/calibration_note.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/text.h"

namespace tidemark {

namespace {

bool has_work(const RunResult& result, CostClass kind) {
  return std::ranges::any_of(result.program.costs,
                             [kind](const Cost& cost) { return cost.kind == kind; });
}

Bytes bytes_of(const Calibration& calibration, std::string_view key) {
  return static_cast<Bytes>(calibration.entry(key).value);
}

}  // namespace

std::string calibration_note(const Calibration& calibration, const RunResult& result) {
  std::string out = fmt::format(
      "Calibrated on {}{}, driver {}, {}: {} entries measured, {} interpolated, {} assumed\n",
      calibration.device, calibration.pretend ? " (the pretend GPU)" : "", calibration.driver,
      calibration.date, calibration.count(Basis::kMeasured),
      calibration.count(Basis::kInterpolated), calibration.count(Basis::kAssumed));
  const Version& version = result.devices.front().settings.version;
  const std::string simulated = fmt::format("{}.{}", version.major, version.minor);
  if (!calibration.pytorch.empty() && !calibration.pytorch.starts_with(simulated + ".")) {
    out += fmt::format(
        "PyTorch there is {}, the allocator simulated here is {}'s: see 'pytorch:' of the "
        "scenario\n",
        calibration.pytorch, simulated);
  }
  if (result.ended_by_oom) return out;
  const bool convolves = has_work(result, CostClass::kConvolution);
  const Bytes spare = spare_bytes(result.devices.front());
  Bytes handles = 0;
  if (has_work(result, CostClass::kMatmul)) handles += bytes_of(calibration, "cublas_bytes");
  if (convolves) handles += bytes_of(calibration, "cudnn_bytes");
  if (handles > spare) {
    return out + fmt::format("Does not fit: cuBLAS and cuDNN take {} for themselves, {} are left\n",
                             exact_bytes(handles), exact_bytes(spare));
  }
  if (!convolves) return out;
  const CalibrationEntry& workspace = calibration.entry("cudnn_workspace_bytes");
  const Bytes left = spare - handles;
  if (workspace.basis == Basis::kAssumed) {
    out += fmt::format(
        "Fits only if cuDNN asks for less than {} beside it: its workspaces were not measured\n",
        exact_bytes(left));
  } else if (static_cast<Bytes>(workspace.value) < left) {
    out +=
        fmt::format("Fits: cuDNN asked for {} at most in {} measured convolutions, {} are left\n",
                    exact_bytes(static_cast<Bytes>(workspace.value)), calibration.workspaces.size(),
                    exact_bytes(left));
  } else {
    out += fmt::format(
        "Fits only if cuDNN asks for less than {} beside it: in measured convolutions it asked for "
        "up to {}\n",
        exact_bytes(left), exact_bytes(static_cast<Bytes>(workspace.value)));
  }
  return out;
}

}  // namespace tidemark
