#include "sim/lang/syntax/operators.h"

#include <array>

namespace tidemark::lang {

std::string_view symbol(BinaryOp op) {
  constexpr std::array<std::string_view, 13> kSymbols = {
      "+", "-", "*", "@", "/", "//", "%", "** or pow()", "<<", ">>", "&", "|", "^"};
  return kSymbols[static_cast<std::size_t>(op)];
}

std::string_view symbol(UnaryOp op) {
  constexpr std::array<std::string_view, 3> kSymbols = {"-", "+", "~"};
  return kSymbols[static_cast<std::size_t>(op)];
}

std::string_view symbol(CompareOp op) {
  constexpr std::array<std::string_view, 6> kSymbols = {"==", "!=", "<", "<=", ">", ">="};
  return kSymbols[static_cast<std::size_t>(op)];
}

}  // namespace tidemark::lang
