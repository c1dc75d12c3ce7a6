#include "sim/lang/syntax/unread_body.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/base/text_search.h"

namespace tidemark::lang {

namespace {

enum class Meaning : std::uint8_t {
  kNothing,
  kNewline,
  kComment,
  kBackslash,
  kQuote,
  kOpen,
  kClose
};

constexpr auto kMeanings = [] {
  std::array<Meaning, 256> out{};
  const auto set = [&out](std::string_view bytes, Meaning meaning) {
    for (const char byte : bytes) out[static_cast<unsigned char>(byte)] = meaning;
  };
  set("\n\r", Meaning::kNewline);
  set("#", Meaning::kComment);
  set("\\", Meaning::kBackslash);
  set("'\"", Meaning::kQuote);
  set("([{", Meaning::kOpen);
  set(")]}", Meaning::kClose);
  return out;
}();

class BlockScan {
 public:
  BlockScan(std::string_view text, std::uint32_t at) : text_(text), at_(at) {}

  std::optional<std::uint32_t> end(std::uint32_t width) {
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const std::uint32_t own = indentation();
      if (at_ >= text_.size()) break;
      const Meaning first = meaning();
      const bool is_code = first != Meaning::kNewline && first != Meaning::kComment;
      if (is_code && own <= width) return static_cast<std::uint32_t>(begin);
      if (!rest_of_line()) return std::nullopt;
    }
    return static_cast<std::uint32_t>(text_.size());
  }

  std::string_view first_line() {
    while (at_ < text_.size()) {
      indentation();
      const std::size_t begin = at_;
      if (at_ >= text_.size() || !rest_of_line()) break;
      const Meaning first = kMeanings[static_cast<unsigned char>(text_[begin])];
      if (first != Meaning::kNewline && first != Meaning::kComment)
        return text_.substr(begin, at_ - begin);
    }
    return {};
  }

 private:
  [[nodiscard]] Meaning meaning() const {
    return kMeanings[static_cast<unsigned char>(text_[at_])];
  }

  std::uint32_t indentation() {
    std::uint32_t width = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ') {
        ++width;
      } else if (c == '\t') {
        width = (width / 8 + 1) * 8;
      } else if (c == '\f') {
        width = 0;
      } else {
        break;
      }
    }
    return width;
  }

  // Up to behind the newline that ends the logical line.
  bool rest_of_line() {
    std::uint32_t open = 0;
    std::size_t block = at_;  // where the block of `marks` begins
    unsigned marks = 0;       // what is left to look at there
    const auto go_on = [&] {
      block = ++at_;
      marks = at_ < text_.size() ? code_marks(text_.data() + at_, text_.size() - at_) : 0;
    };
    for (--at_, go_on(); block < text_.size();) {
      if (marks == 0) {
        at_ = std::min(block + kBlock, text_.size()) - 1;
        go_on();
        continue;
      }
      at_ = block + static_cast<std::size_t>(std::countr_zero(marks));
      marks &= marks - 1;
      switch (meaning()) {
        case Meaning::kNothing:
          break;
        case Meaning::kNewline:
          if (open > 0) break;
          if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
          ++at_;
          return true;
        case Meaning::kComment:
          comment();
          go_on();
          break;
        case Meaning::kBackslash:
          if (at_ + 2 < text_.size() && text_[at_ + 1] == '\r' && text_[at_ + 2] == '\n') ++at_;
          ++at_;
          go_on();
          break;
        case Meaning::kQuote:
          if (!string()) return false;
          go_on();
          break;
        case Meaning::kOpen:
          ++open;
          break;
        case Meaning::kClose:
          if (open == 0) return false;
          --open;
          break;
      }
    }
    at_ = text_.size();
    return open == 0;
  }

  // To the byte before the newline.
  void comment() { at_ += find_either(text_.substr(at_ + 1), '\n', '\r'); }

  // To the last quote.
  bool string() {
    const char quote = text_[at_];
    const bool is_triple =
        at_ + 2 < text_.size() && text_[at_ + 1] == quote && text_[at_ + 2] == quote;
    for (at_ += is_triple ? 3 : 1; at_ < text_.size(); ++at_) {
      if (is_triple) at_ += find_either(text_.substr(at_), quote, '\\');
      if (at_ >= text_.size()) break;
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == quote) {
        if (!is_triple) return true;
        if (at_ + 2 < text_.size() && text_[at_ + 1] == quote && text_[at_ + 2] == quote) {
          at_ += 2;
          return true;
        }
      } else if (!is_triple && (c == '\n' || c == '\r')) {
        return false;
      }
    }
    return false;
  }

  static constexpr std::size_t kBlock = 16;  // of code_marks()
  std::string_view text_;
  std::size_t at_;
};

}  // namespace

std::optional<std::uint32_t> end_of_block(std::string_view text, std::uint32_t at,
                                          std::uint32_t width) {
  return BlockScan(text, at).end(width);
}

std::string_view first_line_of_code(std::string_view lines) {
  return BlockScan(lines, 0).first_line();
}

}  // namespace tidemark::lang
