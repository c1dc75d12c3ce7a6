#include "sim/report/headline.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark {

std::string verdict_line(const Verdict& verdict, std::size_t devices) {
  std::string out(ending_text(verdict.ending));
  if (verdict.ending == Ending::kOutOfMemory) {
    out += " A refused request ends the run.";
  } else if (verdict.ending == Ending::kHandled) {
    out += fmt::format(" {} {} refused; the program went on.", verdict.refused,
                       verdict.refused == 1 ? "request was" : "requests were");
  }
  if (devices > 1) out += fmt::format(" GPU {} decides.", verdict.device);
  return out;
}

Headline headline_of(const DeviceResult& device) {
  Headline headline;
  const Bytes total = device.spec.total_bytes;
  const auto reserved_now = static_cast<Bytes>(device.statistics.reserved_bytes.all.current);
  const Bytes known = device.spec.context_bytes + reserved_now + device.device_free_bytes;
  headline.outside_bytes = total - std::min(total, known);
  headline.device_peak_bytes =
      device.spec.context_bytes + headline.outside_bytes + device.peak_reserved.bytes;
  headline.spare_bytes = total - std::min(total, headline.device_peak_bytes);
  return headline;
}

Amounts amounts_of(const MemorySample& sample) {
  return {sample.reserved,  sample.active,         sample.allocated,
          sample.requested, sample.inactive_split, sample.largest_free};
}

std::string moment_text(const DeviceResult& device, const Program& program, std::uint32_t phase,
                        LabelId label) {
  std::string text;
  if (phase != kNoPhase && phase < device.phases.size()) {
    const PhaseName name = split_phase_name(device.phases[phase].name);
    if (!name.step.empty()) text = "step " + std::string(name.step) + ", ";
    text += name.phase;
  }
  const std::string_view op = program.labels.text(label);
  if (!op.empty()) {
    if (!text.empty()) text += ": ";
    text += op;
  }
  return text.empty() ? "-" : text;
}

}  // namespace tidemark
