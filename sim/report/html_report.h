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
/// A run's, the highest of each of at most 2000 stretches; none where less than a page was held.
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
  const Snapshot* snapshot = nullptr;
  std::span<const SettingRow> settings;  ///< ranked
  std::span<const HostPoint> host;       ///< of a run; a recording does not tell
  std::vector<std::string> assumptions;
};

/// The page: one HTML file that holds its data, its style and its script (page/), and asks no
/// network. Two runs stand side by side, with what differs before them. Cost: linear in the events.
/// Requires: one run or two.
std::string html_report(std::span<const HtmlReport> runs);

}  // namespace tidemark
