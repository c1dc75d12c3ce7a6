#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/cli/command.h"
#include "sim/cli/plot.h"
#include "sim/cli/scenario_input.h"
#include "sim/format/whole_file.h"
#include "sim/report/results_report.h"
#include "sim/study/sweep/results.h"

namespace tidemark::cli {

namespace {

/// "batch,seq" as its words; "" is none.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

class ResultsCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "results",
        "ask the results of a sweep",
        "Columns are the axes of the sweep, then status, peak_allocated, peak_reserved, spare, "
        "fragmentation (millionths), retries, ooms, device_calls, time_ns (simulated) and message. "
        "The file is plain SQLite, for any other tool too (docs/formats/results.md). `results "
        "merge OUT IN...` joins the parts of a sweep made with --shard.",
        {{"FILE", "what `tidemark sweep --out` made; or merge OUT IN..."},
         {"IN", "of merge: the file to make, then those to take in", false, true}},
        {{"where", "EXPR", "rows for which this SQL expression holds", ""},
         {"columns", "A,B", "only these columns", ""},
         {"sort", "A,B", "by these columns, -A falling", ""},
         {"group", "A,B", "a row for each combination of these", ""},
         {"pivot", "ROW,COLUMN,VALUE", "a table of one figure over two axes", ""},
         {"pareto", "A,B",
          "cells that fit and that none beats in all of these: smaller is better, -A larger", ""},
         {"limit", "N", "rows printed; 0: all", "0"},
         {"format", "text|csv|spreadsheet|json|markdown|latex|parquet",
          "how to print; spreadsheet: CSV without formulas", "text"},
         {"output", "FILE", "write there instead (-o for short); Parquet needs it, and pyarrow", "",
          false, 'o'}},
        {{"tidemark results r.sqlite --where \"status = 'fits'\" --sort -batch",
          "the largest batch that fits first"},
         {"tidemark results r.sqlite --pareto peak_reserved,time_ns --where \"batch = 64\"",
          "which settings trade memory for time"},
         {"tidemark results r.sqlite --pivot batch,seq,peak_reserved", "peaks over two axes"},
         {"tidemark results r.sqlite --format parquet -o r.parquet", "for pandas, DuckDB, Spark"},
         {"tidemark results merge all.sqlite part1.sqlite part2.sqlite", "join the parts"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const std::vector<std::string>& files = args.positional();
    if (files.front() == "merge") return merge(files, out);
    if (files.size() > 1)
      usage_error(files[1], "one file at a time", "tidemark results merge OUT IN... joins several");
    ResultsQuery query;
    query.where = args.value("where");
    query.columns = words_of(args.value("columns"));
    query.sort = words_of(args.value("sort"));
    query.group = words_of(args.value("group"));
    query.pivot = words_of(args.value("pivot"));
    query.pareto = words_of(args.value("pareto"));
    query.limit = args.number("limit", 0, ~std::uint64_t{0}).value_or(0);
    const std::string& file = args.value("output");
    const bool is_parquet = args.value("format") == "parquet";
    if (is_parquet && file.empty())
      usage_error("--format parquet", "is not for a terminal", "give --output FILE");
    const ResultsTable table = ResultsFile::open(files.front(), false).query(query);
    if (is_parquet) {
      write_parquet(results_columns_json(table), file);
      return ExitCode::kDone;
    }
    const TextStyle style{static_cast<std::size_t>(out.width()), file.empty() && out.colour()};
    const std::string text = results_table(table, table_format(args.value("format")), style);
    file.empty() ? out.write(text) : write_whole_file(file, text);
    return ExitCode::kDone;
  }

 private:
  static ExitCode merge(const std::vector<std::string>& files, Output& out) {
    if (files.size() < 3)
      usage_error("merge", "needs the file to make and those to take in", "merge OUT IN...");
    std::vector<ResultsFile> parts;
    for (std::size_t i = 2; i < files.size(); ++i) {
      parts.push_back(ResultsFile::open(files[i], false));
      parts.back().require_same(parts.front().origin(), "only parts of one sweep can be joined");
    }
    ResultsFile whole = ResultsFile::create(files[1], parts.front().origin());
    for (const ResultsFile& part : parts) whole.merge(part);
    whole.finish();
    std::uint64_t cells = 0;
    for (const bool is_there : whole.done()) cells += is_there ? 1 : 0;
    out.print("{}: {} of {} cells\n", files[1], cells, whole.origin().cells);
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_results_command() { return std::make_unique<ResultsCommand>(); }

}  // namespace tidemark::cli
