#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/problem.h"
#include "sim/lang/syntax/names.h"

namespace tidemark::lang {

/// A half-open range of bytes in one source text.
struct Place {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// The lines and columns of a place. Cost: linear in the text before it.
SourceSpan span_of(const std::shared_ptr<const SourceText>& source, Place place);

enum class Tok : std::uint8_t {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kName,
  kInt,
  kFloat,
  kString,
  // Operators and delimiters.
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kColon,
  kSemicolon,
  kDot,
  kEllipsis,
  kArrow,
  kAssign,
  kWalrus,
  kBang,
  kPlus,
  kMinus,
  kStar,
  kDoubleStar,
  kSlash,
  kDoubleSlash,
  kPercent,
  kAt,
  kAmp,
  kPipe,
  kCaret,
  kTilde,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kPlusAssign,
  kMinusAssign,
  kStarAssign,
  kDoubleStarAssign,
  kSlashAssign,
  kDoubleSlashAssign,
  kPercentAssign,
  kAtAssign,
  kAmpAssign,
  kPipeAssign,
  kCaretAssign,
  kShiftLeftAssign,
  kShiftRightAssign,
  // Keywords.
  kAnd,
  kAs,
  kAssert,
  kAsync,
  kAwait,
  kBreak,
  kClass,
  kContinue,
  kDef,
  kDel,
  kElif,
  kElse,
  kExcept,
  kFalse,
  kFinally,
  kFor,
  kFrom,
  kGlobal,
  kIf,
  kImport,
  kIn,
  kIs,
  kLambda,
  kNone,
  kNonlocal,
  kNot,
  kOr,
  kPass,
  kRaise,
  kReturn,
  kTrue,
  kTry,
  kWhile,
  kWith,
  kYield,
};

struct Token {
  Tok kind = Tok::kEnd;
  Place at;
  Name name{};  ///< of kName
};

/// What a token is called in a message: "')'", "'for'", "a name", "the end of the line".
std::string_view token_name(Tok kind);

/// Splits a range of whole lines into tokens, indentation included. Problems found on the way are
/// appended and the scan goes on behind them. The last token is kEnd.
std::vector<Token> tokenize(const std::shared_ptr<const SourceText>& source, Place range,
                            Names& names, std::vector<Problem>& problems);
/// All of a text.
Place whole(const SourceText& source);

/// Splits a range of the text as if inside brackets: no newlines, no indentation (an f-string's
/// expression, a YAML scalar that is one expression).
std::vector<Token> tokenize_expression(const std::shared_ptr<const SourceText>& source, Place range,
                                       Names& names, std::vector<Problem>& problems);

}  // namespace tidemark::lang
