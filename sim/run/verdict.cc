#include "sim/run/verdict.h"

#include <algorithm>
#include <array>

namespace tidemark {

std::string_view ending_text(Ending ending) {
  constexpr std::array<std::string_view, 3> kTexts{"FITS.", "OUT OF MEMORY, HANDLED.",
                                                   "DOES NOT FIT."};
  return kTexts[static_cast<std::size_t>(ending)];
}

std::string_view ending_name(Ending ending) {
  constexpr std::array<std::string_view, 3> kNames{"fits", "handled", "out_of_memory"};
  return kNames[static_cast<std::size_t>(ending)];
}

Verdict verdict_of(const RunResult& result) {
  Verdict verdict;
  verdict.spare = kUnlimitedBytes;
  std::uint64_t last_refused = 0;
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const DeviceResult& device = result.devices[i];
    const Bytes spare = spare_bytes(device);
    if (!device.ooms.empty() && device.ooms.back().instruction >= last_refused) {
      last_refused = device.ooms.back().instruction;
      verdict.device = i;
    } else if (verdict.refused == 0 && device.ooms.empty() && spare < verdict.spare) {
      verdict.device = i;
    }
    verdict.refused += device.ooms.size();
    verdict.peak_allocated = std::max(verdict.peak_allocated, device.peak_allocated.bytes);
    verdict.peak_reserved = std::max(verdict.peak_reserved, device.peak_reserved.bytes);
    verdict.spare = std::min(verdict.spare, spare);
    verdict.retries += device.statistics.num_alloc_retries;
  }
  verdict.ending = result.ended_by_oom    ? Ending::kOutOfMemory
                   : verdict.refused == 0 ? Ending::kFits
                                          : Ending::kHandled;
  return verdict;
}

}  // namespace tidemark
