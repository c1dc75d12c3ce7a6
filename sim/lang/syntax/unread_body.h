#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/lang/syntax/ast.h"
#include "sim/lang/syntax/parser.h"

/// Functions whose bodies are read when they are called first: those of installed packages, of
/// which a run calls few. In place of such a body stands a `pass` that is as long as its lines.
namespace tidemark::lang {

/// When the bodies of functions are read that are defined at the top of a file or in a class there.
enum class Bodies : std::uint8_t {
  kAtOnce,
  kWhenCalled,  ///< what is wrong in a body is found by the call
};

/// As tokenize() of lexer.h has it. A body that is left unread is four tokens: an indent, a `pass`
/// of whole lines, a newline, a dedent.
std::vector<Token> tokenize(const std::shared_ptr<const SourceText>& source, Place range,
                            Names& names, std::vector<Problem>& problems, Bodies bodies);

/// As parse_module() of parser.h has it.
std::shared_ptr<SyntaxTree> parse_module(std::shared_ptr<const SourceText> source, Names& names,
                                         std::vector<Problem>& problems, Bodies bodies);

/// Where the block ends whose lines begin at `at`, without making tokens of it: at the first line
/// of code that is indented by no more than `width` columns, or at the text's end. nullopt: a
/// string or a bracket in it has no end.
/// Cost: linear in the block, a few instructions a byte.
std::optional<std::uint32_t> end_of_block(std::string_view text, std::uint32_t at,
                                          std::uint32_t width);

/// The first line of code within whole lines, without its indentation; it goes on inside brackets
/// and strings. Cost: linear in what it passes over.
std::string_view first_line_of_code(std::string_view lines);

/// Shorter bodies are always read. It is more than what "pass" has.
constexpr std::uint32_t kShortestUnread = 16;

/// Whether the function's body is not known yet, nor the variables in it.
inline bool is_unread(const Code& code) {
  if (code.body.size != 1 || code.body.data[0]->kind != StmtKind::kPass) return false;
  const Place& lines = code.body.data[0]->place;
  return lines.end - lines.begin >= kShortestUnread;
}

/// Parses and resolves the body of a function that is unread; the tree of its file gets the nodes.
/// Where nothing is wrong, the function has it then. Requires: its file is resolved.
void read_body(Code& function, Names& names, const GlobalSlot& globals,
               std::vector<Problem>& problems);

}  // namespace tidemark::lang
