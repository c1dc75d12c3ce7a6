#include <algorithm>

#include "sim/ops/values/rule.h"

/// Windows of numbers become one each.
namespace tidemark::ops {

namespace {

constexpr std::size_t kMostPooledDims = 3;

/// Where the windows of a call lie along each dimension that is pooled.
struct Windows {
  std::size_t spatial;
  Dims kernel, stride, padding, dilation;
  Dims in, out;  ///< sizes of these dimensions
  std::int64_t plane = 1;

  Windows(const ValueCall& call, std::size_t dims, bool dilates) : spatial(dims) {
    kernel = given(call, 1, 1);
    stride = call.is_none(2) ? kernel : given(call, 2, 1);
    padding = given(call, 3, 0);
    dilation = dilates ? given(call, 4, 1) : Dims::filled(spatial, 1);
    const Dims& sizes = call.view(0).sizes;
    for (std::size_t d = 0; d < spatial; ++d) {
      in.push_back(sizes[sizes.size() - spatial + d]);
      out.push_back(call.sizes[call.sizes.size() - spatial + d]);
      plane *= in[d];
    }
  }

  /// One number stands for all dimensions, and an empty stride for the kernel.
  [[nodiscard]] Dims given(const ValueCall& call, std::size_t i, std::int64_t otherwise) const {
    const auto* several = i < call.given.size() ? std::get_if<Dims>(&call.plain(i)) : nullptr;
    if (several == nullptr) return Dims::filled(spatial, call.integer(i, otherwise));
    if (several->size() == spatial) return *several;
    return several->empty() ? kernel : Dims::filled(spatial, (*several)[0]);
  }

  /// Calls `visit` with the place within its plane of every element of the window `at`.
  template <class Visit>
  void each(std::int64_t at, Visit visit) const {
    std::int64_t begin[kMostPooledDims] = {};
    for (std::size_t d = spatial; d-- > 0;) {
      begin[d] = at % out[d] * stride[d] - padding[d];
      at /= out[d];
    }
    std::int64_t count = 1;
    for (std::size_t d = 0; d < spatial; ++d) count *= kernel[d];
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      std::int64_t place = 0;
      std::int64_t step = 1;
      bool inside = true;
      for (std::size_t d = spatial; d-- > 0;) {
        const std::int64_t x = begin[d] + rest % kernel[d] * dilation[d];
        rest /= kernel[d];
        inside = inside && x >= 0 && x < in[d];
        place += x * step;
        step *= in[d];
      }
      if (inside) visit(place);
    }
  }

  /// What a mean is divided by where the padding counts: what lies beyond it never does.
  [[nodiscard]] std::int64_t padded_size(std::int64_t at) const {
    std::int64_t size = 1;
    for (std::size_t d = spatial; d-- > 0;) {
      const std::int64_t begin = at % out[d] * stride[d] - padding[d];
      at /= out[d];
      size *= std::min(begin + kernel[d], in[d] + padding[d]) - begin;
    }
    return size;
  }
};

/// Calls `make` for every window: its number in the result, in its plane, and where that begins.
template <class Make>
bool fill_windows(const Windows& windows, Numbers& out, Make make) {
  std::int64_t per_plane = 1;
  for (const std::int64_t size : windows.out) per_plane *= size;
  if (per_plane == 0) return out.size() == 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    make(i, at % per_plane, static_cast<std::size_t>(at / per_plane * windows.plane));
  }
  return true;
}

/// The largest of each window and, as a second result, the place of the first of them in its plane.
template <std::size_t kSpatial>
bool largest_of_window(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const Windows windows(call, kSpatial, true);
  return fill_windows(windows, out, [&](std::size_t i, std::int64_t at, std::size_t plane) {
    std::int64_t best = -1;
    const auto of = [&](std::int64_t place) {
      return x->at(plane + static_cast<std::size_t>(place));
    };
    windows.each(at, [&](std::int64_t place) {
      if (best < 0 || of(place) > of(best)) best = place;
    });
    if (call.which == 1) {
      out.set_whole(i, best);
    } else {
      out.set(i, of(best));
    }
  });
}

/// The mean of each window; the padding counts unless told otherwise.
template <std::size_t kSpatial>
bool mean_of_window(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const Windows windows(call, kSpatial, false);
  const bool counts_padding = call.is_none(5) || call.flag(5);
  const std::int64_t divisor = call.is_none(6) ? 0 : call.integer(6);
  return fill_windows(windows, out, [&](std::size_t i, std::int64_t at, std::size_t plane) {
    double total = 0;
    std::int64_t count = 0;
    windows.each(at, [&](std::int64_t place) {
      total += x->at(plane + static_cast<std::size_t>(place));
      ++count;
    });
    if (counts_padding) count = windows.padded_size(at);
    out.set(i, total / static_cast<double>(divisor != 0 ? divisor : count));
  });
}

constexpr ValueRule pooling(std::string_view name, MakeNumbers make, std::size_t outputs = 1) {
  return {name, ValueRule::Kind::kPlain, make, nullptr, outputs};
}

}  // namespace

std::span<const ValueRule> pooling_values() {
  static constexpr ValueRule kRules[] = {
      pooling("max_pool1d", largest_of_window<1>, 2),
      pooling("max_pool2d", largest_of_window<2>, 2),
      pooling("max_pool3d", largest_of_window<3>, 2),
      pooling("avg_pool1d", mean_of_window<1>),
      pooling("avg_pool2d", mean_of_window<2>),
      pooling("avg_pool3d", mean_of_window<3>),
  };
  return kRules;
}

}  // namespace tidemark::ops
