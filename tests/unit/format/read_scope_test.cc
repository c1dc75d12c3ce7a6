#include "sim/format/read_scope.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "sim/base/problem.h"

using namespace tidemark;
namespace fs = std::filesystem;

namespace {

/// A folder with a file in it, and beside it a folder with another.
struct TwoFolders {
  TwoFolders() {
    std::string name = (fs::temp_directory_path() / "tidemark-scope-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    whole = fs::canonical(name).string();
    for (const char* folder : {"/in", "/out"}) {
      fs::create_directory(whole + folder);
      std::ofstream(whole + folder + "/a.txt") << "text of " << (folder + 1);
    }
  }
  ~TwoFolders() { fs::remove_all(whole); }
  TwoFolders(const TwoFolders&) = delete;
  TwoFolders& operator=(const TwoFolders&) = delete;
  std::string whole;
};

/// The words of a refusal, the folders' own name left out.
std::string refusal(const TwoFolders& folders, const std::string& path) {
  std::string text = ReadScope({folders.whole + "/in"}).refusal(path);
  for (std::size_t at = 0; (at = text.find(folders.whole)) != std::string::npos;)
    text.replace(at, folders.whole.size(), "~");
  return text;
}

const std::string kWayOut = "; 'tidemark --allow-read FOLDER COMMAND ...' lets it be read";

}  // namespace

TEST_CASE("what lies in the folder is read, what lies beside it is refused") {
  const TwoFolders folders;
  CHECK(ReadScope({folders.whole + "/in"}).read(folders.whole + "/in/a.txt") == "text of in");
  CHECK(refusal(folders, folders.whole + "/out/a.txt") ==
        "'~/out/a.txt' lies outside of what may be read here" + kWayOut);
  CHECK(refusal(folders, folders.whole + "/in/../out/a.txt") ==
        "'~/in/../out/a.txt' lies outside of what may be read here" + kWayOut);
  // A folder whose name begins as the other's is not in it.
  fs::create_directory(folders.whole + "/inner");
  CHECK(!refusal(folders, folders.whole + "/inner/a.txt").empty());
}

TEST_CASE("a link is what it leads to") {
  const TwoFolders folders;
  fs::create_symlink(folders.whole + "/out/a.txt", folders.whole + "/in/link.txt");
  fs::create_symlink("a.txt", folders.whole + "/in/own.txt");
  fs::create_symlink(folders.whole + "/out", folders.whole + "/in/folder");
  CHECK(refusal(folders, folders.whole + "/in/own.txt").empty());
  CHECK(refusal(folders, folders.whole + "/in/link.txt") ==
        "'~/in/link.txt' leads to '~/out/a.txt', outside of what may be read here" + kWayOut);
  CHECK(refusal(folders, folders.whole + "/in/folder/a.txt") ==
        "'~/in/folder/a.txt' leads to '~/out/a.txt', outside of what may be read here" + kWayOut);
}

TEST_CASE("pipes and names with a NUL are refused without being opened") {
  const TwoFolders folders;
  REQUIRE(mkfifo((folders.whole + "/in/pipe").c_str(), 0600) == 0);
  CHECK(refusal(folders, folders.whole + "/in/pipe") == "'~/in/pipe' is no regular file");
  CHECK(refusal(folders, folders.whole + "/in/a.txt" + std::string(1, '\0')) ==
        "a path cannot have a NUL in it");
  CHECK_THROWS_AS(ReadScope({folders.whole + "/in"}).read(folders.whole + "/in/pipe"), InputError);
}

TEST_CASE("files that change as they are read, and secrets, lie outside") {
  const ReadScope scope({});
  for (const char* path : {"/etc/shadow", "/proc/self/environ", "/dev/zero"})
    CHECK(!scope.refusal(path).empty());
}

TEST_CASE("the working folder is in scope unless it is the home folder or above it") {
  const TwoFolders folders;
  const std::string file = folders.whole + "/in/a.txt";
  const fs::path before = fs::current_path();
  const char* const home = std::getenv("HOME");
  const std::string home_before = home == nullptr ? "" : home;
  fs::current_path(folders.whole);
  setenv("HOME", "/", 1);
  CHECK(ReadScope({}).refusal(file).empty());
  CHECK(ReadScope({}).refusal("in/a.txt").empty());
  setenv("HOME", (folders.whole + "/out").c_str(), 1);
  CHECK(!ReadScope({}).refusal(file).empty());
  user_read_paths() = {folders.whole + "/in"};
  CHECK(ReadScope({}).refusal(file).empty());
  CHECK(!ReadScope({}).refusal(folders.whole + "/out/a.txt").empty());
  user_read_paths().clear();
  setenv("HOME", home_before.c_str(), 1);
  fs::current_path(before);
}
