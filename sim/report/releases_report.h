#pragma once

#include <string>
#include <vector>

#include "sim/base/release.h"
#include "sim/report/text.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// What one release of PyTorch makes of a program, on its fullest device.
struct ReleasePeaks {
  Version pytorch;
  bool fits = true;  ///< no request was refused
  Bytes allocated_bytes = 0;
  Bytes reserved_bytes = 0;
};
ReleasePeaks peaks_under(Version pytorch, const RunResult& result);

/// A line a release: its peaks, and how they differ from those of the first. Requires: not empty.
std::string releases_text(const std::vector<ReleasePeaks>& peaks, const TextStyle& style);

}  // namespace tidemark
