#include <algorithm>

#include "tests/support/lang_program.h"

using namespace tidemark::lang;

// PROGRAM.out is what CPython 3.11 does: what the program prints, and when each probe dies
// (tools/lifetimes.py). The comparison ends where the program does.
TEST_CASE("values die when CPython drops them") {
  const std::filesystem::path folder =
      std::filesystem::path(TIDEMARK_SOURCE_DIR) / "tests/golden/lifetimes";
  std::vector<std::filesystem::path> programs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".py") programs.push_back(entry.path());
  }
  std::sort(programs.begin(), programs.end());
  REQUIRE(programs.size() >= 10);
  for (const std::filesystem::path& path : programs) {
    CAPTURE(path.filename().string());
    std::filesystem::path expected = path;
    expected.replace_extension(".out");
    LangProgram program;
    CHECK(program.run(read_text(path), path.filename().string()) == read_text(expected));
  }
}
