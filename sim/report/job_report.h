#pragma once

#include <string>

#include "sim/format/json_writer.h"
#include "sim/report/text.h"
#include "sim/run/run_result.h"

/// What the ranks of a job do over time, each waiting for the others.
namespace tidemark {

/// For people: a line for ranks with the same times, the longest bubble, and what it rests on.
/// Empty where no rank sends to another alone, and none waits for ever.
std::string job_text(const RunBasis& basis, const TextStyle& style);
/// Member "times" of the object under way, where there is anything. Schema: docs/formats/json.md.
void write_job(const RunBasis& basis, JsonWriter& json);
/// A row for each stretch of time of ranks with the same times. Schema: docs/formats/timeline.md,
/// "Of the ranks". Requires: basis.times.
std::string job_csv(const JobTimes& times);

/// "0-6, 8".
std::string rank_numbers(const std::vector<int>& ranks, std::string_view between = ", ");

}  // namespace tidemark
