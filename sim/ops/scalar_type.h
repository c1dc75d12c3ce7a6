#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/bytes.h"

namespace tidemark::ops {

/// torch.dtype. The order of the first group follows type promotion from narrow to wide within a
/// category.
enum class ScalarType : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};

struct ScalarTypeInfo {
  std::string_view name;   ///< "float32": torch.float32
  std::string_view alias;  ///< "float": torch.float; empty where there is none
  Bytes bytes;
};
inline constexpr std::array<ScalarTypeInfo, 13> kScalarTypes{{
    {"bool", "", 1},
    {"uint8", "", 1},
    {"int8", "", 1},
    {"int16", "short", 2},
    {"int32", "int", 4},
    {"int64", "long", 8},
    {"uint64", "", 8},
    {"float16", "half", 2},
    {"bfloat16", "", 2},
    {"float32", "float", 4},
    {"float64", "double", 8},
    {"complex64", "cfloat", 8},
    {"complex128", "cdouble", 16},
}};

constexpr const ScalarTypeInfo& info(ScalarType type) {
  return kScalarTypes[static_cast<std::size_t>(type)];
}
constexpr Bytes element_bytes(ScalarType type) { return info(type).bytes; }
constexpr bool is_complex(ScalarType type) { return type >= ScalarType::kComplex64; }
constexpr bool is_floating(ScalarType type) {
  return type >= ScalarType::kFloat16 && type <= ScalarType::kFloat64;
}
constexpr bool is_integral(ScalarType type) {
  return type >= ScalarType::kUInt8 && type <= ScalarType::kUInt64;
}
constexpr bool is_half(ScalarType type) {
  return type == ScalarType::kFloat16 || type == ScalarType::kBFloat16;
}
/// Gradients exist for floating and complex types only.
constexpr bool is_differentiable(ScalarType type) { return type >= ScalarType::kFloat16; }

/// torch.promote_types. Source: torch's promotion table (bool < integers < floats < complex;
/// float16 with bfloat16 is float32; uint8 with int8 is int16).
ScalarType promote(ScalarType a, ScalarType b);
/// The type that reductions and norms accumulate in on a GPU: float32 for halves.
constexpr ScalarType accumulate_type(ScalarType type) {
  return is_half(type) ? ScalarType::kFloat32 : type;
}

}  // namespace tidemark::ops
