#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/random.h"
#include "sim/lang/syntax/unread_body.h"

/// The end of a block that is found many bytes at a time, against one that is found byte by byte.
namespace tidemark::lang {
namespace {

class ByteByByte {
 public:
  explicit ByteByByte(std::string_view text) : text_(text) {}

  std::optional<std::uint32_t> end(std::uint32_t width) {
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const std::uint32_t own = indentation();
      if (at_ >= text_.size()) break;
      const char first = text_[at_];
      if (!is(first, "\n\r#") && own <= width) return static_cast<std::uint32_t>(begin);
      if (!line()) return std::nullopt;
    }
    return static_cast<std::uint32_t>(text_.size());
  }

 private:
  static bool is(char c, std::string_view some) { return some.find(c) != std::string_view::npos; }
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::uint32_t indentation() {
    std::uint32_t width = 0;
    for (; is(peek(0), " \t\f") && at_ < text_.size(); ++at_) {
      if (text_[at_] == '\t') {
        width = (width / 8 + 1) * 8;
      } else {
        width = text_[at_] == ' ' ? width + 1 : 0;
      }
    }
    return width;
  }
  bool line() {
    std::uint32_t open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (is(c, "\n\r") && open == 0) {
        at_ += c == '\r' && peek(1) == '\n' ? 2 : 1;
        return true;
      }
      if (c == '#') {
        while (at_ + 1 < text_.size() && !is(peek(1), "\n\r")) ++at_;
      } else if (c == '\\') {
        at_ += peek(1) == '\r' && peek(2) == '\n' ? 2 : 1;
      } else if (is(c, "'\"")) {
        if (!string(c)) return false;
      } else if (is(c, "([{")) {
        ++open;
      } else if (is(c, ")]}") && open-- == 0) {
        return false;
      }
    }
    return open == 0;
  }
  bool string(char quote) {
    const bool is_triple = peek(1) == quote && peek(2) == quote;
    for (at_ += is_triple ? 3 : 1; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == quote && !is_triple) {
        return true;
      } else if (c == quote && peek(1) == quote && peek(2) == quote) {
        at_ += 2;
        return true;
      } else if (!is_triple && is(c, "\n\r")) {
        return false;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

TEST_CASE("the end of a block is the same in large steps and in small ones") {
  Random random(5);
  constexpr std::string_view kLetters = "ab \t\f\n\r\\#'\"()[]{}&|=.";
  std::size_t ends = 0;
  for (int turn = 0; turn < 60000; ++turn) {
    std::string text(random.below(70), 'a');
    // Some texts have few marks, so that blocks without any are among them.
    const std::size_t rare = turn % 3 == 0 ? 12 : 2;
    for (char& c : text) {
      c = random.below(rare) == 0 ? kLetters[random.below(kLetters.size())] : kLetters[turn % 3];
    }
    const auto found = end_of_block(text, 0, turn % 4);
    INFO(text);
    CHECK(found == ByteByByte(text).end(turn % 4));
    if (found) ++ends;
  }
  CHECK(ends > 1000);
}

}  // namespace
}  // namespace tidemark::lang
