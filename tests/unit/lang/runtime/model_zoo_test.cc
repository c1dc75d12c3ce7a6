#include "tests/support/lang_program.h"

using namespace tidemark::lang;

TEST_CASE("the model zoo's files parse and run up to their classes") {
  const std::filesystem::path folder =
      std::filesystem::path(TIDEMARK_SOURCE_DIR) / "configs/models";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".py") continue;
    CAPTURE(entry.path().filename().string());
    LangProgram program({}, folder);
    program.add_torch();
    CHECK(program.problems(read_text(entry.path()), entry.path().filename().string()).empty());
    ++files;
  }
  CHECK(files > 0);
}
