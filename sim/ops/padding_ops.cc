#include "sim/ops/padding_ops.h"

#include <fmt/format.h>

#include "sim/ops/checked_sizes.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

Dims padded_sizes(const Tensor& self, const Pads& pad) {
  const std::size_t n = self.sizes().size();
  Dims sizes = self.sizes();
  for (std::size_t i = 0; i * 2 < pad.size(); ++i) {
    std::int64_t& size = sizes[n - 1 - i];
    size = plus(plus(size, pad[2 * i], "pad"), pad[2 * i + 1], "pad");
  }
  return sizes;
}

}  // namespace

Tensor constant_pad_kernel(Context& c, const Tensor& self, const Pads& pad) {
  if (pad.size() % 2 != 0) {
    throw OpError(fmt::format("Length of pad must be even but instead it equals {}", pad.size()));
  }
  const std::size_t n = self.sizes().size();
  if (pad.size() / 2 > n) {
    throw OpError(
        fmt::format("Length of pad should be no more than twice the number of dimensions of the "
                    "input. Pad length is {} while the input has {} dimensions.",
                    pad.size(), n));
  }
  Tensor inner = self;
  bool cuts_only = true;
  for (std::size_t i = 0; i * 2 < pad.size(); ++i) {
    const auto d = static_cast<std::int64_t>(n - 1 - i);
    const std::int64_t left = pad[2 * i];
    const std::int64_t right = pad[2 * i + 1];
    const std::int64_t cut_left = std::max<std::int64_t>(-left, 0);
    const std::int64_t cut_right = std::max<std::int64_t>(-right, 0);
    const std::int64_t length = self.size(d);
    if (length + left + right < 0) {
      throw OpError(
          fmt::format("The input size {}, plus negative padding {} and {} resulted in a negative "
                      "output size, which is invalid. Check dimension {} of your input.",
                      length, left, right, d));
    }
    cuts_only = cuts_only && left <= 0 && right <= 0;
    if (cut_left + cut_right > 0) inner = narrow(inner, d, cut_left, length - cut_left - cut_right);
  }
  if (cuts_only) return clone(c, inner);
  return c.empty_in(padded_sizes(self, pad), self.suggest_memory_format(), self.dtype(),
                    self.device());
}

Tensor constant_pad(Context& c, const Tensor& self, const Pads& pad) {
  Op op(c, "constant_pad_nd", "ConstantPadNdBackward0", {&self});
  return op.result(constant_pad_kernel(c, self, pad), [pad](Backward& b) {
    Pads negated = pad;
    for (std::int64_t& p : negated) p = -p;
    const LabelScope label(b.c, "constant_pad_nd");
    b.grads[0] = constant_pad_kernel(b.c, b.grad(), negated);
  });
}

namespace {

/// reflection_pad and replication_pad of 1 to 3 dimensions: one output; backward a zero-filled
/// input.
Tensor mirror_pad(Context& c, const Tensor& self, const Pads& pad, std::string_view name,
                  std::string_view node, bool reflect) {
  const std::size_t n = self.sizes().size();
  for (std::size_t i = 0; reflect && i * 2 < pad.size(); ++i) {
    const std::int64_t length = self.sizes()[n - 1 - i];
    if (pad[2 * i] >= length || pad[2 * i + 1] >= length) {
      throw OpError(
          fmt::format("Argument #4: Padding size should be less than the corresponding input "
                      "dimension, but got: padding ({}, {}) at dimension {} of input {}",
                      pad[2 * i], pad[2 * i + 1], n - 1 - i, to_string(self.sizes())));
    }
  }
  Op op(c, name, node, {&self});
  op.save(0, self);
  const Dims sizes = padded_sizes(self, pad);
  Tensor out = c.empty(sizes, self.dtype(), self.device());
  // Replication, and reflection's gradient in three dimensions, read any strides.
  if (reflect) {
    const Tensor copy = contiguous(c, self);
  }
  return op.result(std::move(out),
                   [old = self.sizes(), copies = reflect && pad.size() < 6](Backward& b) {
                     b.grads[0] = b.c.empty(old, b.grad().dtype(), b.grad().device());
                     if (copies) {
                       const Tensor copied = contiguous(b.c, b.grad());
                     }
                   });
}

}  // namespace

Tensor pad(Context& c, const Tensor& self, const Pads& pad, const std::string& mode) {
  if (mode == "constant") return constant_pad(c, self, pad);
  const std::int64_t spatial = static_cast<std::int64_t>(pad.size()) / 2;
  if (pad.size() % 2 != 0 || spatial < 1 || spatial > 3 ||
      (self.dim() != spatial + 1 && self.dim() != spatial + 2)) {
    throw OpError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
  }
  const auto dims = static_cast<std::size_t>(spatial) - 1U;
  if (mode == "reflect") {
    static constexpr std::string_view kNames[] = {"reflection_pad1d", "reflection_pad2d",
                                                  "reflection_pad3d"};
    static constexpr std::string_view kNodes[] = {
        "ReflectionPad1DBackward0", "ReflectionPad2DBackward0", "ReflectionPad3DBackward0"};
    return mirror_pad(c, self, pad, kNames[dims], kNodes[dims], true);
  }
  if (mode == "replicate") {
    static constexpr std::string_view kNames[] = {"replication_pad1d", "replication_pad2d",
                                                  "replication_pad3d"};
    static constexpr std::string_view kNodes[] = {
        "ReplicationPad1DBackward0", "ReplicationPad2DBackward0", "ReplicationPad3DBackward0"};
    return mirror_pad(c, self, pad, kNames[dims], kNodes[dims], false);
  }
  throw OpError(fmt::format("Unrecognised padding mode {}", mode));
}

}  // namespace tidemark::ops
