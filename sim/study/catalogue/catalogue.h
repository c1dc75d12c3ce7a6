#pragma once

#include <string>
#include <string_view>

#include "sim/study/tables/results_table.h"

namespace tidemark {

// What the program knows, as tables. `part`: only entries with that in their names, empty: all.
// `is_for_people`: what fits a line beside each name; else every figure, each in a column of its
// own. Errors: InputError when no entry has `part` in its name.

/// GPUs: name, memory, context, granularity of what the driver gives out, compute capability.
ResultsTable device_table(std::string_view part, bool is_for_people);
/// Operators with their signatures, an overload a row, by name. Those that torch's own modules
/// alone call are left out.
ResultsTable op_table(std::string_view part, bool is_for_people);
/// The records of the operator of that name (sim/ops/records) as they are written, each under the
/// place where it stands and the rule that it follows; empty: it has none.
std::string op_record_text(std::string_view name);
/// What PyTorch's releases do differently, a behaviour a row, by operator or library. `part` is of
/// their names.
ResultsTable release_table(std::string_view part, bool is_for_people);
/// Models of the zoo with their parameters and default arguments.
ResultsTable model_table(std::string_view part, bool is_for_people);
/// Classes of torch.optim with their options and defaults: for people one a row, else an option a
/// row.
ResultsTable optimizer_table(std::string_view part, bool is_for_people);

}  // namespace tidemark
