#include "sim/lang/builtins/regex_syntax.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::lang {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(std::string_view text) {
  const auto part = [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || (c & 0x80) != 0;
  };
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), part);
}

std::uint32_t flag_of(char letter) {
  switch (letter) {
    case 'i':
      return kIgnoreCase;
    case 'L':
      return kLocale;
    case 'm':
      return kMultiLine;
    case 's':
      return kDotAll;
    case 'u':
      return kUnicode;
    case 'x':
      return kVerbose;
    case 'a':
      return kAscii;
    default:
      return 0;
  }
}

struct Fault {
  std::string message;
};

/// Python's pattern from left to right.
class Translation {
 public:
  Translation(std::string_view pattern, std::uint32_t flags) : pattern_(pattern) {
    out_.flags = flags;
    out_.closed.push_back(0);
  }

  RegexText run() {
    try {
      while (more()) piece();
      if (!levels_.empty()) fail("missing ), unterminated subpattern", levels_.back().begin);
    } catch (const Fault& fault) {
      out_.error = fault.message;
    }
    return std::move(out_);
  }

 private:
  struct Level {
    std::size_t begin;
    std::uint32_t group;  // 0: it captures nothing
    std::uint32_t flags;  // within it
  };

  [[nodiscard]] bool more() const { return at_ < pattern_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool at_text(std::string_view text) const {
    return pattern_.substr(at_).starts_with(text);
  }
  [[noreturn]] static void fail(std::string_view message, std::size_t place) {
    throw Fault{fmt::format("{} at position {}", message, place)};
  }
  void put(std::string_view text, std::size_t origin) {
    out_.pattern += text;
    out_.origins.resize(out_.pattern.size(), origin);
  }
  /// So many characters as they stand.
  void copy(std::size_t count = 1) {
    for (; count > 0 && more(); --count, ++at_) put(pattern_.substr(at_, 1), at_);
  }

  void piece() {
    const std::size_t begin = at_;
    const char c = peek();
    if (is_verbose() && (std::string_view(" \t\n\r\v\f").find(c) != std::string_view::npos)) {
      ++at_;
      return;
    }
    if (is_verbose() && c == '#') {
      at_ = std::min(pattern_.find('\n', at_), pattern_.size());
      return;
    }
    switch (c) {
      case '\\':
        escape(false);
        repeatable_ = !was_place_;
        return;
      case '[':
        set();
        repeatable_ = true;
        return;
      case '(':
        open();
        return;
      case ')':
        close(begin);
        return;
      case '|':
      case '^':
      case '$':
        copy();
        repeatable_ = false;
        return;
      case '*':
      case '+':
      case '?':
        repeat(1);
        return;
      case '{':
        if (const std::size_t size = bounds()) {
          repeat(size);
        } else {
          put("\\{", at_++);
          repeatable_ = true;
        }
        return;
      default:
        copy();
        repeatable_ = true;
    }
  }

  [[nodiscard]] bool is_verbose() const {
    return ((levels_.empty() ? out_.flags : levels_.back().flags) & kVerbose) != 0;
  }

  /// The length of {n}, {n,}, {,m} or {n,m} here; 0: a brace like any character.
  [[nodiscard]] std::size_t bounds() const {
    std::size_t i = 1;
    bool has_number = false;
    while (is_digit(peek(i))) {
      ++i;
      has_number = true;
    }
    if (peek(i) == ',') {
      ++i;
      has_number = true;
      while (is_digit(peek(i))) ++i;
    }
    return has_number && peek(i) == '}' ? i + 1 : 0;
  }

  void repeat(std::size_t size) {
    if (was_repeat_at_ == at_) fail("multiple repeat", at_);
    if (!repeatable_) fail("nothing to repeat", at_);
    if (at_text("{,")) {
      put("{0", at_++);
      copy(size - 1);
    } else {
      copy(size);
    }
    if (peek() == '?' || peek() == '+') copy();
    was_repeat_at_ = at_;
  }

  void open() {
    const std::size_t begin = at_;
    Level level{begin, 0, levels_.empty() ? out_.flags : levels_.back().flags};
    if (peek(1) != '?') {
      level.group = new_group();
      copy();
    } else if (at_text("(?P<")) {
      const std::string name = name_until('>', 4);
      level.group = new_group();
      for (const auto& [other, number] : out_.names) {
        if (other == name) {
          fail(fmt::format("redefinition of group name '{}' as group {}; was group {}", name,
                           level.group, number),
               begin + 4);
        }
      }
      out_.names.emplace_back(name, level.group);
      put("(", begin);
    } else if (at_text("(?P=")) {
      refer_to(name_until(')', 4), begin + 4);
      repeatable_ = true;
      return;
    } else if (at_text("(?#")) {
      const std::size_t end = pattern_.find(')', at_);
      if (end == std::string_view::npos) fail("missing ), unterminated comment", begin);
      at_ = end + 1;
      return;
    } else if (at_text("(?<=") || at_text("(?<!")) {
      copy(4);
    } else if (at_text("(?:") || at_text("(?=") || at_text("(?!") || at_text("(?>")) {
      copy(3);
    } else if (at_text("(?(")) {
      condition(begin);
    } else if (!inline_flags(level)) {
      return;
    }
    levels_.push_back(level);
    repeatable_ = false;
  }

  std::uint32_t new_group() {
    out_.closed.push_back(0);
    return static_cast<std::uint32_t>(out_.closed.size() - 1);
  }

  void close(std::size_t begin) {
    if (levels_.empty()) fail("unbalanced parenthesis", begin);
    if (levels_.back().group != 0) out_.closed[levels_.back().group] = ++closed_count_;
    levels_.pop_back();
    copy();
    repeatable_ = true;
  }

  std::string name_until(char end, std::size_t skip) {
    const std::size_t begin = at_ + skip;
    const std::size_t stop = pattern_.find(end, begin);
    if (stop == std::string_view::npos) {
      const bool missing = begin >= pattern_.size();
      fail(missing ? "missing group name" : fmt::format("missing {}, unterminated name", end),
           begin);
    }
    std::string name(pattern_.substr(begin, stop - begin));
    if (name.empty()) fail("missing group name", begin);
    if (!is_name(name)) fail(fmt::format("bad character in group name '{}'", name), begin);
    at_ = stop + 1;
    return name;
  }

  void refer_to(const std::string& name, std::size_t place) {
    for (const auto& [other, number] : out_.names) {
      if (other == name) {
        refer_to(number, place);
        return;
      }
    }
    fail(fmt::format("unknown group name '{}'", name), place);
  }
  void refer_to(std::uint32_t group, std::size_t place) {
    if (group >= out_.closed.size()) fail(fmt::format("invalid group reference {}", group), place);
    if (out_.closed[group] == 0) fail("cannot refer to an open group", place);
    put(fmt::format("\\g{{{}}}", group), place);
  }

  /// (?(1)yes|no)
  void condition(std::size_t begin) {
    const std::size_t stop = pattern_.find(')', at_ + 3);
    if (stop == std::string_view::npos) fail("missing ), unterminated name", begin + 3);
    const std::string name(pattern_.substr(at_ + 3, stop - at_ - 3));
    std::uint32_t group = 0;
    if (!name.empty() && name.size() < 6 && std::all_of(name.begin(), name.end(), is_digit)) {
      group = static_cast<std::uint32_t>(std::stoul(name));
      if (group == 0) fail("bad group number", begin + 3);
    } else {
      if (!is_name(name)) fail(fmt::format("bad character in group name '{}'", name), begin + 3);
      for (const auto& [other, number] : out_.names) group = other == name ? number : group;
      if (group == 0) fail(fmt::format("unknown group name '{}'", name), begin + 3);
    }
    at_ = stop + 1;
    put(fmt::format("(?({})", group), begin);
  }

  /// (?i) at the very beginning, (?i-s:...) anywhere. False: nothing has been opened.
  bool inline_flags(Level& level);

  void escape(bool in_set);
  void set();

  std::string_view pattern_;
  std::size_t at_ = 0;
  RegexText out_;
  std::vector<Level> levels_;
  std::uint32_t closed_count_ = 0;
  bool repeatable_ = false;  // what stands before can be repeated
  bool was_place_ = false;   // the escape was of a place (\b), not of a character
  std::size_t was_repeat_at_ = static_cast<std::size_t>(-1);
};

bool Translation::inline_flags(Level& level) {
  const std::size_t begin = at_;
  std::uint32_t on = 0;
  std::uint32_t off = 0;
  std::size_t i = 2;
  bool removes = false;
  for (;; ++i) {
    const char c = peek(i);
    if (c == '-' && !removes) {
      removes = true;
      continue;
    }
    const std::uint32_t flag = flag_of(c);
    if (flag == 0) break;
    (removes ? off : on) |= flag;
  }
  const char end = peek(i);
  if (i == 2 || (end != ')' && end != ':')) {
    if (begin + i >= pattern_.size()) fail("unexpected end of pattern", begin + i);
    fail(i == 2 ? fmt::format("unknown extension ?{}", end) : std::string("unknown flag"),
         begin + (i == 2 ? 1 : i));
  }
  at_ += i + 1;
  if (end == ')') {
    if (removes) fail("missing :", begin + i);
    if (begin != 0) fail("global flags not at the start of the expression", begin);
    out_.flags |= on;
    return false;
  }
  constexpr std::uint32_t kScoped = kIgnoreCase | kMultiLine | kDotAll | kVerbose;
  level.flags = (level.flags | on) & ~off;
  // What PCRE2 knows of them; verbose text has no blanks left here.
  std::string text = "(?";
  for (const char letter : {'i', 'm', 's'})
    if ((on & flag_of(letter)) != 0) text += letter;
  if ((off & kScoped) != 0) text += '-';
  for (const char letter : {'i', 'm', 's'})
    if ((off & flag_of(letter)) != 0) text += letter;
  put(text + ":", begin);
  return true;
}

void Translation::escape(bool in_set) {
  const std::size_t begin = at_;
  was_place_ = false;
  const char c = peek(1);
  if (begin + 1 >= pattern_.size()) fail("bad escape (end of pattern)", begin);
  const auto code = [&](std::size_t digits) {
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_hex(peek(2 + i)))
        fail(fmt::format("incomplete escape {}", pattern_.substr(begin, 2 + i)), begin);
    }
    put(fmt::format("\\x{{{}}}", pattern_.substr(begin + 2, digits)), begin);
    at_ += 2 + digits;
  };
  const auto octal = [&](std::size_t most) {
    unsigned value = 0;
    std::size_t i = 1;
    for (; i <= most && is_octal(peek(i)); ++i)
      value = value * 8 + static_cast<unsigned>(peek(i) - '0');
    if (value > 0377) {
      fail(fmt::format("octal escape value {} outside of range 0-0o377", pattern_.substr(begin, i)),
           begin);
    }
    put(fmt::format("\\x{{{:x}}}", value), begin);
    at_ += i;
  };
  switch (c) {
    case 'x':
      return code(2);
    case 'u':
      return code(4);
    case 'U':
      return code(8);
    case 'a':
    case 'f':
    case 'n':
    case 'r':
    case 't':
    case 'd':
    case 'D':
    case 's':
    case 'S':
    case 'w':
    case 'W':
      return copy(2);
    case 'v':
      put("\\x0b", begin);
      at_ += 2;
      return;
    case 'b':
      if (in_set) {
        put("\\x08", begin);
        at_ += 2;
        return;
      }
      was_place_ = true;
      return copy(2);
    case 'A':
    case 'B':
    case 'Z':
      if (in_set) break;
      was_place_ = true;
      put(c == 'Z' ? "\\z" : c == 'A' ? "\\A" : "\\B", begin);
      at_ += 2;
      return;
    case '0':
      return octal(3);
    default:
      break;
  }
  if (is_digit(c)) {
    const bool three = is_octal(c) && is_octal(peek(2)) && is_octal(peek(3));
    if (in_set || three) {
      if (!is_octal(c)) fail(fmt::format("bad escape \\{}", c), begin);
      return octal(3);
    }
    const std::size_t digits = is_digit(peek(2)) ? 2 : 1;
    const std::string number(pattern_.substr(begin + 1, digits));
    at_ += 1 + digits;
    refer_to(static_cast<std::uint32_t>(std::stoul(number)), begin + 1);
    return;
  }
  if (is_letter(c)) fail(fmt::format("bad escape \\{}", c), begin);
  // A character that means itself; of several bytes, its first and the rest after it.
  if ((c & 0x80) != 0) {
    ++at_;
    return copy();
  }
  copy(2);
}

void Translation::set() {
  const std::size_t begin = at_;
  copy();
  if (peek() == '^') copy();
  for (bool first = true;; first = false) {
    if (!more()) fail("unterminated character set", begin);
    const char c = peek();
    if (c == ']' && !first) break;
    if (c == '\\') {
      escape(true);
    } else if (c == '[' || c == ']' || (is_verbose() && c == '#')) {
      put("\\", at_);
      copy();
    } else {
      copy();
    }
  }
  copy();
}

}  // namespace

RegexText translate_regex(std::string_view pattern, std::uint32_t flags) {
  return Translation(pattern, flags).run();
}

}  // namespace tidemark::lang
