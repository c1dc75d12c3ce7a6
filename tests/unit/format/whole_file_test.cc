#include "sim/format/whole_file.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "sim/base/problem.h"

namespace tidemark {
namespace {

/// A folder that goes away with its contents.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tidemark-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::filesystem::path path_;
};

TEST_CASE("what is written is read back, plain and gzipped, empty and large") {
  const Folder folder;
  for (const std::string name : {"plain.csv", "packed.csv.gz"}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{300'000}}) {
      std::string contents;
      for (std::size_t i = 0; i < size; ++i) contents += static_cast<char>('a' + i * i % 23);
      write_whole_file(folder.file(name), contents);
      CHECK(read_whole_file(folder.file(name)) == contents);
    }
  }
  CHECK(folder.files() == 2);  // no .part left
}

TEST_CASE("a file written in parts is the one written at once, and is there when it is complete") {
  const Folder folder;
  std::string contents;
  for (std::size_t i = 0; i < 300'000; ++i) contents += static_cast<char>('a' + i * i % 23);
  for (const std::string name : {"plain.csv", "packed.csv.gz"}) {
    write_whole_file(folder.file("whole-" + name), contents);
    const std::string path = folder.file(name);
    {
      FileWriter given_up(path);
      given_up.append(contents);
    }
    CHECK_FALSE(std::filesystem::exists(path));
    FileWriter file(path);
    for (std::size_t at = 0; at < contents.size(); at += 7'001)
      file.append(std::string_view(contents).substr(at, 7'001));
    CHECK_FALSE(std::filesystem::exists(path));
    file.finish();
    CHECK(read_whole_file(path) == contents);
    CHECK(std::filesystem::file_size(path) ==
          std::filesystem::file_size(folder.file("whole-" + name)));
  }
  CHECK(folder.files() == 4);  // no .part left
  CHECK_THROWS_WITH(FileWriter(folder.file("no/such.csv")),
                    folder.file("no/such.csv") + ": No such file or directory");
  FileWriter full("/dev/full");
  CHECK_THROWS_AS(full.append("x"), IoError);
}

TEST_CASE("a gzip file holds no time stamp") {
  const std::string packed = gzipped("abc");
  REQUIRE(packed.size() > 8);
  CHECK(packed.substr(4, 4) == std::string(4, '\0'));
  CHECK(gzipped("abc") == packed);
}

TEST_CASE("files that cannot be read or written say which and why") {
  const Folder folder;
  const std::string nowhere = folder.file("no/such.csv");
  CHECK_THROWS_WITH(read_whole_file(nowhere), nowhere + ": No such file or directory");
  CHECK_THROWS_WITH(write_whole_file(nowhere, "x"), nowhere + ": No such file or directory");
  CHECK_THROWS_AS(write_whole_file("/dev/full", "x"), IoError);
}

TEST_CASE("a device is written directly, not replaced") {
  write_whole_file("/dev/null", "x");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace tidemark
