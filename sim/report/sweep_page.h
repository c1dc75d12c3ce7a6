#pragma once

#include <string>

#include "sim/study/sweep/results.h"

namespace tidemark {

/// The data of plots/sweep_page.py as JSON: the answer in words, axes, cells, and the command that
/// makes each again. `where`: an SQL expression that chooses cells; empty: all. Errors: InputError:
/// as ResultsFile::query(), and for more cells than a page can show (20,000).
std::string sweep_page_json(const ResultsFile& results, const std::string& where);

}  // namespace tidemark
