#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/sweep/sweep.h"
#include "sim/study/tables/results_table.h"

namespace tidemark {

/// What makes the cells of a results file again. Two files belong together when all but the
/// scenario's path agree.
struct SweepOrigin {
  std::string program_version;
  std::string scenario_path;  ///< for people
  std::string scenario_text;
  std::string variant;
  std::vector<std::string> overrides;  ///< "batch=64", in order
  std::vector<std::string> columns;    ///< SweepPlan::columns()
  std::uint64_t cells = 0;
};

/// What is asked of a results file.
struct ResultsQuery {
  std::string where;                 ///< an SQL expression over the columns; empty: all cells
  std::vector<std::string> columns;  ///< empty: all
  std::vector<std::string> sort;     ///< columns, "-" before one: falling. Then by cell
  std::vector<std::string> group;    ///< one row a combination: cells, how many fit, least and most
  std::vector<std::string> pareto;   ///< cells that fit and that no other beats in all of these:
                                     ///< smaller is better, "-" before one: larger
  std::vector<std::string> pivot;    ///< three columns: rows, columns, and what stands there
  std::uint64_t limit = 0;           ///< rows; 0: all
};

/// The results of a sweep in an SQLite file: table `cells`, one row a cell, its axes as columns of
/// their names, and table `sweep` with SweepOrigin. Schema: docs/formats/results.md. A process may
/// be killed at any moment: cells are there whole or not at all.
class ResultsFile {
 public:
  static constexpr int kSchemaVersion = 3;
  /// How rows are made safe. kAhead: SQLite's WAL, which others may read meanwhile on the same
  /// machine; kRollback: for files that machines share over a network.
  enum class Journal : std::uint8_t { kAhead, kRollback };

  /// Whether there is anything in the file: one that was made and ended before its first table has
  /// not. Errors: IoError when it is no SQLite file.
  static bool is_begun(const std::string& path);
  /// A new file; an empty path: one in memory. Errors: IoError when it cannot be made or is there
  /// already; InputError when an axis has the name of a figure.
  static ResultsFile create(const std::string& path, const SweepOrigin& origin,
                            Journal journal = Journal::kAhead);
  /// One that is there. Errors: IoError; InputError when it holds no results, or those of a newer
  /// version.
  static ResultsFile open(const std::string& path, bool to_write);
  ResultsFile(ResultsFile&&) noexcept;
  ResultsFile& operator=(ResultsFile&&) noexcept;
  ~ResultsFile();

  [[nodiscard]] const SweepOrigin& origin() const;
  /// Errors: InputError that says what differs, and `hint`.
  void require_same(const SweepOrigin& origin, std::string_view hint = "give another --out") const;
  /// By cell number: whether it has a row.
  [[nodiscard]] std::vector<bool> done() const;

  /// Cells that are there stay as they are. Rows are kept from the next flush() on; add() flushes
  /// some five times a second.
  void add(const SweepCell& cell, const CellResult& result);
  void flush();
  /// flush(), and the file becomes one that stands alone: no -wal and -shm beside it, safe to copy.
  /// Where another process has it open it stays as it is.
  void finish();
  /// Takes over the cells of another file of the same sweep. Errors: as require_same(); InputError
  /// when a cell has other figures there.
  void merge(const ResultsFile& other);

  /// Errors: InputError: unknown columns, an expression that SQLite refuses.
  [[nodiscard]] ResultsTable query(const ResultsQuery& query) const;

 private:
  struct State;
  explicit ResultsFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark
