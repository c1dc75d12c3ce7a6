#pragma once

#include <string>

#include "sim/study/sweep/results.h"

namespace tidemark {

/// The page of a sweep, one HTML file as html_report() writes it: the answer in words, how far each
/// model goes on each device, a map of two axes, peaks against the devices, the best combinations,
/// and the command that makes each cell again. `where`: an SQL expression that chooses cells;
/// empty: all. Errors: InputError: as ResultsFile::query(), and for more cells than a page can show
/// (20,000).
std::string sweep_page(const ResultsFile& results, const std::string& where);

}  // namespace tidemark
