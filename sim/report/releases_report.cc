#include "sim/report/releases_report.h"

#include <fmt/format.h>

#include "sim/run/verdict.h"

namespace tidemark {

namespace {

/// "+3.2 %", "-41.0 %", "=".
std::string change(Bytes before, Bytes after) {
  if (before == after) return "=";
  if (before == 0) return "";
  const double share = static_cast<double>(after) / static_cast<double>(before) - 1;
  return fmt::format("{:+.1f} %", 100 * share);
}

}  // namespace

ReleasePeaks peaks_under(Version pytorch, const RunResult& result) {
  const Verdict verdict = verdict_of(result);
  ReleasePeaks peaks{pytorch};
  peaks.fits = verdict.fits();
  peaks.allocated_bytes = verdict.peak_allocated;
  peaks.reserved_bytes = verdict.peak_reserved;
  return peaks;
}

std::string releases_text(const std::vector<ReleasePeaks>& peaks, const TextStyle& style) {
  using enum Table::Align;
  Table table({kLeft, kLeft, kRight, kRight, kRight, kRight});
  table.add({"PyTorch", "", "peak allocated", "", "peak reserved", ""});
  const ReleasePeaks& first = peaks.front();
  for (const ReleasePeaks& each : peaks) {
    const bool is_first = &each == &first;
    const auto against = [&](Bytes before, Bytes after) {
      return is_first ? std::string() : change(before, after);
    };
    table.add(
        {to_string(each.pytorch), each.fits ? "fits" : "does not fit",
         human_bytes(each.allocated_bytes), against(first.allocated_bytes, each.allocated_bytes),
         human_bytes(each.reserved_bytes), against(first.reserved_bytes, each.reserved_bytes)});
  }
  return table.text(style.width);
}

}  // namespace tidemark
