#include "sim/ops/number_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace tidemark::ops {

namespace {

constexpr WrittenNumbers kWrittenNumbers[] = {
    {"constant_pad_nd", 2, 2}, {"fill_", 1, 1},       {"full", 1, 1},        {"full_like", 1, 1},
    {"index_fill", 3, 3},      {"index_fill_", 3, 3}, {"masked_fill", 2, 2}, {"masked_fill_", 2, 2},
    {"_nn_pad", 3, 3},         {"new_full", 2, 2},    {"scatter", 3, 3},     {"scatter_", 3, 3},
    {"threshold", 2, 2},       {"threshold_", 2, 2},  {"where", 1, 2, true},
};

struct NumberRange {
  ScalarType type;
  std::string_view name;  ///< as C++ calls it
  double least;
  double most;
  bool is_float = false;
};

template <class T>
constexpr NumberRange whole_range(ScalarType type, std::string_view name) {
  return {type, name, static_cast<double>(std::numeric_limits<T>::lowest()),
          static_cast<double>(std::numeric_limits<T>::max())};
}
constexpr NumberRange real_range(ScalarType type, std::string_view name, double most) {
  return {type, name, -most, most, true};
}

/// Negative numbers wrap in a byte without a sign, down to -255.
constexpr NumberRange kNumberRanges[] = {
    {ScalarType::kUInt8, "uint8_t", -255, 255},
    whole_range<std::int8_t>(ScalarType::kInt8, "int8_t"),
    whole_range<std::int16_t>(ScalarType::kInt16, "int16_t"),
    whole_range<std::int32_t>(ScalarType::kInt32, "int"),
    real_range(ScalarType::kFloat16, "c10::Half", 65504),
    real_range(ScalarType::kBFloat16, "c10::BFloat16", 0x1.FEp127),
    real_range(ScalarType::kFloat32, "float", std::numeric_limits<float>::max()),
};

bool holds_number(double number, const NumberRange& range) {
  if (range.is_float && !std::isfinite(number)) return true;
  return number >= range.least && number <= range.most;
}

}  // namespace

const WrittenNumbers* written_numbers(std::string_view op) {
  const auto* found = std::ranges::find(kWrittenNumbers, op, &WrittenNumbers::op);
  return found == std::end(kWrittenNumbers) ? nullptr : found;
}

void check_number_fits(const Argument& number, ScalarType type) {
  const auto* range = std::ranges::find(kNumberRanges, type, &NumberRange::type);
  if (range == std::end(kNumberRanges)) return;
  const auto* whole_number = std::get_if<std::int64_t>(&number);
  const auto* real_number = std::get_if<double>(&number);
  if (whole_number == nullptr && real_number == nullptr) return;
  const double value = whole_number != nullptr ? static_cast<double>(*whole_number) : *real_number;
  if (holds_number(value, *range)) return;
  throw OpError(fmt::format("value cannot be converted to type {} without overflow", range->name));
}

}  // namespace tidemark::ops
