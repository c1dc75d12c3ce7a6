#include "sim/base/text_search.h"

#include <catch2/catch.hpp>
#include <string>

#include "sim/base/random.h"

namespace tidemark {
namespace {

TEST_CASE("a search in a long text finds what std::string finds") {
  Random random(7);
  for (int turn = 0; turn < 4000; ++turn) {
    // Few letters, so that beginnings and ends of the part stand at many places.
    std::string text(random.below(90), 'a');
    for (char& c : text) c = static_cast<char>('a' + random.below(3));
    std::string part(random.below(6), 'a');
    for (char& c : part) c = static_cast<char>('a' + random.below(3));
    INFO(text << " / " << part);
    CHECK(find_text(text, part) == text.find(part));
  }
}

TEST_CASE("a part whose ends stand everywhere costs no more than its text") {
  const std::string text(400'000, 'a');
  std::string part(100'000, 'a');
  part[50'000] = 'b';
  CHECK(find_text(text, part) == std::string::npos);
  CHECK(find_text(text + part, part) == text.size());
}

TEST_CASE("special bytes are found at every place of a block") {
  for (const char special : {'\n', '\t', '\x1e', '\x80', '\xff', '\0'}) {
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, '~');
      CHECK(find_special(text) == text.size());
      text[at] = special;
      CHECK(find_special(text) == at);
    }
  }
  CHECK(find_special("") == 0);
  CHECK(find_special(" \x7f~") == 3);
}

}  // namespace
}  // namespace tidemark
