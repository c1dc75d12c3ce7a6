#include "sim/study/sweep/sqlite.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr int kBusyMilliseconds = 10'000;  // another process writes the same file

void check(sqlite3_stmt* statement, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
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
  // SQLite's own word for it is "disk I/O error".
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw IoError(path + ": is a folder, not a file");
  // Who only reads must still be able to take back what a killed process left half done. SQLite
  // opens a file that may not be written for reading.
  const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0);
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) fail();
  sqlite3_busy_timeout(database, kBusyMilliseconds);
}

void SqlDatabase::fail() const {
  throw IoError(fmt::format("{}: {}", path_, sqlite3_errmsg(database_.get())));
}

SqlStatement SqlDatabase::prepare(std::string_view sql) {
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
