#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/report/text.h"
#include "sim/study/sweep/results.h"

namespace tidemark {

/// kSpreadsheet: CSV in which no text is a formula: one that begins like one has a ' before it.
enum class TableFormat : std::uint8_t { kText, kCsv, kJson, kMarkdown, kLatex, kSpreadsheet };
inline constexpr std::string_view kTableFormatNames[] = {"text",     "csv",   "json",
                                                         "markdown", "latex", "spreadsheet"};

/// A table of results. Text, Markdown and LaTeX have bytes as people read them; CSV and JSON
/// exactly.
std::string results_table(const ResultsTable& table, TableFormat format, const TextStyle& style);

/// Column by column, each all integers or all text, for plots/to_parquet.py.
std::string results_columns_json(const ResultsTable& table);

/// What a sweep came to, in a few lines: how many cells fit, ran out of memory, failed; the least
/// and the most that the fitting ones need; the commonest errors.
std::string sweep_summary(const ResultsFile& results, const TextStyle& style);

}  // namespace tidemark
