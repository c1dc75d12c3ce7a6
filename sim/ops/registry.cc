#include "sim/ops/registry.h"

#include <algorithm>
#include <array>
#include <limits>

#include "sim/ops/families.h"
#include "sim/ops/op_family.h"

namespace tidemark::ops {

Tensor Arguments::operand(std::size_t i) const {
  if (std::holds_alternative<Tensor>(values_[i])) return tensor(i);
  ScalarType type = ScalarType::kFloat64;
  if (std::holds_alternative<bool>(values_[i])) type = ScalarType::kBool;
  if (std::holds_alternative<std::int64_t>(values_[i])) type = ScalarType::kInt64;
  return c_.number(type);
}

std::int64_t Arguments::integer(std::size_t i) const {
  if (const bool* b = std::get_if<bool>(&values_[i])) return *b ? 1 : 0;
  return std::get<std::int64_t>(values_[i]);
}
std::optional<std::int64_t> Arguments::optional_integer(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return integer(i);
}
double Arguments::number(std::size_t i) const {
  if (const double* d = std::get_if<double>(&values_[i])) return *d;
  if (std::holds_alternative<Tensor>(values_[i])) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(integer(i));
}
std::optional<double> Arguments::optional_number(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return number(i);
}
std::optional<bool> Arguments::optional_flag(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return flag(i);
}
std::optional<Dims> Arguments::optional_dims(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return dims(i);
}
Dims Arguments::dims_of(std::size_t i, std::size_t count) const {
  const Dims& given = dims(i);
  return given.size() == 1 ? Dims::filled(count, given[0]) : given;
}
std::optional<ScalarType> Arguments::dtype(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return std::get<ScalarType>(values_[i]);
}
std::optional<Device> Arguments::device(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return std::get<Device>(values_[i]);
}
std::optional<MemoryFormat> Arguments::memory_format(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return std::get<MemoryFormat>(values_[i]);
}

namespace {

constexpr std::array kFamilies{&pointwise_rules, &foreach_ops};

}  // namespace

std::span<const OpDef> op_family(std::size_t index) { return kFamilies[index](); }

std::span<const std::span<const OpDef>> op_families() {
  static const auto kAll = [] {
    std::array<std::span<const OpDef>, kFamilies.size()> all;
    std::ranges::transform(kFamilies, all.begin(), [](const auto family) { return family(); });
    return all;
  }();
  return kAll;
}

}  // namespace tidemark::ops
