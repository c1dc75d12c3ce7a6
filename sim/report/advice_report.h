#pragma once

#include <string>

#include "sim/report/text.h"
#include "sim/study/advice/advice.h"

namespace tidemark {

/// What an advice report says beside the advice.
struct AdviceReportOptions {
  std::string title;  ///< the scenario as it was given
  std::string over;   ///< AdviceOptions::over
  bool is_script = false;
};

/// Whether it fits, and a table of what was simulated: what meets the goal, what saves memory but
/// not enough, what does not help and why. Rows that can be applied have numbers.
std::string advice_text(const Advice& advice, const AdviceReportOptions& options,
                        const TextStyle& style);
/// Schema: docs/formats/json.md, "advice".
std::string advice_json(const Advice& advice, const AdviceReportOptions& options);

/// The change with a number of the table, from 1; nullptr: there is none.
const AdvisedChange* numbered_change(const Advice& advice, std::size_t number);

/// What stands above a scenario to which a change was applied, as a comment of one line.
std::string applied_comment(const Advice& advice, const AdvisedChange& change);

}  // namespace tidemark
