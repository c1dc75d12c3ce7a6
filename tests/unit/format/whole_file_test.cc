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
