#include "sim/yaml/plain_reader.h"

#include <algorithm>
#include <array>

namespace tidemark::yaml {
namespace {

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kLongestKey = 100;

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
/// Within a plain scalar, wherever it stands.
constexpr bool is_plain(char c) {
  return is_word(c) || std::string_view("./()=+-*").find(c) != std::string_view::npos;
}

class Reader {
 public:
  Reader(std::string_view text, PlainSink& sink) : text_(text), sink_(sink) {}

  bool document() {
    const bool is_ascii =
        std::ranges::all_of(text_, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
    if (!is_ascii || !next_line() || indent() != 0) return false;
    const bool is_alone = here() == '"' || here() == '[' || here() == '{';  // as overrides are
    return (is_alone ? value(true, 0) && end_line() : block_map(0, 0)) && is_at_end();
  }

 private:
  // ---- lines

  [[nodiscard]] bool is_at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char here() const { return is_at_end() ? '\n' : text_[at_]; }
  [[nodiscard]] std::size_t indent() const { return at_ - line_begin_; }
  [[nodiscard]] PlainMark mark() const { return {at_, line_, at_ - line_begin_}; }

  void pass_blanks() {
    while (here() == ' ' && !is_at_end()) ++at_;
  }
  /// Goes to what the next line with anything on it begins with. Returns false at the end.
  bool next_line() {
    while (true) {
      pass_blanks();
      if (is_at_end()) return false;
      if (here() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (is_at_end()) return false;
      if (here() != '\n') return true;
      ++at_;
      ++line_;
      line_begin_ = at_;
    }
  }
  /// Nothing but a comment is left of the line; goes to the next one.
  bool end_line() {
    const bool is_apart = here() == ' ';
    pass_blanks();
    if (here() != '\n' && !(here() == '#' && is_apart)) return false;
    next_line();
    return true;
  }

  // ---- values

  bool key() {
    const PlainMark begin = mark();
    while (is_word(here()) || here() == '.') ++at_;
    const std::string_view name = text_.substr(begin.position, at_ - begin.position);
    if (name.empty() || name.size() > kLongestKey || name.front() == '.' || is_null(name) ||
        here() != ':')
      return false;
    ++at_;
    if (here() != ' ' && here() != '\n') return false;
    sink_.scalar(begin, name, false);
    return true;
  }
  static bool is_null(std::string_view text) {
    return text == "null" || text == "Null" || text == "NULL";
  }

  /// Up to the end of the line or a comment; in a flow, up to what ends its item.
  bool plain(bool is_flow) {
    const PlainMark begin = mark();
    const bool is_signed = here() == '-';
    if (is_signed) ++at_;
    if (!is_word(here()) && (is_signed || (here() != '.' && here() != '/'))) return false;
    std::size_t end = at_;
    while (is_plain(here()) || here() == ' ' || (here() == ',' && !is_flow)) {
      if (here() == ' ' && at_ + 1 < text_.size() && text_[at_ + 1] == '#') break;
      if (here() != ' ') end = at_ + 1;
      ++at_;
      if (is_at_end()) break;
    }
    const std::string_view text = text_.substr(begin.position, end - begin.position);
    if (is_null(text)) return false;
    if (is_flow && here() != ',' && here() != ']' && here() != '}') return false;
    if (!is_flow) at_ = end;
    sink_.scalar(begin, text, false);
    return true;
  }

  bool quoted() {
    const PlainMark begin = mark();
    const std::size_t end = text_.find_first_of("\"\\\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '"') return false;
    sink_.scalar(begin, text_.substr(at_ + 1, end - at_ - 1), true);
    at_ = end + 1;
    return true;
  }

  bool value(bool is_flow, std::size_t depth) {
    if (here() == '"') return quoted();
    if (here() == '[' || here() == '{') return flow(here() == '{', depth + 1);
    return plain(is_flow);
  }

  bool flow(bool is_map, std::size_t depth) {
    if (depth > kDeepest) return false;
    sink_.open(mark(), is_map, true);
    const char end = is_map ? '}' : ']';
    ++at_;
    pass_blanks();
    while (here() != end) {
      if (is_map && !key()) return false;
      pass_blanks();
      if (!value(true, depth)) return false;
      pass_blanks();
      if (here() != ',') break;
      ++at_;
      pass_blanks();
      if (here() == end) return false;
    }
    if (here() != end) return false;
    ++at_;
    sink_.close();
    return true;
  }

  bool block_map(std::size_t column, std::size_t depth) {
    if (depth > kDeepest) return false;
    sink_.open(mark(), true, false);
    while (!is_at_end() && indent() == column) {
      if (!key()) return false;
      const std::size_t behind = at_;
      pass_blanks();
      if (here() == '\n' || (here() == '#' && at_ > behind)) {
        if (!next_line() || indent() <= column || !block_map(indent(), depth + 1)) return false;
      } else if (!value(false, depth) || !end_line()) {
        return false;
      }
    }
    // A line further in goes on with the text above it.
    if (!is_at_end() && indent() > column) return false;
    sink_.close();
    return true;
  }

  std::string_view text_;
  PlainSink& sink_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t line_begin_ = 0;
};

}  // namespace

bool read_plain(std::string_view text, PlainSink& sink) { return Reader(text, sink).document(); }

}  // namespace tidemark::yaml
