#pragma once

#include <string>
#include <string_view>

#include "sim/report/text.h"
#include "sim/run/run_result.h"
#include "sim/study/explain/explanation.h"

namespace tidemark {

/// What holds the memory and why: the answer first, then purposes, call sites, pinned segments.
/// `top`: rows of each list.
std::string explain_text(const Explanation& explanation, std::size_t top, const TextStyle& style);
/// `basis`: of the run that is explained; of a recording empty. Schema: docs/formats/json.md,
/// "explain".
std::string explain_json(const Explanation& explanation, const RunBasis& basis, std::size_t top);

/// Growth by call site, churners, lifetimes, sizes that rounding would merge.
std::string churn_text(const ChurnReport& report, std::size_t top, const TextStyle& style);
std::string churn_json(const ChurnReport& report, std::size_t top);

/// Which call sites hold more or less in b than in a, and what moved in reserved memory and why.
std::string picture_diff_text(const MemoryPicture& a, const MemoryPicture& b, std::size_t top,
                              const TextStyle& style);
std::string picture_diff_json(const MemoryPicture& a, const MemoryPicture& b, std::size_t top);

/// Who made a block, or that it was not recorded.
std::string_view maker_of(std::string_view maker);
/// "8.13 MiB made by addmm at model.py:12 forward in step 1"
std::string holder_text(const HeldBlock& block);

/// Allocator settings as a sentence names them: "the default settings", or the text in quotes.
inline std::string setting_name(const std::string& conf) {
  return conf.empty() ? "the default settings" : "'" + conf + "'";
}

}  // namespace tidemark
