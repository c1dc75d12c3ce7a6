#include "sim/study/sweep/results.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "sim/base/budget.h"
#include "sim/base/problem.h"
#include "sim/study/sweep/sqlite.h"

using namespace tidemark;

namespace {

namespace fs = std::filesystem;

/// A results file of two cells, in a folder of its own.
class File {
 public:
  File() : folder_(fs::temp_directory_path() / fmt::format("tidemark-results-{}", getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    SweepOrigin origin;
    origin.columns = {"batch"};
    origin.cells = 2;
    ResultsFile::create(path(), origin).finish();
    change("INSERT INTO cells (cell, batch, status) VALUES (0, 8, 'fits'), (1, 16, 'oom')");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { fs::remove_all(folder_); }

  void change(const std::string& sql) const {
    SqlDatabase(path(), SqlDatabase::Mode::kWrite).run(sql);
  }
  [[nodiscard]] std::string path() const { return (folder_ / "results.sqlite").string(); }
  [[nodiscard]] ResultsTable rows(const std::string& where = {}) const {
    ResultsQuery query;
    query.where = where;
    return ResultsFile::open(path(), false).query(query);
  }

 private:
  fs::path folder_;
};

/// What `action` is refused with, without the place; empty: it is not.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.problems().front().message;
  } catch (const IoError& error) {
    return error.what();
  }
  return {};
}

/// `message` where it holds `words`, so that a failed check shows it.
std::string part(const std::string& message, const std::string& words) {
  return message.find(words) != std::string::npos ? words : message;
}

}  // namespace

TEST_CASE("a view in the place of a table is not run") {
  const File file;
  REQUIRE(file.rows().rows.size() == 2);
  file.change("ALTER TABLE cells RENAME TO real");
  file.change("CREATE VIEW cells AS SELECT * FROM real");
  CHECK(part(refusal([&] { (void)file.rows(); }), "access to view \"cells\" prohibited") ==
        "access to view \"cells\" prohibited");
}

TEST_CASE("a trigger of a results file is not run") {
  const File file;
  file.change("CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM cells; END");
  file.change("INSERT INTO cells (cell, batch, status) VALUES (2, 32, 'oom')");
  CHECK(file.rows().rows.size() == 3);
}

TEST_CASE("a statement that does not end is ended") {
  const File file;
  const double before = budget().seconds;
  budget().seconds = 0.05;
  const std::string message = refusal([&] {
    (void)file.rows(
        "cell IN (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM "
        "n)");
  });
  budget().seconds = before;
  CHECK(part(message, "took longer than 0.05 s (--max-seconds)") ==
        "took longer than 0.05 s (--max-seconds)");
}

TEST_CASE("a wrong number of cells is a message") {
  const File file;
  for (const std::string text : {"", "two", "-1", "1e3", "99999999999999999999", "1000000001"}) {
    file.change(fmt::format("UPDATE sweep SET value = '{}' WHERE key = 'cells'", text));
    CHECK(part(refusal([&] { (void)file.rows(); }), "has a wrong number of cells") ==
          "has a wrong number of cells");
  }
}

TEST_CASE("values of another type than a sweep writes are shown as they are") {
  const File file;
  file.change("UPDATE cells SET batch = 1.5, peak_reserved = x'00ff', status = NULL WHERE 0");
  file.change("UPDATE cells SET batch = x'00ff', peak_reserved = 'much' WHERE cell = 1");
  const ResultsTable table = file.rows();
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1][1].kind == ResultsValue::Kind::kText);
}

TEST_CASE("what is no regular file is not opened") {
  const File file;
  const std::string pipe = file.path() + ".pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(part(refusal([&] { (void)ResultsFile::open(pipe, false); }), "is no regular file") ==
        "is no regular file");
}

TEST_CASE("who only reads leaves the file as it is") {
  const File file;
  fs::permissions(file.path(), fs::perms::owner_read);
  const auto before = fs::last_write_time(file.path());
  CHECK(file.rows().rows.size() == 2);
  CHECK(fs::last_write_time(file.path()) == before);
  CHECK(!fs::exists(file.path() + "-wal"));
}
