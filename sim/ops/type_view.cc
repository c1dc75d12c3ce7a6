#include "sim/ops/type_view.h"

#include <fmt/format.h>

#include <array>

#include "sim/ops/copy_slices.h"

namespace tidemark::ops {

std::string_view tensor_type_name(ScalarType type) {
  static constexpr std::array<std::string_view, kScalarTypes.size()> kNames{
      "Bool", "Byte",     "Char",  "Short",  "Int",          "Long",         "UInt64",
      "Half", "BFloat16", "Float", "Double", "ComplexFloat", "ComplexDouble"};
  return kNames[static_cast<std::size_t>(type)];
}

Tensor view_as_type(const Tensor& self, ScalarType type) {
  const auto from = static_cast<std::int64_t>(element_bytes(self.dtype()));
  const auto to = static_cast<std::int64_t>(element_bytes(type));
  Dims sizes = self.sizes();
  Dims strides = self.strides();
  std::int64_t offset = self->offset;
  const auto require = [&](bool holds, std::string_view what, std::string_view got) {
    if (holds) return;
    throw OpError(fmt::format("{} to view {} as {} (different element sizes){}", what,
                              tensor_type_name(self.dtype()), tensor_type_name(type), got));
  };
  const auto but_got = [](std::int64_t value) { return fmt::format(", but got {}", value); };
  if (from != to) {
    require(!sizes.empty(), "self.dim() cannot be 0", "");
    require(strides.back() == 1, "self.stride(-1) must be 1", but_got(strides.back()));
  }
  if (from > to) {
    const std::int64_t ratio = from / to;
    for (std::size_t i = 0; i + 1 < strides.size(); ++i) strides[i] *= ratio;
    sizes.back() *= ratio;
    offset *= ratio;
  } else if (from < to) {
    const std::int64_t ratio = to / from;
    require(sizes.back() % ratio == 0, fmt::format("self.size(-1) must be divisible by {}", ratio),
            but_got(sizes.back()));
    require(offset % ratio == 0,
            fmt::format("self.storage_offset() must be divisible by {}", ratio), but_got(offset));
    for (std::size_t i = 0; i + 1 < strides.size(); ++i) {
      require(strides[i] % ratio == 0,
              fmt::format("self.stride({}) must be divisible by {}", i, ratio),
              but_got(strides[i]));
      strides[i] /= ratio;
    }
    sizes.back() /= ratio;
    offset /= ratio;
  }
  Tensor out = Context::alias(self, sizes, strides, offset);
  out->dtype = type;
  share_version(self, out);
  return out;
}

}  // namespace tidemark::ops
