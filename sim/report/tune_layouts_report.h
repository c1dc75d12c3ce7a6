#pragma once

#include <string>

#include "sim/report/tune_report.h"
#include "sim/study/advice/tune_layouts.h"

namespace tidemark {

/// The best layout, and the table behind it.
std::string tune_layouts_text(const TunedLayouts& tuned, const TuneReportOptions& options,
                              const TextStyle& style);
/// Schema: docs/formats/json.md, "layouts".
std::string tune_layouts_json(const TunedLayouts& tuned, const TuneReportOptions& options);

/// "fsdp 4 x pp 2", without what is 1.
std::string layout_name(const Layout& layout);

}  // namespace tidemark
