#include "sim/report/results_report.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/format/json_writer.h"
#include "sim/report/time_text.h"

namespace tidemark {
namespace {

using Unit = ResultsTable::Column::Unit;
using Kind = ResultsValue::Kind;

std::string plain(const ResultsValue& value) {
  return value.kind == Kind::kInteger ? std::to_string(value.integer) : value.text;
}

std::string for_people(const ResultsValue& value, Unit unit) {
  if (value.kind == Kind::kText && value.text.empty()) return "\"\"";
  if (value.kind != Kind::kInteger || value.integer < 0) return plain(value);
  const auto number = static_cast<std::uint64_t>(value.integer);
  switch (unit) {
    case Unit::kBytes:
      return human_bytes(number);
    case Unit::kExactBytes:
      return fmt::format("{} ({})", human_bytes(number), grouped(number));
    case Unit::kCount:
      return grouped(number);
    case Unit::kMillionths:
      return percent(number);
    case Unit::kNanoseconds:
      return banded_text(value.integer);
    case Unit::kNone:
      break;
  }
  return plain(value);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

/// Puts `escape` before each of `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// A spreadsheet takes a text that begins so for a formula, and would run it.
std::string no_formula(std::string text) {
  constexpr std::string_view kFormulaBeginnings = "=+-@\t\r";
  const bool is_formula = !text.empty() && kFormulaBeginnings.find(text[0]) != std::string::npos;
  return is_formula ? "'" + text : text;
}

std::string csv(const ResultsTable& table, bool is_for_spreadsheets) {
  const auto field = [&](std::string text, bool is_text) {
    return csv_field(is_for_spreadsheets && is_text ? no_formula(std::move(text)) : text);
  };
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    out += (i == 0 ? "" : ",") + field(table.columns[i].name, true);
  out += '\n';
  for (const std::vector<ResultsValue>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i == 0 ? "" : ",") + field(plain(row[i]), row[i].kind == ResultsValue::Kind::kText);
    out += '\n';
  }
  return out;
}

std::string json(const ResultsTable& table) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_array();
  for (const std::vector<ResultsValue>& row : table.rows) {
    writer.begin_object(true);
    for (std::size_t i = 0; i < row.size(); ++i) {
      writer.key(table.columns[i].name);
      switch (row[i].kind) {
        case Kind::kNull:
          writer.null();
          break;
        case Kind::kInteger:
          writer.value(row[i].integer);
          break;
        case Kind::kText:
          writer.value(row[i].text);
          break;
      }
    }
    writer.end_object();
  }
  writer.end_array();
  writer.finish();
  return out;
}

/// Whether a column has numbers alone, and so stands on the right.
bool is_number_column(const ResultsTable& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return row[column].kind != Kind::kText; });
}

std::string text(const ResultsTable& table, const TextStyle& style) {
  std::vector<Table::Align> aligns;
  std::vector<std::string> heads;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    aligns.push_back(is_number_column(table, i) ? Table::Align::kRight : Table::Align::kLeft);
    heads.push_back(table.columns[i].name);
  }
  Table lines(aligns);
  lines.add(heads);
  for (const std::vector<ResultsValue>& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(for_people(row[i], table.columns[i].unit));
    lines.add(std::move(cells));
  }
  std::string out = lines.text(style.width);
  if (table.left_out > 0)
    out += fmt::format("{} more; --limit 0 shows all\n", grouped(table.left_out));
  return out;
}

std::string markdown(const ResultsTable& table) {
  std::string out = "|";
  std::string rule = "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out += fmt::format(" {} |", escaped(table.columns[i].name, "|"));
    rule += is_number_column(table, i) ? " ---: |" : " --- |";
  }
  out += "\n" + rule + "\n";
  for (const std::vector<ResultsValue>& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i)
      out += fmt::format(" {} |", escaped(for_people(row[i], table.columns[i].unit), "|"));
    out += "\n";
  }
  return out;
}

std::string latex(const ResultsTable& table) {
  constexpr std::string_view kSpecial = "&%$#_{}";
  std::string out = "\\begin{tabular}{";
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    out += is_number_column(table, i) ? 'r' : 'l';
  out += "}\n\\hline\n";
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    out += (i == 0 ? "" : " & ") + escaped(table.columns[i].name, kSpecial);
  out += " \\\\\n\\hline\n";
  for (const std::vector<ResultsValue>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i == 0 ? "" : " & ") + escaped(for_people(row[i], table.columns[i].unit), kSpecial);
    out += " \\\\\n";
  }
  return out + "\\hline\n\\end{tabular}\n";
}

/// Without the columns in which nothing stands.
ResultsTable shortened(const ResultsTable& table) {
  ResultsTable out;
  out.left_out = table.left_out;
  out.rows.resize(table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool is_empty = std::all_of(table.rows.begin(), table.rows.end(),
                                      [&](const auto& row) { return row[i].kind == Kind::kNull; });
    if (is_empty && !table.rows.empty()) continue;
    out.columns.push_back(table.columns[i]);
    for (std::size_t r = 0; r < table.rows.size(); ++r) out.rows[r].push_back(table.rows[r][i]);
  }
  return out;
}

std::int64_t figure(const ResultsTable& table, std::string_view status) {
  for (const std::vector<ResultsValue>& row : table.rows) {
    if (row.front().text == status) return row[1].integer;
  }
  return 0;
}

}  // namespace

std::string results_table(const ResultsTable& table, TableFormat format, const TextStyle& style) {
  switch (format) {
    case TableFormat::kText:
      return text(shortened(table), style);
    case TableFormat::kCsv:
      return csv(table, false);
    case TableFormat::kJson:
      return json(table);
    case TableFormat::kMarkdown:
      return markdown(shortened(table));
    case TableFormat::kLatex:
      return latex(shortened(table));
    case TableFormat::kSpreadsheet:
      return csv(table, true);
  }
  return {};
}

std::string results_columns_json(const ResultsTable& table) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_array();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool is_number = is_number_column(table, i);
    writer.begin_object().member("name", table.columns[i].name).member("is_number", is_number);
    writer.key("values").begin_array(true);
    for (const std::vector<ResultsValue>& row : table.rows) {
      if (row[i].kind == Kind::kNull) {
        writer.null();
      } else if (is_number) {
        writer.value(row[i].integer);
      } else {
        writer.value(plain(row[i]));
      }
    }
    writer.end_array().end_object();
  }
  writer.end_array().finish();
  return out;
}

std::string sweep_summary(const ResultsFile& results, const TextStyle& style) {
  ResultsQuery by_status;
  by_status.group = {"status"};
  const ResultsTable counts = results.query(by_status);
  const std::int64_t fits = figure(counts, "fits");
  const std::int64_t ooms = figure(counts, "oom");
  const std::int64_t errors = figure(counts, "error");
  const auto number = [](std::int64_t count) { return grouped(static_cast<std::uint64_t>(count)); };
  std::string out =
      bold(fmt::format("{} of {} cells fit", number(fits), number(fits + ooms + errors)), style);
  out += fmt::format("; {} out of memory, {} in error\n", number(ooms), number(errors));
  for (const bool is_most : {false, true}) {
    ResultsQuery query;
    query.where = "status = 'fits'";
    query.sort = {is_most ? "-peak_reserved" : "peak_reserved"};
    query.limit = 1;
    const ResultsTable table = results.query(query);
    if (table.rows.empty()) break;
    out += fmt::format("{:<5}", is_most ? "most" : "least");
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const ResultsTable::Column& column = table.columns[i];
      const std::vector<std::string>& axes = results.origin().columns;
      const bool is_axis = std::find(axes.begin(), axes.end(), column.name) != axes.end();
      if (column.name == "peak_reserved" || is_axis)
        out += fmt::format("  {} {}", column.name, for_people(table.rows.front()[i], column.unit));
    }
    out += '\n';
  }
  ResultsQuery failed;
  failed.where = "status = 'error'";
  failed.group = {"message"};
  for (const std::vector<ResultsValue>& row : results.query(failed).rows)
    out += fmt::format("{} in error: {}\n", number(row[1].integer),
                       cut(row.front().text, style.width));
  return out;
}

}  // namespace tidemark
