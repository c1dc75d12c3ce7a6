#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "sim/report/text.h"
#include "sim/study/advice/tune.h"

namespace tidemark {

/// What a report on a tuning says beside the result.
struct TuneReportOptions {
  std::string title;                   ///< the workload as it was given
  std::string device;                  ///< "NVIDIA H100 80GB HBM3, 79.2 GiB"
  std::string no_orders;               ///< why there is one order alone; empty: there are others
  std::span<const std::string> notes;  ///< what to bear in mind with the figures
  std::size_t limit = 0;               ///< rows of the table; 0: all
};

/// The best setting, what it saves, how it holds under other orders, and the table behind it.
std::string tune_text(const TuneResult& result, const TuneReportOptions& options,
                      const TextStyle& style);
/// Schema: docs/formats/json.md, "tuning".
std::string tune_json(const TuneResult& result, const TuneReportOptions& options);

}  // namespace tidemark
