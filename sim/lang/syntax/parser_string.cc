#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/base/text_search.h"
#include "sim/lang/syntax/character_names.h"
#include "sim/lang/syntax/parser_impl.h"
#include "sim/lang/values/str.h"
#include "sim/lang/values/utf8.h"

namespace tidemark::lang {

namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/// Behind the braces of "\N{name}"; the text's end where they do not close.
std::uint32_t behind_name(std::string_view source, std::uint32_t at) {
  return static_cast<std::uint32_t>(std::min(source.find('}', at), source.size() - 1) + 1);
}

}  // namespace

// Of "\N{name}" from the N on; leaves the place at the closing brace.
std::uint32_t Parser::named_character(Place body, std::size_t& at) {
  const std::string_view in = text(body);
  const std::size_t begin = at + 2;
  const std::size_t close = at + 1 < in.size() && in[at + 1] == '{' ? in.find('}', begin) : at;
  const Place mark{body.begin + static_cast<std::uint32_t>(at) - 1,
                   body.begin + static_cast<std::uint32_t>(at) + 1};
  if (close == at || close == std::string_view::npos) fail(mark, "malformed \\N character escape");
  const std::string_view name = in.substr(begin, close - begin);
  const std::optional<std::uint32_t> code = character_named(name);
  if (!code) {
    fail(mark, fmt::format("no character called '{}' is known here", name),
         "write the character itself");
  }
  at = close;
  return *code;
}

std::string Parser::decode(Place body, bool raw, bool is_bytes) {
  const std::string_view in = text(body);
  std::string out;
  out.reserve(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t plain = find_either(in.substr(i), '\\', '\r');
    out.append(in.substr(i, plain));
    i += plain;
    if (i == in.size()) break;
    if (in[i] == '\r') {
      if (i + 1 >= in.size() || in[i + 1] != '\n') out += '\n';
      continue;
    }
    if (in[i] != '\\' || raw || i + 1 >= in.size()) {
      out += in[i];
      continue;
    }
    const char c = in[++i];
    std::size_t digits = 0;
    switch (c) {
      case '\n':
        continue;
      case '\r':
        if (i + 1 < in.size() && in[i + 1] == '\n') ++i;
        continue;
      case '\\':
      case '\'':
      case '"':
        out += c;
        continue;
      case 'a':
        out += '\a';
        continue;
      case 'b':
        out += '\b';
        continue;
      case 'f':
        out += '\f';
        continue;
      case 'n':
        out += '\n';
        continue;
      case 'r':
        out += '\r';
        continue;
      case 't':
        out += '\t';
        continue;
      case 'v':
        out += '\v';
        continue;
      case 'x':
        digits = 2;
        break;
      case 'u':
        digits = is_bytes ? 0 : 4;
        break;
      case 'U':
        digits = is_bytes ? 0 : 8;
        break;
      case 'N':
        if (is_bytes) break;
        append_utf8(out, named_character(body, i));
        continue;
      default:
        break;
    }
    std::uint32_t code = 0;
    if (digits > 0) {
      const std::size_t begin = i - 1;
      for (std::size_t n = 0; n < digits; ++n) {
        const int digit = i + 1 < in.size() ? digit_value(in[i + 1]) : 99;
        if (digit >= 16) {
          const auto at = body.begin + static_cast<std::uint32_t>(begin);
          fail({at, body.begin + static_cast<std::uint32_t>(i) + 1},
               fmt::format("truncated \\{} escape", c));
        }
        code = code * 16 + static_cast<std::uint32_t>(digit);
        ++i;
      }
      if (code > 0x10FFFF) {
        const auto at = body.begin + static_cast<std::uint32_t>(begin);
        fail({at, body.begin + static_cast<std::uint32_t>(i) + 1}, "illegal Unicode character");
      }
      append_utf8(out, code);
    } else if (c >= '0' && c <= '7') {
      code = static_cast<std::uint32_t>(c - '0');
      for (int n = 0; n < 2 && i + 1 < in.size() && in[i + 1] >= '0' && in[i + 1] <= '7'; ++n) {
        code = code * 8 + static_cast<std::uint32_t>(in[++i] - '0');
      }
      append_utf8(out, code);
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

Expr* Parser::strings() {
  const Nested nested(*this);
  const std::uint32_t begin = current().at.begin;
  std::vector<JoinedPart> parts;
  std::string plain;
  bool joined = false;
  bool is_bytes = false;
  const Token first = current();
  while (kind() == Tok::kString) {
    const Token token = take();
    Place body = token.at;
    bool raw = false;
    bool is_formatted = false;
    const std::string_view whole = text(body);
    std::size_t prefix = whole.find_first_of("\"'");
    if (prefix == std::string_view::npos) prefix = 0;
    for (const char c : whole.substr(0, prefix)) {
      raw = raw || c == 'r' || c == 'R';
      is_formatted = is_formatted || c == 'f' || c == 'F';
      is_bytes = is_bytes || c == 'b' || c == 'B';
    }
    const std::string_view quoted = whole.substr(prefix);
    const bool triple = quoted.size() >= 6 && quoted[1] == quoted[0] && quoted[2] == quoted[0];
    const std::uint32_t marks = triple ? 3 : 1;
    if (quoted.size() < std::size_t{2} * marks) continue;  // unterminated: the lexer has said so
    body.begin += static_cast<std::uint32_t>(prefix) + marks;
    body.end -= marks;
    if (!is_formatted) {
      plain += decode(body, raw, is_bytes);
      continue;
    }
    joined = true;
    if (!plain.empty()) {
      parts.push_back(text_part(plain));
      plain.clear();
    }
    formatted(body, raw, parts, 0);
  }
  const Place place{begin, last_end()};
  if (!joined) {
    Expr* constant = make_constant(Literal::of(names_.intern(plain)), place);
    return is_bytes ? called(kBytes, first, constant) : constant;
  }
  if (!plain.empty()) parts.push_back(text_part(plain));
  return make(JoinedExpr{{ExprKind::kJoined, place}, seq(parts)});
}

void Parser::formatted(Place body, bool raw, std::vector<JoinedPart>& parts, int depth) {
  const std::string_view source = tree_.source->text;
  std::string pending;
  std::uint32_t at = body.begin;
  std::uint32_t literal = at;
  const auto flush_literal = [&](std::uint32_t end) {
    if (end > literal) pending += decode({literal, end}, raw, false);
  };
  const auto flush = [&] {
    if (pending.empty()) return;
    parts.push_back(text_part(pending));
    pending.clear();
  };
  while (at < body.end) {
    const char c = source[at];
    if (c == '\\' && !raw) {
      const bool ends_text = at + 1 < body.end && (source[at + 1] == '{' || source[at + 1] == '}');
      at += ends_text ? 1 : 2;  // "\{" is no escape
      if (source.substr(at - 1, 2) == "N{") at = std::min(behind_name(source, at), body.end);
    } else if (c == '{' || c == '}') {
      flush_literal(at);
      if (at + 1 < body.end && source[at + 1] == c && depth == 0) {
        pending += c;
        at += 2;
      } else if (c == '}') {
        fail({at, at + 1}, "f-string: single '}' is not allowed", "write '}}' for a brace");
      } else {
        flush();
        replacement(at, body.end, raw, parts, depth);
      }
      literal = at;
    } else {
      ++at;
    }
  }
  flush_literal(body.end);
  flush();
}

void Parser::replacement(std::uint32_t& at, std::uint32_t end, bool raw,
                         std::vector<JoinedPart>& parts, int depth) {
  const std::string_view source = tree_.source->text;
  const std::uint32_t open = at++;
  if (depth >= 2) fail({open, open + 1}, "f-string: expressions nested too deeply");
  const std::uint32_t begin = at;
  std::uint32_t brackets = 0;
  for (; at < end; ++at) {
    const char c = source[at];
    if (c == '\\') fail({at, at + 1}, "f-string expression part cannot include a backslash");
    if (c == '#') fail({at, at + 1}, "f-string expression part cannot include '#'");
    if (c == '"' || c == '\'') {
      const std::size_t close = source.find(c, at + 1);
      if (close == std::string_view::npos || close >= end) {
        fail({at, at + 1}, "f-string: unterminated string");
      }
      at = static_cast<std::uint32_t>(close);
    } else if (c == '(' || c == '[' || c == '{') {
      ++brackets;
    } else if (brackets > 0) {
      if (c == ')' || c == ']' || c == '}') --brackets;
    } else if (at + 1 < end && source[at + 1] == '=' &&
               (c == '!' || c == '=' || c == '<' || c == '>')) {
      ++at;
    } else if (c == '!' || c == ':' || c == '}' || c == '=') {
      break;
    }
  }
  const Place place{begin, at};
  if (text(place).find_first_not_of(" \t\r\n") == std::string_view::npos) {
    fail({open, at < end ? at + 1 : at},
         at < end ? "f-string: empty expression not allowed" : "f-string: expecting '}'");
  }
  JoinedPart part{{}, sub_expression(place), 0, nullptr};
  bool shows_text = false;
  if (at < end && source[at] == '=') {
    ++at;
    while (at < end && source[at] == ' ') ++at;
    parts.push_back(text_part(text({begin, at})));
    shows_text = true;
  }
  if (at < end && source[at] == '!') {
    ++at;
    part.conversion = at < end ? source[at] : ' ';
    if (part.conversion != 'r' && part.conversion != 's' && part.conversion != 'a') {
      fail({at - 1, at}, "f-string: invalid conversion", "it is one of 's', 'r' and 'a'");
    }
    ++at;
  } else if (shows_text && at < end && source[at] == '}') {
    part.conversion = 'r';
  }
  if (at < end && source[at] == ':') {
    const std::uint32_t spec = ++at;
    for (std::uint32_t open_braces = 0; at < end; ++at) {
      if (source[at] == '{') ++open_braces;
      if (source[at] == '}') {
        if (open_braces == 0) break;
        --open_braces;
      }
    }
    std::vector<JoinedPart> pieces;
    formatted({spec, at}, raw, pieces, depth + 1);
    if (pieces.size() == 1 && pieces[0].value == nullptr) {
      part.spec = make_constant(Literal::of(pieces[0].text), {spec, at});
    } else if (!pieces.empty()) {
      part.spec = make(JoinedExpr{{ExprKind::kJoined, {spec, at}}, seq(pieces)});
    }
  }
  if (at >= end || source[at] != '}') fail({open, open + 1}, "f-string: expecting '}'");
  ++at;
  parts.push_back(part);
}

// "%s: %r" % (a, b): CPython compiles it as the f-string with the same meaning, which formats a
// before it evaluates b. nullptr where it does not.
Expr* Parser::percent_display(Expr* format, Expr* values) {
  if (format->kind != ExprKind::kConstant || values->kind != ExprKind::kTuple) return nullptr;
  const Literal& text = static_cast<ConstantExpr*>(format)->literal;
  const auto* tuple = static_cast<SequenceExpr*>(values);
  if (text.kind != Literal::Kind::kText || tuple->has_star) return nullptr;
  std::vector<JoinedPart> parts;
  std::string plain;
  std::size_t used = 0;
  const std::string_view in = names_.text(text.text());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] != '%') {
      plain += in[i];
      continue;
    }
    if (++i >= in.size()) return nullptr;
    if (in[i] == '%') {
      plain += '%';
      continue;
    }
    if ((in[i] != 's' && in[i] != 'r' && in[i] != 'a') || used >= tuple->items.size) return nullptr;
    if (!plain.empty()) parts.push_back(text_part(plain));
    plain.clear();
    parts.push_back({{}, tuple->items[used++], in[i], nullptr});
  }
  if (used != tuple->items.size) return nullptr;
  if (!plain.empty()) parts.push_back(text_part(plain));
  return make(
      JoinedExpr{{ExprKind::kJoined, {format->place.begin, values->place.end}}, seq(parts)});
}

Expr* Parser::sub_expression(Place range) {
  std::vector<Token> inner = tokenize_expression(tree_.source, range, names_, problems_);
  inner.swap(tokens_);
  const std::size_t outer_at = std::exchange(at_, 0);
  const auto restore = [&] {
    tokens_.swap(inner);
    at_ = outer_at;
  };
  try {
    Expr* value = yield_or_expressions();
    if (kind() != Tok::kEnd) fail(current().at, fmt::format("expected '}}', found {}", found()));
    restore();
    return value;
  } catch (const SyntaxFailure&) {
    restore();
    throw;
  }
}

}  // namespace tidemark::lang
