#include "sim/ops/scalar_type.h"

#include <algorithm>

namespace tidemark::ops {

ScalarType promote(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  if (is_complex(b)) {
    if (b == ScalarType::kComplex64 && a == ScalarType::kFloat64) return ScalarType::kComplex128;
    return b;
  }
  if (is_floating(b)) {
    if (a == ScalarType::kFloat16 && b == ScalarType::kBFloat16) return ScalarType::kFloat32;
    return b;
  }
  if (a == ScalarType::kUInt8 && b == ScalarType::kInt8) return ScalarType::kInt16;
  return b;
}

}  // namespace tidemark::ops
