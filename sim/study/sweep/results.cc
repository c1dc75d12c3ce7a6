#include "sim/study/sweep/results.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/study/sweep/figures.h"
#include "sim/study/sweep/results_query.h"
#include "sim/study/sweep/sqlite.h"
#include "sim/study/sweep/sweep_plan.h"

namespace tidemark {
namespace {

/// Texts in one: each after its length, so that any text may be in it.
std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += fmt::format("{}:{}", text.size(), text);
  return all;
}

std::vector<std::string> unpacked(std::string_view all) {
  std::vector<std::string> texts;
  while (!all.empty()) {
    std::size_t size = 0;
    std::size_t at = 0;
    while (at < all.size() && all[at] >= '0' && all[at] <= '9' && at < 9)
      size = size * 10 + static_cast<std::size_t>(all[at++] - '0');
    if (at == 0 || at == all.size() || all[at] != ':' || size > all.size() - at - 1) return {};
    texts.emplace_back(all.substr(at + 1, size));
    all.remove_prefix(at + 1 + size);
  }
  return texts;
}

}  // namespace

struct ResultsFile::State {
  State(const std::string& file, SqlDatabase::Mode mode) : path(file), database(file, mode) {}

  std::string path;
  mutable SqlDatabase database;
  SweepOrigin origin;
  std::optional<SqlStatement> insert;
  bool in_transaction = false;
  std::chrono::steady_clock::time_point flushed = std::chrono::steady_clock::now();

  [[nodiscard]] std::vector<std::string> all_columns() const {
    std::vector<std::string> names{"cell"};
    names.insert(names.end(), origin.columns.begin(), origin.columns.end());
    names.emplace_back("status");
    for (const Figure& figure : kFigures) names.emplace_back(figure.name);
    names.emplace_back("message");
    return names;
  }

  void prepare_insert() {
    std::string names;
    std::string places;
    for (const std::string& name : all_columns()) {
      names += (names.empty() ? "" : ", ") + sql_name(name);
      places += places.empty() ? "?" : ", ?";
    }
    insert = database.prepare(
        fmt::format("INSERT OR IGNORE INTO cells ({}) VALUES ({})", names, places));
  }

  void begin() {
    if (std::exchange(in_transaction, true)) return;
    database.run("BEGIN IMMEDIATE");
  }

  void put_origin(std::string_view key, std::string_view value) {
    database.prepare("INSERT INTO sweep VALUES (?, ?)").bind(1, key).bind(2, value).run();
  }

  [[nodiscard]] std::string get_origin(std::string_view key) const {
    SqlStatement row = database.prepare("SELECT value FROM sweep WHERE key = ?");
    row.bind(1, key);
    return row.step() ? row.text(0) : std::string();
  }

  [[nodiscard]] std::size_t count_of_cells() const {
    const std::string text = get_origin("cells");
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && end == text.data() + text.size() && count <= kLargestSweep)
      return count;
    throw InputError(Problem{
        {},
        path,
        fmt::format("has a wrong number of cells in its table sweep: '{}'", text.substr(0, 40)),
        fmt::format("expected a whole number up to {}", kLargestSweep)});
  }
};

ResultsFile::ResultsFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ResultsFile::ResultsFile(ResultsFile&&) noexcept = default;
ResultsFile& ResultsFile::operator=(ResultsFile&&) noexcept = default;
ResultsFile::~ResultsFile() = default;

bool ResultsFile::is_begun(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  SqlDatabase database(path, SqlDatabase::Mode::kRead);
  SqlStatement row = database.prepare("SELECT COUNT(*) FROM sqlite_master");
  row.step();
  return row.integer(0) > 0;
}

ResultsFile ResultsFile::create(const std::string& path, const SweepOrigin& origin,
                                Journal journal) {
  if (!path.empty() && is_begun(path)) {
    throw IoError(
        fmt::format("{}: is there already; --resume goes on with it, or give another --out", path));
  }
  std::vector<Problem> problems;
  std::vector<std::string> taken{"cell", "status", "message"};
  for (const Figure& figure : kFigures) taken.emplace_back(figure.name);
  for (const std::string& column : origin.columns) {
    if (std::find(taken.begin(), taken.end(), column) != taken.end()) {
      problems.push_back({{},
                          "sweep: " + column,
                          "is the name of a figure in the results",
                          fmt::format("write params.{} or train.{}", column, column)});
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));

  auto state = std::make_unique<State>(path, SqlDatabase::Mode::kCreate);
  state->origin = origin;
  SqlDatabase& database = state->database;
  if (!path.empty() && journal == Journal::kAhead) database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  database.run("BEGIN IMMEDIATE");
  database.run("CREATE TABLE sweep (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  std::string columns = "cell INTEGER PRIMARY KEY";
  for (const std::string& column : origin.columns) columns += ", " + sql_name(column);
  columns += ", status TEXT NOT NULL";
  for (const Figure& figure : kFigures) columns += fmt::format(", {} INTEGER", figure.name);
  database.run(fmt::format("CREATE TABLE cells ({}, message TEXT)", columns));
  state->put_origin("schema_version", std::to_string(kSchemaVersion));
  state->put_origin("program_version", origin.program_version);
  state->put_origin("scenario_path", origin.scenario_path);
  state->put_origin("scenario_text", origin.scenario_text);
  state->put_origin("variant", origin.variant);
  state->put_origin("overrides", packed(origin.overrides));
  state->put_origin("columns", packed(origin.columns));
  state->put_origin("cells", std::to_string(origin.cells));
  database.run("COMMIT");
  state->prepare_insert();
  return ResultsFile(std::move(state));
}

ResultsFile ResultsFile::open(const std::string& path, bool to_write) {
  auto state = std::make_unique<State>(
      path, to_write ? SqlDatabase::Mode::kWrite : SqlDatabase::Mode::kRead);
  const std::string no_table = state->database.complaint("SELECT value FROM sweep");
  const std::string version =
      no_table.empty() ? state->get_origin("schema_version") : std::string();
  if (version != std::to_string(kSchemaVersion)) {
    throw InputError(Problem{
        {},
        path,
        version.empty() ? fmt::format("holds no results of a sweep ({})", no_table)
                        : fmt::format("has results of schema version {}, this program reads {}",
                                      version, kSchemaVersion),
        "`tidemark sweep --out` makes one"});
  }
  SweepOrigin& origin = state->origin;
  origin.program_version = state->get_origin("program_version");
  origin.scenario_path = state->get_origin("scenario_path");
  origin.scenario_text = state->get_origin("scenario_text");
  origin.variant = state->get_origin("variant");
  origin.overrides = unpacked(state->get_origin("overrides"));
  origin.columns = unpacked(state->get_origin("columns"));
  origin.cells = state->count_of_cells();
  if (to_write) {
    state->database.run("PRAGMA synchronous = NORMAL");
    state->prepare_insert();
  }
  return ResultsFile(std::move(state));
}

const SweepOrigin& ResultsFile::origin() const { return state_->origin; }

void ResultsFile::require_same(const SweepOrigin& origin, std::string_view hint) const {
  const SweepOrigin& ours = state_->origin;
  std::string differs;
  if (ours.program_version != origin.program_version)
    differs = fmt::format("Tidemark {}, not {}", ours.program_version, origin.program_version);
  if (ours.scenario_text != origin.scenario_text) differs = "another scenario text";
  if (ours.variant != origin.variant) differs = "another --variant";
  if (ours.overrides != origin.overrides) differs = "other --set values";
  if (!differs.empty()) {
    throw InputError(Problem{
        {}, state_->path, fmt::format("holds the results of {}", differs), std::string(hint)});
  }
}

std::vector<bool> ResultsFile::done() const {
  std::vector<bool> done(state_->origin.cells);
  SqlStatement row = state_->database.prepare("SELECT cell FROM cells");
  while (row.step()) {
    const auto number = static_cast<std::size_t>(row.integer(0));
    if (number < done.size()) done[number] = true;
  }
  return done;
}

void ResultsFile::add(const SweepCell& cell, const CellResult& result) {
  state_->begin();
  SqlStatement& row = *state_->insert;
  int at = 1;
  row.bind(at++, static_cast<std::int64_t>(result.number));
  const auto axes = static_cast<int>(state_->origin.columns.size());
  for (int i = 0; i < axes; ++i) row.bind_null(at + i);
  for (const SweepCell::Setting& setting : cell.settings) {
    const int place = at + static_cast<int>(setting.column);
    const std::string& shown = setting.value->shown;
    setting.value->is_integer ? row.bind(place, std::int64_t{std::stoll(shown)})
                              : row.bind(place, shown);
  }
  at += axes;
  row.bind(at++, kCellStatusNames[static_cast<std::size_t>(result.status)]);
  for (const Figure& figure : kFigures) {
    result.status == CellStatus::kError ? row.bind_null(at) : row.bind(at, figure.of(result));
    ++at;
  }
  result.message.empty() ? row.bind_null(at) : row.bind(at, result.message);
  row.run();
  constexpr std::chrono::milliseconds kFlushEvery{200};
  if (std::chrono::steady_clock::now() - state_->flushed > kFlushEvery) flush();
}

void ResultsFile::flush() {
  if (std::exchange(state_->in_transaction, false)) state_->database.run("COMMIT");
  state_->flushed = std::chrono::steady_clock::now();
}

void ResultsFile::finish() {
  flush();
  try {
    state_->database.run("PRAGMA journal_mode = DELETE");
  } catch (const IoError&) {  // somebody reads it: the journal ahead stays, and so do its readers
  }
}

void ResultsFile::merge(const ResultsFile& other) {
  require_same(other.origin());
  state_->begin();
  SqlStatement theirs = other.state_->database.prepare("SELECT * FROM cells ORDER BY cell");
  SqlStatement ours = state_->database.prepare("SELECT * FROM cells WHERE cell = ?");
  while (theirs.step()) {
    SqlStatement& row = *state_->insert;
    ours.bind(1, theirs.integer(0));
    const bool is_here = ours.step();
    bool is_same = true;
    for (int i = 0; i < theirs.columns(); ++i) {
      const ResultsValue value = value_of(theirs, i);
      is_same = is_same && (!is_here || value == value_of(ours, i));
      switch (value.kind) {
        case ResultsValue::Kind::kNull:
          row.bind_null(i + 1);
          break;
        case ResultsValue::Kind::kInteger:
          row.bind(i + 1, value.integer);
          break;
        case ResultsValue::Kind::kText:
          row.bind(i + 1, value.text);
          break;
      }
    }
    ours.run();
    if (!is_same) {
      throw InputError(Problem{
          {},
          other.state_->path,
          fmt::format("cell {} has other figures than in {}", theirs.integer(0), state_->path),
          "were both made by one version of the program?"});
    }
    row.run();
  }
}

ResultsTable ResultsFile::query(const ResultsQuery& query) const {
  return query_cells(state_->database, state_->all_columns(), query);
}

}  // namespace tidemark
