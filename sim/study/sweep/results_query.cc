#include "sim/study/sweep/results_query.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/study/sweep/figures.h"

namespace tidemark {
namespace {

constexpr std::size_t kMostHeads = 1000;  ///< columns of a table of two axes

/// One SELECT over the table of cells, in its parts.
struct Selection {
  std::string what;
  std::string filter;
  std::string tail;  ///< GROUP BY and ORDER BY
};

ResultsUnit unit_of(std::string_view column) {
  for (const Figure& figure : kFigures) {
    if (column.ends_with(figure.name)) return figure.unit;
  }
  return ResultsUnit::kNone;
}

/// "-peak" as ("peak", true).
std::pair<std::string_view, bool> direction(std::string_view word) {
  const bool is_falling = word.starts_with('-');
  return {word.substr(is_falling ? 1 : 0), is_falling};
}

std::string listed(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + sql_name(name);
  return joined;
}

void require_columns(std::string_view option, const std::vector<std::string>& words,
                     const std::vector<std::string>& known, std::vector<Problem>& problems) {
  for (const std::string& word : words) {
    const std::string_view name = direction(word).first;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    problems.push_back({{},
                        std::string(option),
                        fmt::format("there is no column '{}'", name),
                        did_you_mean(name, {known.begin(), known.end()})});
  }
}

void require_sound(SqlDatabase& database, const std::vector<std::string>& columns,
                   const ResultsQuery& query, std::string_view where) {
  std::vector<Problem> problems;
  require_columns("--columns", query.columns, columns, problems);
  require_columns("--sort", query.sort, columns, problems);
  require_columns("--group", query.group, columns, problems);
  require_columns("--pareto", query.pareto, columns, problems);
  require_columns("--pivot", query.pivot, columns, problems);
  if (!query.pivot.empty() && query.pivot.size() != 3)
    problems.push_back({{}, "--pivot", "expected three columns: ROW,COLUMN,VALUE", {}});
  const std::string wrong =
      database.complaint(fmt::format("SELECT cell FROM cells WHERE {}", where));
  if (!wrong.empty()) {
    problems.push_back(
        {{}, "--where", wrong, "an SQL expression: \"status = 'fits' and batch > 8\""});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

/// A place of the table has one cell: two differ in an axis that the table does not show. Errors:
/// InputError that names it.
void require_one_cell_a_place(SqlDatabase& database, const std::vector<std::string>& columns,
                              const std::vector<std::string>& pivot, const std::string& where) {
  SqlStatement most = database.prepare(
      fmt::format("SELECT COUNT(*) FROM cells WHERE {} GROUP BY {} ORDER BY 1 DESC LIMIT 1", where,
                  listed({pivot[0], pivot[1]})));
  if (!most.step() || most.integer(0) < 2) return;
  std::string hidden;
  // The axes stand between the cell's number and its status.
  for (std::size_t i = 1; i < columns.size() && columns[i] != "status"; ++i) {
    if (columns[i] == pivot[0] || columns[i] == pivot[1]) continue;
    SqlStatement values = database.prepare(
        fmt::format("SELECT COUNT(DISTINCT {}) FROM cells WHERE {}", sql_name(columns[i]), where));
    if (values.step() && values.integer(0) > 1) hidden += (hidden.empty() ? "" : ", ") + columns[i];
  }
  throw InputError(Problem{{},
                           "--pivot",
                           fmt::format("{} cells would stand in one place: the table does not show "
                                       "{}",
                                       most.integer(0), hidden),
                           "choose one value of each by --where"});
}

/// What stands in a place is a figure of a cell that fits; else OOM or error. Other columns stand
/// as they are.
Selection selection_of_pivot(const ResultsQuery& query, const std::string& where) {
  const std::string value = sql_name(query.pivot[2]);
  const bool is_figure = std::any_of(kFigures.begin(), kFigures.end(), [&](const Figure& figure) {
    return figure.name == query.pivot[2] && figure.name != "ooms";
  });
  const std::string shown = is_figure ? fmt::format(
                                            "CASE status WHEN 'fits' THEN {} WHEN 'oom' THEN "
                                            "'OOM' ELSE 'error' END",
                                            value)
                                      : value;
  return {fmt::format("{}, {}", listed({query.pivot[0], query.pivot[1]}), shown), where,
          "ORDER BY 1, 2"};
}

Selection selection_of_groups(const ResultsQuery& query, const std::string& where) {
  const std::string names = listed(query.group);
  return {names +
              ", COUNT(*) AS cells, SUM(status = 'fits') AS fits, MIN(peak_reserved) AS "
              "least_peak_reserved, MAX(peak_reserved) AS most_peak_reserved, MAX(fragmentation) "
              "AS most_fragmentation",
          where, fmt::format("GROUP BY {0} ORDER BY {0}", names)};
}

std::string order_by(const std::vector<std::string>& sort) {
  std::string order = "ORDER BY ";
  for (const std::string& word : sort) {
    const auto [name, is_falling] = direction(word);
    order += sql_name(name) + (is_falling ? " DESC, " : ", ");
  }
  return order + "cell";
}

/// A filter that keeps a cell where no other one that fits is at least as good in all of `pareto`
/// and better in one. Makes temp.candidates, which it looks into.
std::string pareto_filter(SqlDatabase& database, const std::vector<std::string>& pareto,
                          const std::string& where) {
  std::string no_worse;
  std::string better;
  for (const std::string& word : pareto) {
    const auto [name, is_larger_better] = direction(word);
    const std::string column = sql_name(name);
    const char sign = is_larger_better ? '>' : '<';
    no_worse += fmt::format(" AND other.{0} {1}= cells.{0}", column, sign);
    better += fmt::format("{2}other.{0} {1} cells.{0}", column, sign, better.empty() ? "" : " OR ");
  }
  database.run("DROP TABLE IF EXISTS temp.candidates");
  database.run("CREATE TEMP TABLE candidates AS SELECT * FROM cells WHERE status = 'fits' AND " +
               where);
  return fmt::format(
      "status = 'fits' AND {} AND NOT EXISTS (SELECT 1 FROM temp.candidates AS other WHERE "
      "({}){})",
      where, better, no_worse);
}

Selection selection_of_cells(SqlDatabase& database, const std::vector<std::string>& columns,
                             const ResultsQuery& query, const std::string& where) {
  return {listed(query.columns.empty() ? columns : query.columns),
          query.pareto.empty() ? where : pareto_filter(database, query.pareto, where),
          order_by(query.sort)};
}

/// Rows of (row, column, value) as a table of two axes: the columns ascend, the rows come as they
/// are.
ResultsTable crossed(SqlStatement& row, const std::vector<std::string>& pivot) {
  ResultsTable table;
  table.columns.push_back({pivot[0], ResultsUnit::kNone});
  std::vector<ResultsValue> heads;
  std::vector<std::tuple<ResultsValue, ResultsValue, ResultsValue>> entries;
  while (row.step()) {
    entries.emplace_back(value_of(row, 0), value_of(row, 1), value_of(row, 2));
    const ResultsValue& head = std::get<1>(entries.back());
    if (std::find(heads.begin(), heads.end(), head) != heads.end()) continue;
    heads.push_back(head);
    if (heads.size() > kMostHeads) {
      throw InputError(Problem{{},
                               "--pivot",
                               fmt::format("'{}' has more than {} values", pivot[1], kMostHeads),
                               "take it for the rows, or leave cells out by --where"});
    }
  }
  std::stable_sort(heads.begin(), heads.end(), [](const ResultsValue& a, const ResultsValue& b) {
    return std::tie(a.kind, a.integer, a.text) < std::tie(b.kind, b.integer, b.text);
  });
  for (const ResultsValue& head : heads) {
    const std::string text =
        head.kind == ResultsValue::Kind::kInteger ? std::to_string(head.integer) : head.text;
    table.columns.push_back({fmt::format("{} = {}", pivot[1], text), unit_of(pivot[2])});
  }
  for (const auto& [first, head, value] : entries) {
    if (table.rows.empty() || !(table.rows.back().front() == first)) {
      table.rows.emplace_back(heads.size() + 1);
      table.rows.back().front() = first;
    }
    const auto place = std::find(heads.begin(), heads.end(), head) - heads.begin();
    table.rows.back()[static_cast<std::size_t>(place) + 1] = value;
  }
  return table;
}

/// The rows as they are; `limit` 0: all.
ResultsTable listed_rows(SqlStatement& row, std::uint64_t limit) {
  ResultsTable table;
  for (int i = 0; i < row.columns(); ++i)
    table.columns.push_back({row.name(i), unit_of(row.name(i))});
  while (row.step()) {
    if (limit != 0 && table.rows.size() == limit) {
      ++table.left_out;
      continue;
    }
    std::vector<ResultsValue>& values = table.rows.emplace_back();
    for (int i = 0; i < row.columns(); ++i) values.push_back(value_of(row, i));
  }
  return table;
}

}  // namespace

ResultsValue value_of(const SqlStatement& row, int column) {
  if (row.is_null(column)) return {};
  if (row.is_integer(column)) return {ResultsValue::Kind::kInteger, row.integer(column), {}};
  return {ResultsValue::Kind::kText, 0, row.text(column)};
}

ResultsTable query_cells(SqlDatabase& database, const std::vector<std::string>& columns,
                         const ResultsQuery& query) {
  const std::string where =
      fmt::format("({}\n)", query.where.empty() ? std::string("1") : query.where);
  require_sound(database, columns, query, where);
  if (!query.pivot.empty()) require_one_cell_a_place(database, columns, query.pivot, where);
  const Selection selection = !query.pivot.empty() ? selection_of_pivot(query, where)
                              : !query.group.empty()
                                  ? selection_of_groups(query, where)
                                  : selection_of_cells(database, columns, query, where);
  SqlStatement row = database.prepare(fmt::format(
      "SELECT {} FROM cells WHERE {} {}", selection.what, selection.filter, selection.tail));
  return query.pivot.empty() ? listed_rows(row, query.limit) : crossed(row, query.pivot);
}

}  // namespace tidemark
