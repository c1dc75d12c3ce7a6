#pragma once

#include <cstdint>
#include <string_view>

#include "sim/lang/syntax/names.h"

namespace tidemark::lang {

/// In the order of name::kAdd.., kRadd.., kIadd...
enum class BinaryOp : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kMatMul,
  kTrueDiv,
  kFloorDiv,
  kMod,
  kPow,
  kLShift,
  kRShift,
  kAnd,
  kOr,
  kXor,
};
enum class UnaryOp : std::uint8_t { kNeg, kPos, kInvert };  // in the order of name::kNeg..
enum class CompareOp : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe
};  // in the order of name::kEq..

constexpr Name offset_name(name::Known first, std::uint8_t offset) {
  return static_cast<Name>(static_cast<std::uint32_t>(first) + offset);
}
constexpr Name dunder(BinaryOp op) {
  return offset_name(name::kAdd, static_cast<std::uint8_t>(op));
}
constexpr Name reflected_dunder(BinaryOp op) {
  return offset_name(name::kRadd, static_cast<std::uint8_t>(op));
}
constexpr Name inplace_dunder(BinaryOp op) {
  return offset_name(name::kIadd, static_cast<std::uint8_t>(op));
}
constexpr Name dunder(UnaryOp op) { return offset_name(name::kNeg, static_cast<std::uint8_t>(op)); }
constexpr Name dunder(CompareOp op) {
  return offset_name(name::kEq, static_cast<std::uint8_t>(op));
}

/// a < b is b > a.
constexpr CompareOp swapped(CompareOp op) {
  switch (op) {
    case CompareOp::kLt:
      return CompareOp::kGt;
    case CompareOp::kLe:
      return CompareOp::kGe;
    case CompareOp::kGt:
      return CompareOp::kLt;
    case CompareOp::kGe:
      return CompareOp::kLe;
    default:
      return op;
  }
}

std::string_view symbol(BinaryOp op);   ///< as Python's messages write it: "+", "** or pow()"
std::string_view symbol(UnaryOp op);    ///< "-"
std::string_view symbol(CompareOp op);  ///< "<="

}  // namespace tidemark::lang
