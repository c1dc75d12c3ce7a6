#include <catch2/catch.hpp>
#include <string>

#include "sim/lang/builtins/regex_syntax.h"

namespace tidemark::lang {
namespace {

std::string needed(const std::string& pattern, std::uint32_t flags = 0) {
  return needed_text(translate_regex(pattern, flags));
}

TEST_CASE("a text that an expression cannot match without is its longest run of letters") {
  CHECK(needed(R"(^class\s+\w+\s*\([^)]*\bBackend\b)") == "Backend");
  CHECK(needed("(a|b)hello?x") == "hell");
  CHECK(needed("ab+c") == "ab");
  CHECK(needed("a[]b]cde") == "cde");
  CHECK(needed(R"(setup\.py\Z)") == "setup.py");
  CHECK(needed("foo(?P<name>[(])bars") == "bars");
  CHECK(needed("caf\xc3\xa9*ab") == "caf");
  CHECK(needed("a{0,2}bc") == "bc");
  CHECK(needed("(?=first)second") == "second");
}

TEST_CASE("where that is not plain to see there is none") {
  CHECK(needed("one|other").empty());
  CHECK(needed("(?i)letters").empty());
  CHECK(needed("letters", kIgnoreCase).empty());
  CHECK(needed("let ters", kVerbose).empty());
  CHECK(needed(R"(\x41letters)").empty());
  CHECK(needed("(letters)?").empty());
  CHECK(needed("").empty());
}

}  // namespace
}  // namespace tidemark::lang
