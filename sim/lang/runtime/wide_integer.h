#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lang/runtime/class.h"

/// Integers beyond 64 bits.
namespace tidemark::lang {

/// A sign and the magnitude in pieces of 32 bits, the least first; the last piece is not zero.
struct Wide {
  bool negative = false;
  std::vector<std::uint32_t> pieces;
};

/// An int that 64 bits do not hold. Immutable; what its operators give is an ordinary int where 64
/// bits hold it. Errors: a refusal of more than 65,536 bits.
class WideInteger final : public Instance {
 public:
  WideInteger(Heap& heap, Ref<ClassObject> type, Wide wide)
      : Instance(heap, std::move(type), Kind::kInstance, kHostKind), number(std::move(wide)) {}
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }

  Value unary(Interp& interp, UnaryOp op) override;
  Value binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) override;
  Value compare(Interp& interp, CompareOp op, const Value& other) override;
  bool truth(Interp& interp) override;
  std::optional<std::uint64_t> hash(Interp& interp) override;
  std::string repr(Interp& interp) override;
  std::string format(Interp& interp, std::string_view spec) override;
  Value deep_copy(Interp& interp, DeepCopies& copies) override;

  const Wide number;

 private:
  static constexpr std::uint16_t kHostKind = 0xFFFB;  // no other floor's
};

/// Any integer; nullopt: the value is none.
std::optional<Wide> wide_of(const Value& value);
/// The int of that number.
Value integer_of(Interp& interp, Wide number);
/// An operator of two integers, of any size. Errors: as Python's.
Value wide_binary(Interp& interp, BinaryOp op, const Value& left, const Value& right);
/// The number that digits of a base spell. Requires: they are digits of it.
Wide wide_from(Interp& interp, std::string_view digits, int base);
/// The whole part of a finite number.
Wide wide_from(double number);
/// Errors: OverflowError where no double is so large.
double real_of(Interp& interp, const Wide& number);
/// How many bits the magnitude has.
std::size_t bits_of(const Wide& number);
/// The pieces of two's complement, so many of them.
std::vector<std::uint32_t> complement_of(const Wide& number, std::size_t count);
Wide from_complement(std::vector<std::uint32_t> pieces);

}  // namespace tidemark::lang
