#include <algorithm>

#include "sim/ops/values/places.h"
#include "sim/ops/values/rule.h"

/// The numbers stay as they are and come to stand elsewhere.
namespace tidemark::ops {

namespace {

bool is_named(const Argument& dims, std::size_t d, std::size_t rank) {
  const auto matches = [&](std::int64_t each) {
    return each == static_cast<std::int64_t>(d) ||
           each + static_cast<std::int64_t>(rank) == static_cast<std::int64_t>(d);
  };
  if (const auto* one = std::get_if<std::int64_t>(&dims)) return matches(*one);
  const auto* several = std::get_if<Dims>(&dims);
  return several != nullptr && std::any_of(several->begin(), several->end(), matches);
}

bool flipped(const ValueCall& call, const Argument& dims, Numbers& out) {
  View view = call.view(0);
  for (std::size_t d = 0; d < view.sizes.size(); ++d) {
    if (!is_named(dims, d, view.sizes.size()) || view.sizes[d] == 0) continue;
    view.offset += view.strides[d] * (view.sizes[d] - 1);
    view.strides[d] = -view.strides[d];
  }
  const auto x = numbers_of(view);
  if (!x) return false;
  for (std::size_t i = 0; i < out.size(); ++i) copy_number(*x, i, out, i);
  return true;
}
bool flip(const ValueCall& call, Numbers& out) { return flipped(call, call.plain(1), out); }
template <int kDim>
bool flip_along(const ValueCall& call, Numbers& out) {
  return flipped(call, std::int64_t{kDim}, out);
}

bool rolled(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const auto* shifts = std::get_if<Dims>(&call.plain(1));
  const Dims* dims = call.is_none(2) ? nullptr : std::get_if<Dims>(&call.plain(2));
  if (shifts == nullptr) return false;
  const auto count = static_cast<std::int64_t>(x->size());
  if (dims == nullptr || dims->empty()) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t to = ((i + (*shifts)[0]) % count + count) % count;
      copy_number(*x, static_cast<std::size_t>(i), out, static_cast<std::size_t>(to));
    }
    return true;
  }
  const Dims& sizes = call.sizes;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t to = 0;
    std::int64_t step = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      std::int64_t index = rest % sizes[d];
      rest /= sizes[d];
      for (std::size_t k = 0; k < dims->size(); ++k) {
        const Dims one{(*dims)[k]};
        if (is_named(one, d, sizes.size()))
          index = ((index + (*shifts)[k]) % sizes[d] + sizes[d]) % sizes[d];
      }
      to += index * step;
      step *= sizes[d];
    }
    copy_number(*x, static_cast<std::size_t>(i), out, static_cast<std::size_t>(to));
  }
  return true;
}

template <bool kLower>
bool triangle(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  const std::size_t rank = call.sizes.size();
  if (!x || rank < 2) return false;
  const std::int64_t columns = call.sizes[rank - 1];
  const std::int64_t rows = call.sizes[rank - 2];
  const std::int64_t diagonal = call.integer(1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t distance = at % columns - at / columns % rows;
    if (kLower ? distance <= diagonal : distance >= diagonal) {
      copy_number(*x, i, out, i);
    } else {
      out.set(i, 0);
    }
  }
  return true;
}

/// Views side by side along one dimension of the result.
bool laid(const ValueCall& call, const std::vector<View>& views, std::size_t dim, Numbers& out) {
  Dims strides = contiguous_strides(call.sizes);
  std::int64_t begin = 0;
  for (const View& view : views) {
    if (view.sizes.size() != call.sizes.size()) {
      if (view.numel() == 0) continue;  // a tensor of one dimension without elements
      return false;
    }
    const auto x = numbers_of(view);
    if (!x) return false;
    const std::vector<std::int64_t> places = places_of(view.sizes, strides, begin * strides[dim]);
    for (std::size_t i = 0; i < places.size(); ++i)
      copy_number(*x, i, out, static_cast<std::size_t>(places[i]));
    begin += view.sizes[dim];
  }
  return true;
}
bool joined(const ValueCall& call, Numbers& out) {
  return laid(call, call.given[0].views, call.dim(1, call.sizes.size()), out);
}
bool stacked(const ValueCall& call, Numbers& out) {
  const std::size_t dim = call.dim(1, call.sizes.size());
  std::vector<View> views = call.given[0].views;
  for (View& view : views) {
    view.sizes.insert(dim, 1);
    view.strides.insert(dim, 0);
  }
  return laid(call, views, dim, out);
}

bool repeated(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const Dims& own = call.view(0).sizes;
  const std::size_t more = call.sizes.size() - own.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t from = 0;
    std::int64_t step = 1;
    for (std::size_t d = call.sizes.size(); d-- > 0;) {
      const std::int64_t index = rest % call.sizes[d];
      rest /= call.sizes[d];
      if (d < more) continue;
      from += index % own[d - more] * step;
      step *= own[d - more];
    }
    copy_number(*x, static_cast<std::size_t>(from), out, i);
  }
  return true;
}

/// Which of a dimension's places each place of the result comes from.
std::vector<std::int64_t> repeated_places(const Numbers& repeats, std::int64_t length) {
  std::vector<std::int64_t> from;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::size_t at = repeats.size() == 1 ? 0 : static_cast<std::size_t>(i);
    from.insert(from.end(), static_cast<std::size_t>(repeats.whole[at]), i);
  }
  return from;
}

/// repeat_interleave(repeats), of a tensor and a number, of two tensors.
bool repeated_each(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  if (call.given.size() == 2) {
    const auto from = repeated_places(*x, static_cast<std::int64_t>(x->size()));
    if (from.size() != out.size()) return false;
    for (std::size_t i = 0; i < out.size(); ++i) out.set_whole(i, from[i]);
    return true;
  }
  std::int64_t inner = 1;
  std::int64_t length = static_cast<std::int64_t>(x->size());
  if (!call.is_none(2)) {
    const std::size_t dim = call.dim(2, call.sizes.size());
    for (std::size_t d = dim + 1; d < call.sizes.size(); ++d) inner *= call.sizes[d];
    length = call.view(0).sizes.empty() ? 1 : call.view(0).sizes[dim];
  }
  Numbers repeats;
  if (call.is_tensor(1)) {
    const auto given = call.own(1);
    if (!given) return false;
    repeats = *given;
  } else {
    repeats.dtype = ScalarType::kInt64;
    repeats.whole.assign(1, call.integer(1, 1));
  }
  const auto from = repeated_places(repeats, length);
  const auto along = static_cast<std::int64_t>(from.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t place = from[static_cast<std::size_t>(at / inner % along)];
    const std::int64_t source = (at / inner / along * length + place) * inner + at % inner;
    copy_number(*x, static_cast<std::size_t>(source), out, i);
  }
  return true;
}

/// interpolate: of the modes that take each number from one place.
bool nearest(const ValueCall& call, Numbers& out) {
  constexpr std::size_t kScale = 2;
  constexpr std::size_t kMode = 3;
  const auto* mode = std::get_if<std::string>(&call.plain(kMode));
  if (mode == nullptr || (*mode != "nearest" && *mode != "nearest-exact")) return false;
  const auto x = call.own(0);
  const View& view = call.view(0);
  if (!x || call.sizes.size() != view.sizes.size()) return false;
  const float before = *mode == "nearest" ? 0.0F : 0.5F;
  const auto* scales = std::get_if<std::vector<double>>(&call.plain(kScale));
  const Dims steps = contiguous_strides(view.sizes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t from = 0;
    for (std::size_t d = call.sizes.size(); d-- > 0;) {
      const std::int64_t at = rest % call.sizes[d];
      rest /= call.sizes[d];
      std::int64_t place = at;
      if (d >= 2) {
        float scale = static_cast<float>(view.sizes[d]) / static_cast<float>(call.sizes[d]);
        if (scales != nullptr) {
          scale = static_cast<float>(1.0 / (*scales)[scales->size() == 1 ? 0 : d - 2]);
        } else if (!call.is_none(kScale)) {
          scale = static_cast<float>(1.0 / call.number(kScale));
        }
        place = static_cast<std::int64_t>((static_cast<float>(at) + before) * scale);
        place = std::min(place, view.sizes[d] - 1);
      }
      from += place * steps[d];
    }
    copy_number(*x, static_cast<std::size_t>(from), out, i);
  }
  return true;
}

/// Known numbers within others that are all one.
bool padded(const ValueCall& call, double value, Numbers& out) {
  const auto* pad = std::get_if<std::vector<std::int64_t>>(&call.plain(1));
  if (pad == nullptr) return false;
  View view = call.view(0);
  const std::size_t rank = view.sizes.size();
  const Dims strides = contiguous_strides(call.sizes);
  std::int64_t begin = 0;
  for (std::size_t i = 0; 2 * i + 1 < pad->size(); ++i) {
    const std::size_t d = rank - 1 - i;
    const std::int64_t left = (*pad)[2 * i];
    const std::int64_t right = (*pad)[2 * i + 1];
    view.offset += std::max<std::int64_t>(-left, 0) * view.strides[d];
    view.sizes[d] += std::min<std::int64_t>(left, 0) + std::min<std::int64_t>(right, 0);
    begin += std::max<std::int64_t>(left, 0) * strides[d];
  }
  const auto x = numbers_of(view);
  if (!x) return false;
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, value);
  const std::vector<std::int64_t> places = places_of(view.sizes, strides, begin);
  for (std::size_t i = 0; i < places.size(); ++i)
    copy_number(*x, i, out, static_cast<std::size_t>(places[i]));
  return true;
}
bool constant_padded(const ValueCall& call, Numbers& out) {
  return padded(call, call.number(2), out);
}
/// pad: of the modes that take each number from one place. Left and right of the last dimensions.
bool mirrored(const ValueCall& call, const std::string& mode, Numbers& out) {
  const auto* pad = std::get_if<std::vector<std::int64_t>>(&call.plain(1));
  const auto x = call.own(0);
  const Dims& sizes = call.view(0).sizes;
  if (pad == nullptr || !x || sizes.size() != call.sizes.size()) return false;
  const Dims steps = contiguous_strides(sizes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t from = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      std::int64_t at = rest % call.sizes[d];
      rest /= call.sizes[d];
      const std::size_t pair = 2 * (sizes.size() - 1 - d);
      if (pair < pad->size()) at -= (*pad)[pair];
      const std::int64_t last = sizes[d] - 1;
      if (mode == "circular") {
        at = (at % sizes[d] + sizes[d]) % sizes[d];
      } else if (mode == "reflect") {
        if (at < 0) at = -at;
        if (at > last) at = 2 * last - at;
      }
      from += std::clamp<std::int64_t>(at, 0, last) * steps[d];
    }
    copy_number(*x, static_cast<std::size_t>(from), out, i);
  }
  return true;
}

bool padded_by_mode(const ValueCall& call, Numbers& out) {
  const auto* mode = std::get_if<std::string>(&call.plain(2));
  if (mode == nullptr) return false;
  return *mode == "constant" ? padded(call, call.number(3), out) : mirrored(call, *mode, out);
}

/// A quarter turn, k times, from the first dimension to the second.
bool turned(const ValueCall& call, Numbers& out) {
  View view = call.view(0);
  const std::size_t rank = view.sizes.size();
  std::size_t first = 0;
  std::size_t second = 1;
  if (const auto* dims = std::get_if<Dims>(&call.plain(2)); dims != nullptr && dims->size() == 2) {
    const auto place = [rank](std::int64_t d) {
      return static_cast<std::size_t>(d < 0 ? d + static_cast<std::int64_t>(rank) : d);
    };
    first = place((*dims)[0]);
    second = place((*dims)[1]);
  }
  if (first >= rank || second >= rank) return false;
  const std::int64_t turns = (call.integer(1, 1) % 4 + 4) % 4;
  const auto reverse = [&view](std::size_t d) {
    view.offset += view.strides[d] * (view.sizes[d] - 1);
    view.strides[d] = -view.strides[d];
  };
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    reverse(second);
    std::swap(view.sizes[first], view.sizes[second]);
    std::swap(view.strides[first], view.strides[second]);
  }
  const auto x = view.numel() == 0 ? std::nullopt : numbers_of(view);
  if (!x || x->size() != out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) copy_number(*x, i, out, i);
  return true;
}

/// vstack, hstack, dstack and column_stack: each is first given the dimensions that it lacks.
template <int kWhich>
bool stacked_along(const ValueCall& call, Numbers& out) {
  enum { kRows, kColumns, kDepth, kOneColumn };
  std::vector<View> views = call.given[0].views;
  for (View& view : views) {
    const auto add = [&view](std::size_t at) {
      view.sizes.insert(at, 1);
      view.strides.insert(at, 0);
    };
    if (view.sizes.empty()) add(0);
    if (kWhich == kRows && view.sizes.size() == 1) add(0);
    if (kWhich == kOneColumn && view.sizes.size() == 1) add(1);
    if (kWhich != kDepth) continue;
    if (view.sizes.size() == 1) add(0);
    if (view.sizes.size() == 2) add(2);
  }
  const std::size_t dim = kWhich == kRows              ? 0
                          : kWhich == kDepth           ? 2
                          : views.empty()              ? 0
                          : views[0].sizes.size() == 1 ? 0
                                                       : 1;
  return laid(call, views, dim, out);
}

/// Numbers along the diagonal of zeros.
bool on_diagonal(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  const std::size_t rank = call.sizes.size();
  if (!x) return false;
  std::size_t rows = 0;
  std::size_t columns = 1;
  const Dims& sizes = call.view(0).sizes;
  const std::int64_t shift = call.integer(1);
  if (call.given.size() > 2) {
    rows = call.dim(2, rank, -2);
    columns = call.dim(3, rank, -1);
  } else if (sizes.size() == 2) {  // diag() of a matrix takes its diagonal out
    View view = call.view(0);
    view.offset += shift >= 0 ? shift * view.strides[1] : -shift * view.strides[0];
    view.strides = Dims{view.strides[0] + view.strides[1]};
    view.sizes = call.sizes;
    const auto found = numbers_of(view);
    if (!found) return false;
    for (std::size_t i = 0; i < out.size(); ++i) copy_number(*found, i, out, i);
    return true;
  }
  if (rank < 2 || rows == columns || sizes.empty()) return false;
  const Dims own = contiguous_strides(call.sizes);
  Dims strides;
  for (std::size_t d = 0; d < rank; ++d) {
    if (d != rows && d != columns) strides.push_back(own[d]);
  }
  strides.push_back(own[rows] + own[columns]);
  if (strides.size() != sizes.size()) return false;
  const std::int64_t begin = shift >= 0 ? shift * own[columns] : -shift * own[rows];
  for (std::size_t i = 0; i < out.size(); ++i) out.set(i, 0);
  const std::vector<std::int64_t> places = places_of(sizes, strides, begin);
  for (std::size_t i = 0; i < places.size(); ++i)
    copy_number(*x, i, out, static_cast<std::size_t>(places[i]));
  return true;
}

constexpr ValueRule arranging(std::string_view name, MakeNumbers make) {
  return {name, ValueRule::Kind::kPlain, make};
}

}  // namespace

std::span<const ValueRule> arranging_values() {
  static constexpr ValueRule kRules[] = {
      arranging("flip", flip),
      arranging("fliplr", flip_along<1>),
      arranging("flipud", flip_along<0>),
      arranging("roll", rolled),
      arranging("tril", triangle<true>),
      arranging("triu", triangle<false>),
      arranging("constant_pad_nd", constant_padded),
      arranging("_nn_pad", padded_by_mode),
      arranging("cat", joined),
      arranging("concat", joined),
      arranging("concatenate", joined),
      arranging("stack", stacked),
      arranging("repeat", repeated),
      arranging("tile", repeated),
      arranging("repeat_interleave", repeated_each),
      arranging("interpolate", nearest),
      arranging("rot90", turned),
      arranging("vstack", stacked_along<0>),
      arranging("row_stack", stacked_along<0>),
      arranging("hstack", stacked_along<1>),
      arranging("dstack", stacked_along<2>),
      arranging("column_stack", stacked_along<3>),
      arranging("diag", on_diagonal),
      arranging("diag_embed", on_diagonal),
  };
  return kRules;
}

}  // namespace tidemark::ops
