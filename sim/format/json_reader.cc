#include "sim/format/json_reader.h"

#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr int kDeepest = 64;

class JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  JsonValue document() {
    JsonValue value = read_value(0);
    skip_space();
    if (at_ < text_.size()) fail("there is more after the end of the document");
    return value;
  }

 private:
  [[noreturn]] void fail(std::string message) const {
    SourceText line;
    line.name = std::string(name_);
    const std::size_t begin = line_begin_;
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    line.text = std::string(text_.substr(begin, std::min<std::size_t>(end - begin, 400)));
    line.first_line = line_;
    Problem problem;
    problem.at = here();
    problem.at.source = std::make_shared<const SourceText>(std::move(line));
    problem.at.line = problem.at.end_line = 1;
    problem.message = std::move(message);
    throw InputError(std::move(problem));
  }

  [[nodiscard]] SourceSpan here() const {
    SourceSpan span;
    span.line = span.end_line = line_;
    span.column = span.end_column = static_cast<std::uint32_t>(at_ - line_begin_ + 1);
    return span;
  }

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  JsonValue read_value(int depth) {
    if (depth > kDeepest) fail("more than 64 levels deep");
    skip_space();
    if (at_ >= text_.size()) fail("the document ends too early");
    JsonValue value;
    value.at = here();
    const char c = text_[at_];
    if (c == '{') {
      read_object(value, depth);
    } else if (c == '[') {
      read_array(value, depth);
    } else if (c == '"') {
      value.kind = JsonValue::Kind::kText;
      value.text = read_text();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      read_number(value);
    } else if (take_word("true")) {
      value.kind = JsonValue::Kind::kBoolean;
      value.boolean = true;
    } else if (take_word("false")) {
      value.kind = JsonValue::Kind::kBoolean;
    } else if (!take_word("null")) {
      fail("expected a value");
    }
    return value;
  }

  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void read_object(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::kObject;
    ++at_;
    if (take('}')) return;
    do {
      skip_space();
      if (at_ >= text_.size() || text_[at_] != '"') fail("expected a key in double quotes");
      std::string key = read_text();
      if (!take(':')) fail("expected ':'");
      value.members.push_back({std::move(key), read_value(depth + 1)});
    } while (take(','));
    if (!take('}')) fail("expected ',' or '}'");
  }

  void read_array(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::kArray;
    ++at_;
    if (take(']')) return;
    do {
      value.items.push_back(read_value(depth + 1));
    } while (take(','));
    if (!take(']')) fail("expected ',' or ']'");
  }

  void read_number(JsonValue& value) {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const char* stop = begin;
    while (stop < end && (*stop == '-' || *stop == '+' || *stop == '.' || *stop == 'e' ||
                          *stop == 'E' || (*stop >= '0' && *stop <= '9'))) {
      ++stop;
    }
    const auto whole = std::from_chars(begin, stop, value.integer);
    if (whole.ec == std::errc() && whole.ptr == stop) {
      value.kind = JsonValue::Kind::kInteger;
      value.unsigned_integer = static_cast<std::uint64_t>(value.integer);
      value.real = static_cast<double>(value.integer);
    } else if (const auto large = std::from_chars(begin, stop, value.unsigned_integer);
               large.ec == std::errc() && large.ptr == stop) {
      value.kind = JsonValue::Kind::kUnsigned;
      value.real = static_cast<double>(value.unsigned_integer);
    } else if (const auto real = std::from_chars(begin, stop, value.real);
               real.ec == std::errc() && real.ptr == stop) {
      value.kind = JsonValue::Kind::kReal;
    } else {
      fail("this is no number");
    }
    at_ += static_cast<std::size_t>(stop - begin);
  }

  std::string read_text() {
    std::string text;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return text;
      }
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character inside a text");
      if (c != '\\') {
        text += c;
        continue;
      }
      if (++at_ >= text_.size()) break;
      switch (text_[at_]) {
        case '"':
          text += '"';
          break;
        case '\\':
          text += '\\';
          break;
        case '/':
          text += '/';
          break;
        case 'b':
          text += '\b';
          break;
        case 'f':
          text += '\f';
          break;
        case 'n':
          text += '\n';
          break;
        case 'r':
          text += '\r';
          break;
        case 't':
          text += '\t';
          break;
        case 'u':
          append_code_point(text);
          break;
        default:
          fail("an unknown escape inside a text");
      }
    }
    fail("the text has no end");
  }

  std::uint32_t read_hex() {
    std::uint32_t unit = 0;
    const std::string_view digits = text_.substr(at_ + 1, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    if (error != std::errc() || end != digits.data() + 4) fail("expected four hexadecimal digits");
    at_ += 4;
    return unit;
  }

  void append_code_point(std::string& text) {
    std::uint32_t point = read_hex();
    if (point >= 0xd800 && point < 0xdc00 && text_.substr(at_ + 1, 2) == "\\u") {
      at_ += 2;
      const std::uint32_t low = read_hex();
      point = 0x10000 + ((point - 0xd800) << 10U) + (low & 0x3ffU);
    }
    const auto byte = [&text](std::uint32_t value) { text += static_cast<char>(value); };
    if (point < 0x80) {
      byte(point);
    } else if (point < 0x800) {
      byte(0xc0 | (point >> 6U));
      byte(0x80 | (point & 0x3fU));
    } else if (point < 0x10000) {
      byte(0xe0 | (point >> 12U));
      byte(0x80 | ((point >> 6U) & 0x3fU));
      byte(0x80 | (point & 0x3fU));
    } else {
      byte(0xf0 | (point >> 18U));
      byte(0x80 | ((point >> 12U) & 0x3fU));
      byte(0x80 | ((point >> 6U) & 0x3fU));
      byte(0x80 | (point & 0x3fU));
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

JsonValue read_json(std::string_view text, std::string_view name) {
  return JsonReader(text, name).document();
}

}  // namespace tidemark
