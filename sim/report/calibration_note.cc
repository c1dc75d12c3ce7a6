#include "sim/report/calibration_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

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

/// Days from 1970 to a date written as 2026-11-01.
std::optional<std::int64_t> day_of(std::string_view date) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const auto number = [&date](std::size_t at, std::size_t length, auto& into) {
    const char* end = date.data() + at + length;
    const auto [stop, error] = std::from_chars(date.data() + at, end, into);
    return error == std::errc() && stop == end;
  };
  constexpr std::size_t kLength = 10;
  if (date.size() < kLength || date[4] != '-' || date[7] != '-') return std::nullopt;
  if (!number(0, 4, year) || !number(5, 2, month) || !number(8, 2, day)) return std::nullopt;
  const std::chrono::year_month_day when{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!when.ok()) return std::nullopt;
  return std::chrono::sys_days(when).time_since_epoch().count();
}

std::string age(std::string_view date, std::int64_t today) {
  const std::optional<std::int64_t> then = day_of(date);
  if (!then) return "of no known day";
  const std::int64_t days = today - *then;
  if (days < 0) return "dated after today";
  constexpr std::int64_t kOld = 365;
  return fmt::format("{} day{} old{}", days, days == 1 ? "" : "s",
                     days > kOld ? ": drivers change, measure again" : "");
}

}  // namespace

std::string calibration_note(const Calibration& calibration, const RunResult& result,
                             std::int64_t today) {
  std::string out = fmt::format(
      "Calibrated on {}{}, driver {}, {} ({}): {} entries measured, {} interpolated, {} assumed\n",
      calibration.device, calibration.pretend ? " (the pretend GPU)" : "", calibration.driver,
      calibration.date, age(calibration.date, today), calibration.count(Basis::kMeasured),
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
