#include "sim/base/text_search.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

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

TEST_CASE("bytes of a kind are counted, the first of two is found") {
  Random random(11);
  for (int turn = 0; turn < 2000; ++turn) {
    std::string text(random.below(9000), 'a');
    for (char& c : text) c = static_cast<char>('a' + random.below(turn % 2 == 0 ? 2 : 12));
    CHECK(count_bytes(text, 'a') ==
          static_cast<std::size_t>(std::count(text.begin(), text.end(), 'a')));
    CHECK(find_either(text, 'k', 'l') == std::min(text.find_first_of("kl"), text.size()));
  }
  CHECK(find_either("", 'a', 'b') == 0);
}

TEST_CASE("marks that end lines are found at every place of a block") {
  for (const std::string_view mark :
       {"\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, '\n');
      text.insert(at, "\xc2\xa9\xe2\x80\x93\t\x1f");
      CHECK_FALSE(has_other_line_ends(text));
      text.insert(at, mark);
      CHECK(has_other_line_ends(text));
    }
  }
  CHECK_FALSE(has_other_line_ends(""));
  CHECK_FALSE(has_other_line_ends("\xe2\x80"));
}

TEST_CASE("what a scan of code looks at has its bit in a block") {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_mark =
        byte < 0x20 || std::string_view("\"#&'()[\\]{|}").find(c) != std::string_view::npos;
    for (std::size_t at = 0; at < 16; ++at) {
      std::string text(16, 'x');
      text[at] = c;
      CHECK(code_marks(text.data(), text.size()) == (is_mark ? 1U << at : 0U));
    }
  }
  CHECK(code_marks("ab", 2) == 3U);
}

}  // namespace
}  // namespace tidemark
