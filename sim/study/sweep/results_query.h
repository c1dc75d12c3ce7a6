#pragma once

#include <string>
#include <vector>

#include "sim/study/sweep/results.h"
#include "sim/study/sweep/sqlite.h"

namespace tidemark {

/// One value of a row. Requires: SqlStatement::step() found the row.
ResultsValue value_of(const SqlStatement& row, int column);

/// Answers a question about the table `cells` of `database`. `columns`: those that the table has.
/// Errors: InputError with every problem: unknown columns, an expression that SQLite refuses.
ResultsTable query_cells(SqlDatabase& database, const std::vector<std::string>& columns,
                         const ResultsQuery& query);

}  // namespace tidemark
