#pragma once

#include <complex>

#include "sim/lang/runtime/class.h"

namespace tidemark::lang {

/// A Python complex number: `1j`, complex(re, im). Immutable; operators and repr are CPython's.
class Complex final : public Instance {
 public:
  Complex(Heap& heap, Ref<ClassObject> type, std::complex<double> number)
      : Instance(heap, std::move(type), Kind::kInstance, kHostKind), value(number) {}
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }

  Value get_missing_attr(Interp& interp, Name name) override;
  Value unary(Interp& interp, UnaryOp op) override;
  Value binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) override;
  Value compare(Interp& interp, CompareOp op, const Value& other) override;
  bool truth(Interp& interp) override;
  std::optional<std::uint64_t> hash(Interp& interp) override;
  std::string repr(Interp& interp) override;
  Value deep_copy(Interp& interp, DeepCopies& copies) override;

  const std::complex<double> value;

 private:
  static constexpr std::uint16_t kHostKind = 0xFFFE;  // no other floor's
};

/// A complex number, as a value.
Value make_complex(Interp& interp, std::complex<double> number);

/// The built-in `complex` and what literals call.
void add_complex(Interp& interp);

}  // namespace tidemark::lang
