#include "sim/report/calibration_note.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/text.h"

namespace tidemark {

namespace {

bool convolves(const RunResult& result) {
  return std::ranges::any_of(result.program.costs,
                             [](const Cost& cost) { return cost.kind == CostClass::kConvolution; });
}

}  // namespace

std::string calibration_note(const Calibration& calibration, const RunResult& result) {
  std::string out = fmt::format(
      "Calibrated on {}{}, driver {}, {}: {} entries measured, {} interpolated, {} assumed\n",
      calibration.device, calibration.pretend ? " (the pretend GPU)" : "", calibration.driver,
      calibration.date, calibration.count(Basis::kMeasured),
      calibration.count(Basis::kInterpolated), calibration.count(Basis::kAssumed));
  const bool assumed =
      calibration.entry("cudnn_workspace_bytes").basis == Basis::kAssumed && convolves(result);
  if (assumed && !result.ended_by_oom) {
    out += fmt::format(
        "Fits only if cuDNN asks for less than {} beside it: its workspaces were not measured\n",
        exact_bytes(spare_bytes(result.devices.front())));
  }
  return out;
}

}  // namespace tidemark
