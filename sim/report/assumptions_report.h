#pragma once

#include <string>
#include <vector>

#include "sim/format/json_writer.h"
#include "sim/report/text.h"
#include "sim/run/run_result.h"

/// What a run rests on: conditions on values that nobody knows and what they were taken for, what
/// else was noted, and operators that were not compared with the release that runs them.
namespace tidemark {

/// For people: the operators, one line a condition that nobody gave, what each alternative comes
/// to. Empty: the run rests on nothing.
std::string assumptions_text(const RunBasis& basis, const TextStyle& style);
/// The same, one text a line, for pages.
std::vector<std::string> assumption_lines(const RunBasis& basis);
/// Members of the object under way, where there is anything. Schema: docs/formats/json.md, "run".
void write_assumptions(const RunBasis& basis, JsonWriter& json);

}  // namespace tidemark
