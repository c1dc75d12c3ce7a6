#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/run/run_result.h"
#include "sim/run/verdict.h"
#include "sim/study/explain/explanation.h"
#include "sim/study/replay/agreement.h"

namespace tidemark {

/// The host's memory after a change of it, for the page.
struct HostPoint {
  std::uint32_t event = 0;  ///< the first device's next event
  Bytes held = 0;
  Bytes pinned = 0;
  std::string maker;  ///< when it changed, and by whom
};
/// A run's, the highest of each of at most 4000 stretches; none where less than a page was held.
std::vector<HostPoint> host_points(const RunResult& result);

/// What a run comes to under one setting.
struct SettingRow {
  std::string setting;
  Bytes peak_reserved = 0;
  std::int64_t ooms = 0;  ///< requests refused
};

/// What the page of a report shows. Everything must outlive the call.
struct HtmlReport {
  std::string title;
  const Explanation* explanation = nullptr;
  std::optional<Verdict> verdict;  ///< of a run; a recording has none
  const Agreement* agreement = nullptr;
  const RecordedAmounts* amounts = nullptr;  ///< at most kTimelinePoints
  std::span<const SettingRow> settings;      ///< ranked
  std::span<const HostPoint> host;           ///< of a run; a recording does not tell
  std::vector<std::string> assumptions;
};

/// What a timeline on the page keeps: the highest of as many stretches.
inline constexpr std::size_t kTimelinePoints = 4000;

/// The data of plots/report.py as JSON. Of more than 20,000 blocks it has the largest; the rest of
/// a segment is told as one that has no name.
std::string html_report_json(const HtmlReport& report);

}  // namespace tidemark
