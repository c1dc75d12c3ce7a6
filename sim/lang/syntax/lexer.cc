#include "sim/lang/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/base/text_search.h"
#include "sim/lang/syntax/unread_body.h"

namespace tidemark::lang {

namespace {

struct Spelling {
  std::string_view text;
  Tok kind;
};

constexpr std::array kKeywords = std::to_array<Spelling>({
    {"False", Tok::kFalse},
    {"None", Tok::kNone},
    {"True", Tok::kTrue},
    {"and", Tok::kAnd},
    {"as", Tok::kAs},
    {"assert", Tok::kAssert},
    {"async", Tok::kAsync},
    {"await", Tok::kAwait},
    {"break", Tok::kBreak},
    {"class", Tok::kClass},
    {"continue", Tok::kContinue},
    {"def", Tok::kDef},
    {"del", Tok::kDel},
    {"elif", Tok::kElif},
    {"else", Tok::kElse},
    {"except", Tok::kExcept},
    {"finally", Tok::kFinally},
    {"for", Tok::kFor},
    {"from", Tok::kFrom},
    {"global", Tok::kGlobal},
    {"if", Tok::kIf},
    {"import", Tok::kImport},
    {"in", Tok::kIn},
    {"is", Tok::kIs},
    {"lambda", Tok::kLambda},
    {"nonlocal", Tok::kNonlocal},
    {"not", Tok::kNot},
    {"or", Tok::kOr},
    {"pass", Tok::kPass},
    {"raise", Tok::kRaise},
    {"return", Tok::kReturn},
    {"try", Tok::kTry},
    {"while", Tok::kWhile},
    {"with", Tok::kWith},
    {"yield", Tok::kYield},
});

// Grouped by the first character, the longest first.
constexpr std::array kOperators = std::to_array<Spelling>({
    {"!=", Tok::kNotEqual},
    {"!", Tok::kBang},
    {"%=", Tok::kPercentAssign},
    {"%", Tok::kPercent},
    {"&=", Tok::kAmpAssign},
    {"&", Tok::kAmp},
    {"(", Tok::kLeftParen},
    {")", Tok::kRightParen},
    {"**=", Tok::kDoubleStarAssign},
    {"**", Tok::kDoubleStar},
    {"*=", Tok::kStarAssign},
    {"*", Tok::kStar},
    {"+=", Tok::kPlusAssign},
    {"+", Tok::kPlus},
    {",", Tok::kComma},
    {"->", Tok::kArrow},
    {"-=", Tok::kMinusAssign},
    {"-", Tok::kMinus},
    {"...", Tok::kEllipsis},
    {".", Tok::kDot},
    {"//=", Tok::kDoubleSlashAssign},
    {"//", Tok::kDoubleSlash},
    {"/=", Tok::kSlashAssign},
    {"/", Tok::kSlash},
    {":=", Tok::kWalrus},
    {":", Tok::kColon},
    {";", Tok::kSemicolon},
    {"<<=", Tok::kShiftLeftAssign},
    {"<<", Tok::kShiftLeft},
    {"<=", Tok::kLessEqual},
    {"<", Tok::kLess},
    {"==", Tok::kEqual},
    {"=", Tok::kAssign},
    {">>=", Tok::kShiftRightAssign},
    {">>", Tok::kShiftRight},
    {">=", Tok::kGreaterEqual},
    {">", Tok::kGreater},
    {"@=", Tok::kAtAssign},
    {"@", Tok::kAt},
    {"[", Tok::kLeftBracket},
    {"]", Tok::kRightBracket},
    {"^=", Tok::kCaretAssign},
    {"^", Tok::kCaret},
    {"{", Tok::kLeftBrace},
    {"|=", Tok::kPipeAssign},
    {"|", Tok::kPipe},
    {"}", Tok::kRightBrace},
    {"~", Tok::kTilde},
});

// The first operator that starts with a character; kOperators.size() where none does.
constexpr auto kFirstOperator = [] {
  std::array<std::uint8_t, 128> first{};
  first.fill(static_cast<std::uint8_t>(kOperators.size()));
  for (std::size_t i = kOperators.size(); i > 0; --i) {
    first[static_cast<unsigned char>(kOperators[i - 1].text[0])] = static_cast<std::uint8_t>(i - 1);
  }
  return first;
}();

// The first keyword that starts with a letter; kKeywords.size() where none does.
constexpr auto kFirstKeyword = [] {
  std::array<std::uint8_t, 256> first{};
  first.fill(static_cast<std::uint8_t>(kKeywords.size()));
  for (std::size_t i = kKeywords.size(); i > 0; --i) {
    first[static_cast<unsigned char>(kKeywords[i - 1].text[0])] = static_cast<std::uint8_t>(i - 1);
  }
  return first;
}();

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
constexpr auto kNameParts = [] {
  std::array<bool, 256> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char c = static_cast<char>(i);
    parts[i] = is_name_start(c) || is_digit(c);
  }
  return parts;
}();
bool is_name_part(char c) { return kNameParts[static_cast<unsigned char>(c)]; }
// Those that neither end a string nor make what is behind them part of it.
constexpr auto kPlainInString = [] {
  std::array<bool, 256> plain{};
  plain.fill(true);
  for (const char c : {'"', '\'', '\\', '\n', '\r'}) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}();
bool is_plain_in_string(char c) { return kPlainInString[static_cast<unsigned char>(c)]; }
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class Lexer {
 public:
  Lexer(const std::shared_ptr<const SourceText>& source, Place range, Names& names,
        std::vector<Problem>& problems, Bodies bodies = Bodies::kAtOnce)
      : source_(source),
        text_(std::string_view(source->text).substr(0, range.end)),
        at_(range.begin),
        names_(names),
        problems_(problems),
        bodies_(bodies) {}

  std::vector<Token> file() {
    if (at_ == 0 && text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    tokens_.reserve((text_.size() - at_) / 4 + 16);
    while (at_ < text_.size()) line();
    const auto end = static_cast<std::uint32_t>(text_.size());
    if (!tokens_.empty() && tokens_.back().kind != Tok::kNewline) push(Tok::kNewline, end);
    for (; indents_.size() > 1; indents_.pop_back()) push(Tok::kDedent, end);
    push(Tok::kEnd, end);
    return std::move(tokens_);
  }

  std::vector<Token> expression() {
    brackets_.push_back({Tok::kLeftParen, at_});
    while (at_ < text_.size()) token();
    push(Tok::kEnd, static_cast<std::uint32_t>(text_.size()));
    return std::move(tokens_);
  }

 private:
  struct Bracket {
    Tok kind;
    std::uint32_t at;
  };

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  /// Where the characters that are passed end, from a place on.
  template <class Passes>
  [[nodiscard]] std::uint32_t past(std::uint32_t at, const Passes& passes) const {
    const char* const text = text_.data();
    const auto end = static_cast<std::uint32_t>(text_.size());
    while (at < end && passes(text[at])) ++at;
    return at;
  }
  void push(Tok kind, std::uint32_t begin, Name name = {}) {
    tokens_.push_back({kind, {begin, at_}, name});
  }
  void problem(Place at, std::string message, std::string hint = {}) {
    if (problems_.size() < InputError::kMaxProblems) {
      problems_.push_back({span_of(source_, at), {}, std::move(message), std::move(hint)});
    }
  }

  // One logical line, with the indentation before it.
  void line() {
    const std::uint32_t begin = at_;
    std::uint32_t width = 0;
    for (; peek() == ' ' || peek() == '\t' || peek() == '\f'; ++at_) {
      width = peek() == '\t' ? (width / 8 + 1) * 8 : peek() == ' ' ? width + 1 : 0;
    }
    if (at_ >= text_.size()) return;
    if (peek() == '#' || peek() == '\n' || peek() == '\r') {
      skip_to_line_end();
      next_line();
      return;
    }
    indentation(begin, width);
    const std::size_t first = tokens_.size();
    while (at_ < text_.size()) {
      if ((peek() == '\n' || peek() == '\r') && brackets_.empty()) {
        const std::uint32_t end = at_;
        next_line();
        tokens_.push_back({Tok::kNewline, {end, end + 1}, {}});
        if (bodies_ == Bodies::kWhenCalled && opens_body(first)) leave_unread(width);
        return;
      }
      token();
    }
    if (!brackets_.empty()) {
      problem({brackets_.back().at, brackets_.back().at + 1},
              fmt::format("{} was never closed", token_name(brackets_.back().kind)));
      brackets_.clear();
    }
  }

  // Whether the line that ends here, whose first token that is, has a function's body below it.
  [[nodiscard]] bool opens_body(std::size_t first) const {
    const std::size_t last = tokens_.size() - 2;
    if (last <= first || tokens_[last].kind != Tok::kColon) return false;
    if (tokens_[first].kind == Tok::kAsync) ++first;
    return tokens_[first].kind == Tok::kDef;
  }
  // A body that has no end is read at once: the problem is told where it stands.
  void leave_unread(std::uint32_t width) {
    const std::optional<std::uint32_t> end = end_of_block(text_, at_, width);
    if (!end || *end - at_ < kShortestUnread) return;
    const std::uint32_t begin = std::exchange(at_, *end);
    tokens_.push_back({Tok::kIndent, {begin, begin}, {}});
    push(Tok::kPass, begin);
    tokens_.push_back({Tok::kNewline, {at_ - 1, at_}, {}});
    tokens_.push_back({Tok::kDedent, {at_, at_}, {}});
  }

  void indentation(std::uint32_t begin, std::uint32_t width) {
    if (width > indents_.back()) {
      if (indents_.size() >= 100) {
        problem({begin, at_}, "too many levels of indentation (100 at most)");
        return;
      }
      indents_.push_back(width);
      push(Tok::kIndent, begin);
      return;
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      push(Tok::kDedent, begin);
    }
    if (width != indents_.back()) {
      problem({begin, at_}, "unindent does not match any outer indentation level");
    }
  }

  void skip_to_line_end() {
    at_ += static_cast<std::uint32_t>(find_either(text_.substr(at_), '\n', '\r'));
  }
  void next_line() {
    if (peek() == '\r') ++at_;
    if (peek() == '\n') ++at_;
  }

  // One token, or the white space before it.
  void token() {
    const char c = peek();
    const std::uint32_t begin = at_;
    if (c == ' ' || c == '\t' || c == '\f' || c == '\n' || c == '\r') {
      at_ = past(at_ + 1, [](char next) { return next == ' '; });
    } else if (c == '#') {
      skip_to_line_end();
    } else if (c == '\\') {
      ++at_;
      if (peek() == '\n' || peek() == '\r') {
        next_line();
      } else {
        problem({begin, begin + 1}, "unexpected character after line continuation character");
      }
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      string(begin);
    } else if (is_name_start(c)) {
      name_or_string();
    } else {
      punctuation();
    }
  }

  void name_or_string() {
    const std::uint32_t begin = at_;
    at_ = past(begin, is_name_part);
    const std::string_view word = text_.substr(begin, at_ - begin);
    if ((peek() == '"' || peek() == '\'') && word.size() <= 2) {
      string(begin);
      return;
    }
    for (std::size_t i = kFirstKeyword[static_cast<unsigned char>(word.front())];
         i < kKeywords.size() && kKeywords[i].text[0] == word.front(); ++i) {
      if (kKeywords[i].text == word) return push(kKeywords[i].kind, begin);
    }
    push(Tok::kName, begin, names_.intern(word));
  }

  void number() {
    const std::uint32_t begin = at_;
    Tok kind = Tok::kInt;
    const char marker = static_cast<char>(peek(1) | 0x20);
    if (peek() == '0' && (marker == 'x' || marker == 'o' || marker == 'b')) {
      at_ += 2;
      while (is_hex_digit(peek()) || peek() == '_') ++at_;
    } else {
      digits();
      if (peek() == '.') {
        kind = Tok::kFloat;
        ++at_;
        digits();
      }
      if ((peek() | 0x20) == 'e') {
        const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
        if (is_digit(peek(1 + sign))) {
          kind = Tok::kFloat;
          at_ += static_cast<std::uint32_t>(1 + sign);
          digits();
        }
      }
    }
    if ((peek() | 0x20) == 'j' && !is_name_part(peek(1))) {
      kind = Tok::kFloat;  // the text tells an imaginary one
      ++at_;
    } else if (is_name_start(peek())) {
      while (is_name_part(peek())) ++at_;
      const std::string_view word = text_.substr(begin, at_ - begin);
      problem({begin, at_}, fmt::format("invalid number '{}'", word));
    }
    push(kind, begin);
  }
  void digits() {
    while (is_digit(peek()) || peek() == '_') ++at_;
  }

  // Called with at_ on the opening quote; `begin` is where the prefix starts.
  void string(std::uint32_t begin) {
    const std::string_view prefix = text_.substr(begin, at_ - begin);
    if (prefix.find_first_not_of("rRbBfFuU") != std::string_view::npos) {
      problem({begin, at_}, fmt::format("unknown string prefix '{}'", prefix));
    }
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    while (true) {
      if (at_ >= text_.size() || (!triple && (peek() == '\n' || peek() == '\r'))) {
        problem({begin, begin + (triple ? 3U : 1U)},
                triple ? "unterminated triple-quoted string" : "unterminated string");
        break;
      }
      if (triple) {
        at_ += static_cast<std::uint32_t>(find_either(text_.substr(at_), quote, '\\'));
        if (at_ >= text_.size()) continue;
      }
      if (peek() == '\\') {
        at_ += at_ + 1 < text_.size() ? 2U : 1U;
      } else if (peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        break;
      } else {
        at_ = past(at_ + 1, is_plain_in_string);
      }
    }
    push(Tok::kString, begin);
  }

  void punctuation() {
    const std::uint32_t begin = at_;
    const std::string_view rest = text_.substr(at_);
    const auto byte = static_cast<unsigned char>(rest.front());
    for (std::size_t i = byte < 128 ? kFirstOperator[byte] : kOperators.size();
         i < kOperators.size() && kOperators[i].text[0] == rest.front(); ++i) {
      const Spelling& op = kOperators[i];
      const std::size_t size = op.text.size();  // the first letter is the same
      if (size > 1 && (peek(1) != op.text[1] || (size > 2 && peek(2) != op.text[2]))) continue;
      at_ += static_cast<std::uint32_t>(op.text.size());
      if (!track_bracket(op.kind, begin)) return;
      push(op.kind, begin);
      return;
    }
    ++at_;
    problem({begin, at_}, byte >= 0x20 && byte < 0x7F
                              ? fmt::format("invalid character '{}'", rest.front())
                              : fmt::format("invalid character with code {}", byte));
  }

  // False: a closing bracket without its opening one; it is left out.
  bool track_bracket(Tok kind, std::uint32_t begin) {
    if (kind == Tok::kLeftParen || kind == Tok::kLeftBracket || kind == Tok::kLeftBrace) {
      brackets_.push_back({kind, begin});
      return true;
    }
    Tok open{};
    if (kind == Tok::kRightParen) {
      open = Tok::kLeftParen;
    } else if (kind == Tok::kRightBracket) {
      open = Tok::kLeftBracket;
    } else if (kind == Tok::kRightBrace) {
      open = Tok::kLeftBrace;
    } else {
      return true;
    }
    if (brackets_.empty()) {
      problem({begin, at_}, fmt::format("unmatched {}", token_name(kind)));
      return false;
    }
    if (brackets_.back().kind != open) {
      problem({begin, at_}, fmt::format("closing {} does not match opening {}", token_name(kind),
                                        token_name(brackets_.back().kind)));
    }
    brackets_.pop_back();
    return true;
  }

  const std::shared_ptr<const SourceText>& source_;
  std::string_view text_;
  std::uint32_t at_;
  Names& names_;
  std::vector<Problem>& problems_;
  const Bodies bodies_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> indents_ = {0};
  std::vector<Bracket> brackets_;
};

}  // namespace

SourceSpan span_of(const std::shared_ptr<const SourceText>& source, Place place) {
  SourceSpan span;
  span.source = source;
  const std::string_view text = source->text;
  const auto locate = [&](std::size_t offset, std::uint32_t& line, std::uint32_t& column) {
    offset = std::min(offset, text.size());
    const std::string_view before = text.substr(0, offset);
    line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t start = before.rfind('\n');
    column =
        static_cast<std::uint32_t>(offset - (start == std::string_view::npos ? 0 : start + 1)) + 1;
  };
  locate(place.begin, span.line, span.column);
  locate(place.end, span.end_line, span.end_column);
  return span;
}

std::string_view token_name(Tok kind) {
  switch (kind) {
    case Tok::kEnd:
      return "the end of the text";
    case Tok::kNewline:
      return "the end of the line";
    case Tok::kIndent:
      return "an indented line";
    case Tok::kDedent:
      return "the end of the block";
    case Tok::kName:
      return "a name";
    case Tok::kInt:
    case Tok::kFloat:
      return "a number";
    case Tok::kString:
      return "a string";
    default:
      break;
  }
  static constexpr auto kQuoted = [] {
    // "'text'" for every operator and keyword, in one table of fixed strings.
    std::array<std::array<char, 12>, kOperators.size() + kKeywords.size()> out{};
    std::size_t row = 0;
    const auto add = [&](std::string_view text) {
      std::size_t i = 0;
      out[row][i++] = '\'';
      for (const char c : text) out[row][i++] = c;
      out[row][i] = '\'';
      ++row;
    };
    for (const Spelling& op : kOperators) add(op.text);
    for (const Spelling& keyword : kKeywords) add(keyword.text);
    return out;
  }();
  std::size_t row = 0;
  for (const Spelling& op : kOperators) {
    if (op.kind == kind) return {kQuoted[row].data(), op.text.size() + 2};
    ++row;
  }
  for (const Spelling& keyword : kKeywords) {
    if (keyword.kind == kind) return {kQuoted[row].data(), keyword.text.size() + 2};
    ++row;
  }
  return "a token";
}

std::vector<Token> tokenize(const std::shared_ptr<const SourceText>& source, Place range,
                            Names& names, std::vector<Problem>& problems) {
  return tokenize(source, range, names, problems, Bodies::kAtOnce);
}

std::vector<Token> tokenize(const std::shared_ptr<const SourceText>& source, Place range,
                            Names& names, std::vector<Problem>& problems, Bodies bodies) {
  return Lexer(source, range, names, problems, bodies).file();
}

Place whole(const SourceText& source) {
  return {0, static_cast<std::uint32_t>(source.text.size())};
}

std::vector<Token> tokenize_expression(const std::shared_ptr<const SourceText>& source, Place range,
                                       Names& names, std::vector<Problem>& problems) {
  return Lexer(source, range, names, problems).expression();
}

}  // namespace tidemark::lang
