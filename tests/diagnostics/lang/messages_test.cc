#include "tests/support/big_stack.h"
#include "tests/support/lang_program.h"

using namespace tidemark::lang;

// messages.txt: "##### title", a program, "-----", the whole of what a user reads about it.
TEST_CASE("every problem in model code has its message") {
  const std::string all =
      read_text(std::filesystem::path(TIDEMARK_SOURCE_DIR) / "tests/diagnostics/lang/messages.txt");
  std::size_t cases = 0;
  for (std::size_t at = all.find("##### "); at != std::string::npos; ++cases) {
    const std::size_t title_end = all.find('\n', at);
    const std::size_t divider = all.find("\n-----\n", title_end);
    REQUIRE(divider != std::string::npos);
    const std::size_t expected = divider + 7;
    const std::size_t next = std::min(all.find("##### ", expected), all.size());
    const std::string title = all.substr(at + 6, title_end - at - 6);
    CAPTURE(title);
    std::string problems;
    with_stack(96U << 20U, [&] {
      LangProgram program(Limits{.stack_bytes = 80U << 20U});
      problems = program.problems(all.substr(title_end + 1, divider - title_end), "model.py");
    });
    CHECK(problems == all.substr(expected, next - expected));
    at = next == all.size() ? std::string::npos : next;
  }
  CHECK(cases >= 80);
}
