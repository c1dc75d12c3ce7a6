#include "sim/report/file_diff.h"

#include <catch2/catch.hpp>

using namespace tidemark;

TEST_CASE("a diff has three lines around each change") {
  CHECK(unified_diff("a/s.py", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nnew\n6\n7\n8\n") ==
        "--- a/a/s.py\n+++ b/a/s.py\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+new\n 6\n 7\n 8\n");
  CHECK(unified_diff("s", "a\n", "a\n").empty());
}

TEST_CASE("changes far from each other are hunks of their own") {
  std::string before;
  for (int i = 1; i <= 20; ++i) before += std::to_string(i) + "\n";
  std::string after = "0\n" + before;
  after.replace(after.find("18\n"), 3, "");
  CHECK(unified_diff("s", before, after) ==
        "--- a/s\n+++ b/s\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n"
        "@@ -15,6 +16,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n");
}

TEST_CASE("a last line without a break is told") {
  CHECK(unified_diff("s", "a\nb", "a\nc\n") ==
        "--- a/s\n+++ b/s\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n");
}
