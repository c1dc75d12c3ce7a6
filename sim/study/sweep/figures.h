#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/study/sweep/results.h"

namespace tidemark {

using ResultsUnit = ResultsTable::Column::Unit;

/// One figure of a cell: its column in a results file.
struct Figure {
  std::string_view name;
  ResultsUnit unit;
  std::int64_t (*of)(const CellResult&);
};

/// All of them, in the order of the table's columns after the axes and the status.
inline constexpr std::array<Figure, 9> kFigures{{
    {"peak_allocated", ResultsUnit::kBytes,
     [](const CellResult& r) { return static_cast<std::int64_t>(r.peak_allocated); }},
    {"peak_reserved", ResultsUnit::kBytes,
     [](const CellResult& r) { return static_cast<std::int64_t>(r.peak_reserved); }},
    {"spare", ResultsUnit::kBytes,
     [](const CellResult& r) { return static_cast<std::int64_t>(r.spare); }},
    {"fragmentation", ResultsUnit::kMillionths,
     [](const CellResult& r) { return static_cast<std::int64_t>(r.fragmentation); }},
    {"retries", ResultsUnit::kNone, [](const CellResult& r) { return r.retries; }},
    {"ooms", ResultsUnit::kNone, [](const CellResult& r) { return r.ooms; }},
    {"device_calls", ResultsUnit::kNone,
     [](const CellResult& r) { return static_cast<std::int64_t>(r.device_calls); }},
    {"assumed", ResultsUnit::kNone, [](const CellResult& r) { return r.assumed; }},
    {"time_ns", ResultsUnit::kNanoseconds,
     [](const CellResult& r) { return std::int64_t{r.time_ns}; }},
}};

}  // namespace tidemark
