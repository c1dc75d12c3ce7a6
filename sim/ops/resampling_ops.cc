#include "sim/ops/resampling_ops.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sim/ops/autocast.h"
#include "sim/ops/checked_sizes.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pooling_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// How one upsampling kernel deals with memory.
struct Upsample {
  std::string_view mode;  ///< as in F.interpolate
  std::size_t spatial;
  bool antialias;
  std::string_view name;
  std::string_view node;
  bool copies_input;           ///< reads contiguous inputs only
  std::int64_t last_channels;  ///< fewest channels of its channels_last kernel; 0: it has none
  bool contiguous_gradient;    ///< the input's gradient is made contiguous, whatever comes in
};

// Source: aten/src/ATen/native/cuda/UpSample*.cu.
constexpr std::array kUpsamples{
    Upsample{"nearest", 1, false, "upsample_nearest1d", "UpsampleNearest1DBackward0", true, 0,
             true},
    Upsample{"nearest", 2, false, "upsample_nearest2d", "UpsampleNearest2DBackward0", true, 4,
             false},
    Upsample{"nearest", 3, false, "upsample_nearest3d", "UpsampleNearest3DBackward0", true, 0,
             true},
    Upsample{"nearest-exact", 1, false, "_upsample_nearest_exact1d",
             "UpsampleNearestExact1DBackward0", true, 0, true},
    Upsample{"nearest-exact", 2, false, "_upsample_nearest_exact2d",
             "UpsampleNearestExact2DBackward0", true, 4, false},
    Upsample{"nearest-exact", 3, false, "_upsample_nearest_exact3d",
             "UpsampleNearestExact3DBackward0", true, 0, true},
    Upsample{"linear", 1, false, "upsample_linear1d", "UpsampleLinear1DBackward0", false, 0, true},
    Upsample{"bilinear", 2, false, "upsample_bilinear2d", "UpsampleBilinear2DBackward0", false, 16,
             false},
    Upsample{"trilinear", 3, false, "upsample_trilinear3d", "UpsampleTrilinear3DBackward0", false,
             0, false},
    Upsample{"bicubic", 2, false, "upsample_bicubic2d", "UpsampleBicubic2DBackward0", false, 0,
             true},
    Upsample{"bilinear", 2, true, "_upsample_bilinear2d_aa", "UpsampleBilinear2DAaBackward0", true,
             0, false},
    Upsample{"bicubic", 2, true, "_upsample_bicubic2d_aa", "UpsampleBicubic2DAaBackward0", true, 0,
             true},
};

MemoryFormat format_for(const Tensor& x) { return x.suggest_memory_format(); }

Tensor upsample_backward(Context& c, const Tensor& grad, const Dims& old, const Upsample& u) {
  const MemoryFormat format = u.contiguous_gradient ? MemoryFormat::kContiguous : format_for(grad);
  Tensor out = c.empty_in(old, format, grad.dtype(), grad.device());
  const bool same = u.spatial == 2 && !u.antialias && u.mode != "bicubic" && old == grad.sizes();
  if (same) return out;  // copied as it is
  const bool in_last = u.last_channels > 0 && format == MemoryFormat::kChannelsLast &&
                       (u.mode == "bilinear" || old[1] >= u.last_channels);
  if (in_last) {
    const Tensor copy = contiguous_kernel(c, grad, format);
    return out;
  }
  if (u.antialias) {
    const Tensor copy = contiguous(c, grad);
    return out;
  }
  if (u.mode.starts_with("nearest")) {
    const Tensor plain = contiguous(c, out);
    const Tensor copy = contiguous(c, grad);
    return out;
  }
  const Tensor copy = contiguous(c, grad);
  const Tensor plain = contiguous(c, out);
  return out;
}

Tensor upsample(Context& c, const Tensor& input, const Dims& sizes, const Upsample& u) {
  Op op(c, u.name, u.node, {&input});
  const MemoryFormat format = format_for(input);
  Tensor out = c.empty_in(sizes, format, input.dtype(), input.device());
  const bool in_last = u.last_channels > 0 && format == MemoryFormat::kChannelsLast &&
                       input.size(1) >= u.last_channels;
  if (in_last) {
    const Tensor copy = contiguous_kernel(c, input, format);
  } else if (u.copies_input) {
    const Tensor plain = contiguous(c, out);
    const Tensor copy = contiguous(c, input);
  }
  return op.result(std::move(out), [old = input.sizes(), &u](Backward& b) {
    b.grads[0] = upsample_backward(b.c, b.grad(), old, u);
  });
}

}  // namespace

Tensor interpolate(Context& c, Tensor input, std::optional<Dims> size,
                   const std::vector<double>& scale_factor, const std::string& mode,
                   bool antialias) {
  const std::size_t rank = input.sizes().size();
  if (rank < 3) {
    throw OpError(
        fmt::format("Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the "
                    "modes: nearest | linear | bilinear | bicubic | trilinear | area | "
                    "nearest-exact (got {})",
                    rank, mode));
  }
  const std::size_t spatial = rank - 2;
  if (size.has_value() == !scale_factor.empty()) {
    throw OpError(size ? "only one of size or scale_factor should be defined"
                       : "either size or scale_factor should be defined");
  }
  const std::size_t given = size ? size->size() : scale_factor.size();
  if (given != 1 && given != spatial) {
    throw OpError(
        fmt::format("Input and {} must have the same number of spatial dimensions, but got input "
                    "with {} and {}",
                    size ? "output" : "scale_factor", spatial, given));
  }
  Dims sizes = input.sizes();
  for (std::size_t i = 0; i < spatial; ++i) {
    if (size) {
      sizes[2 + i] = size->size() == 1 ? (*size)[0] : (*size)[i];
    } else {
      const double scale = scale_factor.size() == 1 ? scale_factor[0] : scale_factor[i];
      const double scaled = std::floor(static_cast<double>(sizes[2 + i]) * scale);
      constexpr double kMost = 9223372036854775808.0;  // 2^63
      if (!(std::abs(scaled) < kMost))
        throw OpError("value cannot be converted to type int64_t without overflow");
      sizes[2 + i] = static_cast<std::int64_t>(scaled);
    }
    if (sizes[2 + i] <= 0) {
      throw OpError(
          fmt::format("Input and output sizes should be greater than 0, but got input {} output {}",
                      to_string(input.sizes()), to_string(sizes)));
    }
  }
  if (mode == "area") {
    Dims wanted;
    for (std::size_t i = 0; i < spatial; ++i) wanted.push_back(sizes[2 + i]);
    if (wanted.size() == 1) return adaptive_avg_pool1d(c, input, wanted);
    return wanted.size() == 2 ? adaptive_avg_pool2d(c, input, wanted)
                              : adaptive_avg_pool3d(c, input, wanted);
  }
  for (const Upsample& u : kUpsamples) {
    if (u.mode != mode || u.spatial != spatial || u.antialias != antialias) continue;
    const AutocastScope cast(c, CastPolicy::kFp32, {&input});
    return upsample(c, input, sizes, u);
  }
  throw OpError(
      fmt::format("Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the "
                  "modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact "
                  "(got {}{})",
                  rank, mode, antialias ? ", antialias" : ""));
}

Tensor grid_sample(Context& c, Tensor input, Tensor grid) {
  const AutocastScope cast(c, CastPolicy::kPromote, {&input, &grid});
  const std::int64_t rank = input.dim();
  if ((rank != 4 && rank != 5) || grid.dim() != rank) {
    throw OpError(
        fmt::format("grid_sampler(): expected 4D or 5D input and grid with same number of "
                    "dimensions, but got input with sizes {} and grid with sizes {}",
                    to_string(input.sizes()), to_string(grid.sizes())));
  }
  if (input.size(0) != grid.size(0)) {
    throw OpError(
        fmt::format("grid_sampler(): expected grid and input to have same batch size, but got "
                    "input with sizes {} and grid with sizes {}",
                    to_string(input.sizes()), to_string(grid.sizes())));
  }
  if (input.dtype() != grid.dtype()) {
    throw OpError(fmt::format("expected scalar type {} but found {}", info(input.dtype()).name,
                              info(grid.dtype()).name));
  }
  const bool flat = rank == 4;
  Op op(c, flat ? "grid_sampler_2d" : "grid_sampler_3d",
        flat ? "GridSampler2DBackward0" : "GridSampler3DBackward0", {&input, &grid});
  op.save(0, grid);
  op.save(1, input);
  Dims sizes{input.size(0), input.size(1)};
  for (std::int64_t i = 1; i + 1 < rank; ++i) sizes.push_back(grid.size(i));
  return op.result(c.empty(sizes, input.dtype(), input.device()), [](Backward& b) {
    const Tensor& in = b.saved[1];
    const Tensor& places = b.saved[0];
    Tensor grad_input;
    if (b.needs(0)) grad_input = b.c.empty(in.sizes(), in.dtype(), in.device());
    // Made whether wanted or not.
    Tensor grad_grid = b.c.empty(places.sizes(), places.dtype(), places.device());
    b.grads[0] = std::move(grad_input);
    if (b.needs(1)) b.grads[1] = std::move(grad_grid);
  });
}

namespace {

/// Everything that reorders blocks of the last dimensions: one contiguous copy, and backward the
/// inverse.
Tensor reordered(Context& c, const Tensor& self, const Dims& sizes, std::string_view name,
                 std::string_view node) {
  Op op(c, name, node, {&self});
  return op.result(c.empty(sizes, self.dtype(), self.device()), [old = self.sizes()](Backward& b) {
    b.grads[0] = b.c.empty(old, b.grad().dtype(), b.grad().device());
  });
}

}  // namespace

Tensor pixel_shuffle(Context& c, const Tensor& self, std::int64_t factor) {
  if (self.dim() < 3) {
    throw OpError(
        fmt::format("pixel_shuffle expects input to have at least 3 dimensions, but got input with "
                    "{} dimension(s)",
                    self.dim()));
  }
  const std::int64_t channels = self.size(-3);
  const std::int64_t square = times(factor, factor, "pixel_shuffle");
  if (factor <= 0 || channels % square != 0) {
    throw OpError(
        fmt::format("pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
                    "square of upscale_factor, but input.size(-3)={} is not divisible by {}",
                    channels, square));
  }
  Dims sizes = self.sizes();
  const std::size_t n = sizes.size();
  sizes[n - 3] /= square;
  sizes[n - 2] = times(sizes[n - 2], factor, "pixel_shuffle");
  sizes[n - 1] = times(sizes[n - 1], factor, "pixel_shuffle");
  return reordered(c, self, sizes, "pixel_shuffle", "PixelShuffleBackward0");
}

Tensor pixel_unshuffle(Context& c, const Tensor& self, std::int64_t factor) {
  if (self.dim() < 3) {
    throw OpError(
        fmt::format("pixel_unshuffle expects input to have at least 3 dimensions, but got input "
                    "with {} dimension(s)",
                    self.dim()));
  }
  Dims sizes = self.sizes();
  const std::size_t n = sizes.size();
  if (factor <= 0 || sizes[n - 2] % factor != 0 || sizes[n - 1] % factor != 0) {
    throw OpError(
        fmt::format("pixel_unshuffle expects height and width to be divisible by downscale_factor, "
                    "but input of size {} is not divisible by {}",
                    to_string(sizes), factor));
  }
  const std::int64_t square = times(factor, factor, "pixel_unshuffle");
  sizes[n - 3] = times(sizes[n - 3], square, "pixel_unshuffle");
  sizes[n - 2] /= factor;
  sizes[n - 1] /= factor;
  return reordered(c, self, sizes, "pixel_unshuffle", "PixelUnshuffleBackward0");
}

Tensor channel_shuffle(Context& c, const Tensor& self, std::int64_t groups) {
  if (self.dim() < 3 || groups <= 0 || self.size(1) % groups != 0) {
    throw OpError(fmt::format(
        "Number of channels must be divisible by groups. Got {} channels and {} groups.",
        self.dim() > 1 ? self.size(1) : 0, groups));
  }
  return reordered(c, self, self.sizes(), "channel_shuffle", "ChannelShuffleBackward0");
}

namespace {

/// im2col and col2im start from a tensor of their input's size and resize it: a smaller result
/// keeps the larger memory.
Tensor resized_from(Context& c, const Tensor& input, const Dims& sizes) {
  Tensor first = c.empty(input.sizes(), input.dtype(), input.device());
  const Tensor copy = contiguous(c, input);
  if (numel_of(sizes) > input.numel()) {
    Tensor resized = c.empty(sizes, input.dtype(), input.device());
    first.reset();
    return resized;
  }
  return Context::alias(first, sizes, contiguous_strides(sizes), 0);
}

/// Source: at::native::im2col_shape_check.
void check_windows(const UnfoldOptions& o) {
  const auto check = [](const Dims& given, std::int64_t least, std::string_view what,
                        std::string_view letters) {
    if (given[0] >= least && given[1] >= least) return;
    throw OpError(fmt::format("{}, but got {}_height: {} {}_width: {}", what, letters, given[0],
                              letters, given[1]));
  };
  check(o.kernel, 1, "kernel size should be greater than zero", "kernel");
  check(o.dilation, 1, "dilation should be greater than zero", "dilation");
  check(o.padding, 0, "padding should be non-negative", "pad");
  check(o.stride, 1, "stride should be greater than zero", "stride");
}

std::int64_t windows(const Dims& spatial, const UnfoldOptions& o, std::size_t i) {
  constexpr std::string_view kWhat = "im2col";
  const std::int64_t padded = plus(spatial[i], times(2, o.padding[i], kWhat), kWhat);
  return (padded - reach_of(o.kernel[i], o.dilation[i], kWhat)) / o.stride[i] + 1;
}

}  // namespace

Tensor unfold(Context& c, const Tensor& input, const UnfoldOptions& o) {
  const bool batched = input.dim() == 4;
  if (!batched && input.dim() != 3) {
    throw OpError(
        fmt::format("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
                    "non-zero dimensions for input, but got: {}",
                    to_string(input.sizes())));
  }
  check_windows(o);
  const Dims spatial{input.size(-2), input.size(-1)};
  const std::int64_t places = times(windows(spatial, o, 0), windows(spatial, o, 1), "im2col");
  if (windows(spatial, o, 0) < 1 || windows(spatial, o, 1) < 1) {
    throw OpError(fmt::format(
        "Given input with spatial size ({}, {}), kernel_size=({}, {}), dilation=({}, {}), "
        "padding=({}, {}), calculated shape of the array of sliding blocks as ({}, {}), but its "
        "components must be at least one.",
        spatial[0], spatial[1], o.kernel[0], o.kernel[1], o.dilation[0], o.dilation[1],
        o.padding[0], o.padding[1], windows(spatial, o, 0), windows(spatial, o, 1)));
  }
  Op op(c, "im2col", "Im2ColBackward0", {&input});
  Dims sizes;
  if (batched) sizes.push_back(input.size(0));
  const std::int64_t window = times(o.kernel[0], o.kernel[1], "im2col");
  sizes.push_back(times(input.size(-3), window, "im2col"));
  sizes.push_back(places);
  return op.result(resized_from(c, input, sizes), [old = input.sizes()](Backward& b) {
    b.grads[0] = resized_from(b.c, b.grad(), old);
  });
}

Tensor fold(Context& c, const Tensor& input, const Dims& output_size, const UnfoldOptions& o) {
  const bool batched = input.dim() == 3;
  if (!batched && input.dim() != 2) {
    throw OpError(fmt::format("Expected 2D or 3D (batch mode) tensor for input, but got: {}",
                              to_string(input.sizes())));
  }
  check_windows(o);
  const std::int64_t window = times(o.kernel[0], o.kernel[1], "col2im");
  const std::int64_t places =
      times(windows(output_size, o, 0), windows(output_size, o, 1), "col2im");
  if (input.size(-2) % window != 0) {
    throw OpError(
        fmt::format("Expected size of input's dimension 1 to be divisible by the product of "
                    "kernel_size, but got input.size(1)={} and kernel_size=({}, {}).",
                    input.size(-2), o.kernel[0], o.kernel[1]));
  }
  if (input.size(-1) != places) {
    throw OpError(fmt::format(
        "Given output_size=({}, {}), kernel_size=({}, {}), expected size of input's dimension 2 to "
        "match the calculated number of sliding blocks {}, but got input.size(2)={}.",
        output_size[0], output_size[1], o.kernel[0], o.kernel[1], places, input.size(-1)));
  }
  Op op(c, "col2im", "Col2ImBackward0", {&input});
  Dims sizes;
  if (batched) sizes.push_back(input.size(0));
  sizes.push_back(input.size(-2) / window);
  sizes.push_back(output_size[0]);
  sizes.push_back(output_size[1]);
  return op.result(resized_from(c, input, sizes), [old = input.sizes()](Backward& b) {
    b.grads[0] = resized_from(b.c, b.grad(), old);
  });
}

namespace {

std::vector<double> scales(const Arguments& a, std::size_t i) {
  if (const auto* list = std::get_if<std::vector<double>>(&a.value(i))) return *list;
  if (const auto* dims = std::get_if<Dims>(&a.value(i))) return {dims->begin(), dims->end()};
  return {a.number(i)};
}

UnfoldOptions unfold_options(const Arguments& a, std::size_t at) {
  return {a.dims_of(at, 2), a.dims_of(at + 1, 2), a.dims_of(at + 2, 2), a.dims_of(at + 3, 2)};
}

}  // namespace

OpResult interpolated(Arguments& a) {
  return interpolate(a.context(), a.tensor(0), a.dims(1), {}, a.text(3), a.flag(6));
}

OpResult interpolated_by(Arguments& a) {
  return interpolate(a.context(), a.tensor(0), a.optional_dims(1),
                     a.is_none(2) ? std::vector<double>{} : scales(a, 2), a.text(3), a.flag(6));
}

OpResult unfolded(Arguments& a) { return unfold(a.context(), a.tensor(0), unfold_options(a, 1)); }

OpResult folded(Arguments& a) {
  return fold(a.context(), a.tensor(0), a.dims_of(1, 2), unfold_options(a, 2));
}

}  // namespace tidemark::ops
