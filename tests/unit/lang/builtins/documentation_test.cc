#include "tests/support/lang_program.h"

using namespace tidemark::lang;

// docs/language.md: each ```python block is followed by a ```text block with what it prints, drops
// included, or with what is wrong with it.
TEST_CASE("the language's documentation says what is so") {
  const std::string text =
      read_text(std::filesystem::path(TIDEMARK_SOURCE_DIR) / "docs/language.md");
  const std::string open = "\n```python\n";
  const std::string middle = "\n```\n```text\n";
  std::size_t examples = 0;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    const std::size_t begin = at + open.size();
    const std::size_t divider = text.find(middle, begin);
    REQUIRE(divider != std::string::npos);
    const std::size_t expected = divider + middle.size();
    const std::size_t end = text.find("```\n", expected);
    const std::string example = text.substr(begin, divider + 1 - begin);
    CAPTURE(example);
    CHECK(example.find("```") == std::string::npos);
    LangProgram program;
    const std::string problems = program.problems(example, "example.py");
    CHECK(program.output() + problems == text.substr(expected, end - expected));
    ++examples;
    at = end;
  }
  CHECK(examples >= 12);
}
