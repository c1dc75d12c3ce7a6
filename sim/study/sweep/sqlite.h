#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tidemark {

/// A statement of SQLite's, run step by step. Errors: IoError with SQLite's words.
class SqlStatement {
 public:
  SqlStatement& bind(int index, std::int64_t value);
  SqlStatement& bind(int index, std::string_view text);
  SqlStatement& bind_null(int index);
  /// True: there is a row.
  bool step();
  /// To the end, then ready for other values.
  void run();

  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string name(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  friend class SqlDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// An open SQLite file. A file may be a stranger's: its views and triggers are not run, its schema
/// may call no function with effects, statements and values have a largest size, and a statement
/// ends after budget().seconds. Errors: IoError with the path and SQLite's words.
class SqlDatabase {
 public:
  /// kRead opens for writing only where a killed process left a journal, which must be taken back.
  enum class Mode : std::uint8_t { kCreate, kWrite, kRead };
  SqlDatabase(const std::string& path, Mode mode);

  /// Requires: `sql` is one statement.
  SqlStatement prepare(std::string_view sql);
  void run(std::string_view sql) { prepare(sql).run(); }
  /// What is wrong with a SELECT that somebody else wrote, in SQLite's words; empty: nothing.
  std::string complaint(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  [[noreturn]] void fail() const;
  void guard();
  /// SQLite asks now and then; other than 0 ends the statement.
  static int is_late(void* deadline);

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<std::chrono::steady_clock::time_point> deadline_;
};

/// A name in SQL: "batch", whatever is in it.
std::string sql_name(std::string_view name);

}  // namespace tidemark
