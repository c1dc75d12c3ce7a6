#include "sim/study/sweep/sqlite.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/base/budget.h"
#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr int kBusyMilliseconds = 10'000;    // another process writes the same file
constexpr int kStepsBetweenLooks = 100'000;  ///< at the clock, of SQLite's virtual machine
/// What a sweep's results never reach. A text is at most a scenario's, a message or an axis' value.
constexpr std::pair<int, int> kLimits[] = {
    {SQLITE_LIMIT_LENGTH, 256 << 20}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
    {SQLITE_LIMIT_EXPR_DEPTH, 200},   {SQLITE_LIMIT_COMPOUND_SELECT, 20},
    {SQLITE_LIMIT_ATTACHED, 0},       {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    {SQLITE_LIMIT_WORKER_THREADS, 0}};

void check(sqlite3_stmt* statement, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  if (code == SQLITE_INTERRUPT) {
    throw IoError(fmt::format("SQLite: a statement took longer than {:g} s (--max-seconds)",
                              budget().seconds));
  }
  throw IoError(fmt::format("SQLite: {}", sqlite3_errmsg(sqlite3_db_handle(statement))));
}

}  // namespace

void SqlStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}
void SqlDatabase::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

SqlStatement& SqlStatement::bind(int index, std::int64_t value) {
  check(statement_.get(), sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

SqlStatement& SqlStatement::bind(int index, std::string_view text) {
  check(statement_.get(), sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(),
                                              SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

SqlStatement& SqlStatement::bind_null(int index) {
  check(statement_.get(), sqlite3_bind_null(statement_.get(), index));
  return *this;
}

bool SqlStatement::step() {
  const int code = sqlite3_step(statement_.get());
  check(statement_.get(), code);
  return code == SQLITE_ROW;
}

void SqlStatement::run() {
  while (step()) {
  }
  check(statement_.get(), sqlite3_reset(statement_.get()));
}

int SqlStatement::columns() const { return sqlite3_column_count(statement_.get()); }

std::string SqlStatement::name(int column) const {
  return sqlite3_column_name(statement_.get(), column);
}

bool SqlStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool SqlStatement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

std::int64_t SqlStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqlStatement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return {reinterpret_cast<const char*>(text), bytes};
}

SqlDatabase::SqlDatabase(const std::string& path, Mode mode) : path_(path) {
  // SQLite's own word for a folder is "disk I/O error"; it would wait for a pipe's other end.
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) throw IoError(path + ": is a folder, not a file");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw IoError(path + ": is no regular file");
  const bool has_journal = std::filesystem::exists(path + "-wal", ignored) ||
                           std::filesystem::exists(path + "-journal", ignored);
  // SQLite opens a file that may not be written for reading.
  const int flags = mode == Mode::kRead && !has_journal
                        ? SQLITE_OPEN_READONLY
                        : SQLITE_OPEN_READWRITE | (mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0);
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) fail();
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  guard();
}

void SqlDatabase::guard() {
  sqlite3* const database = database_.get();
  for (const auto& [option, value] :
       {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
    sqlite3_db_config(database, option, value, nullptr);
  for (const auto& [limit, value] : kLimits) sqlite3_limit(database, limit, value);
  deadline_ = std::make_unique<std::chrono::steady_clock::time_point>();
  sqlite3_progress_handler(database, kStepsBetweenLooks, is_late, deadline_.get());
}

int SqlDatabase::is_late(void* deadline) {
  return std::chrono::steady_clock::now() >
                 *static_cast<const std::chrono::steady_clock::time_point*>(deadline)
             ? 1
             : 0;
}

void SqlDatabase::fail() const {
  throw IoError(fmt::format("{}: {}", path_, sqlite3_errmsg(database_.get())));
}

SqlStatement SqlDatabase::prepare(std::string_view sql) {
  *deadline_ = std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(budget().seconds));
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  SqlStatement statement;
  statement.statement_.reset(raw);
  if (code != SQLITE_OK) fail();
  return statement;
}

std::string SqlDatabase::complaint(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  SqlStatement statement;
  statement.statement_.reset(raw);
  if (code != SQLITE_OK) return sqlite3_errmsg(database_.get());
  if (rest != sql.data() + sql.size()) return "more than one statement";
  return sqlite3_stmt_readonly(raw) != 0 ? std::string() : "it would change the file";
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace tidemark
