#include "sim/graph/inductor/index.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

namespace tidemark::graph::inductor {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 27U);
}

std::uint64_t hash_of(const Index& index) {
  std::uint64_t hash = mixed(index.mark, static_cast<std::uint64_t>(index.offset));
  for (const Digit& digit : index.digits) {
    hash = mixed(hash, static_cast<std::uint64_t>(digit.loop));
    hash = mixed(hash, static_cast<std::uint64_t>(digit.divisor));
    hash = mixed(hash, static_cast<std::uint64_t>(digit.extent));
    hash = mixed(hash, static_cast<std::uint64_t>(digit.scale));
  }
  return hash;
}

Index counter(int loop, std::int64_t extent) {
  if (extent == 1) return {};
  Index out;
  out.digits.push_back({loop, 1, extent, 1});
  return out;
}

namespace {

/// Digits in the order of their loops, the outer part of a loop first; parts that belong together
/// are one.
void tidy(Index& index) {
  std::vector<Digit>& digits = index.digits;
  std::erase_if(digits, [](const Digit& d) { return d.extent == 1 || d.scale == 0; });
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
    return a.loop != b.loop ? a.loop < b.loop : a.divisor > b.divisor;
  });
  for (std::size_t i = 0; i + 1 < digits.size();) {
    Digit& high = digits[i];
    const Digit& low = digits[i + 1];
    if (high.loop == low.loop && high.divisor == low.divisor * low.extent &&
        high.scale == low.scale * low.extent) {
      high = {low.loop, low.divisor, low.extent * high.extent, low.scale};
      digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      i = 0;
    } else if (high.loop == low.loop && high.divisor == low.divisor && high.extent == low.extent) {
      high.scale += low.scale;
      digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      i = 0;
    } else {
      ++i;
    }
  }
}

}  // namespace

void add(Index& to, const Index& index, std::int64_t scale) {
  if (scale == 0) return;
  for (Digit digit : index.digits) {
    digit.scale *= scale;
    to.digits.push_back(digit);
  }
  to.offset += index.offset * scale;
  if (index.mark != 0)
    to.mark = mixed(mixed(to.mark, index.mark), static_cast<std::uint64_t>(scale));
  tidy(to);
}

namespace {

/// Which of its tangle's dimensions an index is; none: `size()` of the marks.
std::size_t part_of(const Index& index) {
  const std::vector<std::uint64_t>& marks = index.tangle->marks;
  return static_cast<std::size_t>(std::ranges::find(marks, index.mark) - marks.begin());
}

/// Dimensions that are joined again as they were are their place. Source: torch's
/// _join_dimensions_cached.
void add_marked(Index& to, const Indices& index, const ops::Dims& sizes, const ops::Dims& strides) {
  std::vector<bool> is_done(index.size());
  // Two places that are alike give the same marks.
  const auto tangle_of = [&](std::size_t i) -> std::pair<const Tangle*, std::size_t> {
    if (sizes[i] == 1 || index[i].tangle == nullptr) return {nullptr, 0};
    const std::size_t part = part_of(index[i]);
    const bool is_one = part < index[i].tangle->marks.size();
    return {is_one ? index[i].tangle.get() : nullptr, part};
  };
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (sizes[i] == 1 || index[i].mark == 0 || is_done[i]) continue;
    const auto [tangle, number] = tangle_of(i);
    std::vector<std::size_t> members;
    for (std::size_t j = i; tangle != nullptr && j < index.size(); ++j) {
      const auto [other, part] = tangle_of(j);
      const bool is_alike =
          other != nullptr && other->marks == tangle->marks &&
          strides[j] * tangle->strides[number] == strides[i] * tangle->strides[part];
      if (is_alike) members.push_back(j);
    }
    const bool is_whole = tangle != nullptr && members.size() == tangle->strides.size() &&
                          strides[i] % tangle->strides[number] == 0;
    if (!is_whole) {
      add(to, index[i], strides[i]);
      continue;
    }
    for (const std::size_t j : members) is_done[j] = true;
    add(to, tangle->place, strides[i] / tangle->strides[number]);
  }
}

}  // namespace

Index flat(const Indices& index, const ops::Dims& sizes, const ops::Dims& strides,
           std::int64_t offset) {
  Index out;
  out.offset = offset;
  bool has_marks = false;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (index[i].mark != 0) {
      has_marks = true;
    } else {
      add(out, index[i], strides[i]);
    }
  }
  if (has_marks) add_marked(out, index, sizes, strides);
  return out;
}

namespace {

/// What of `rest` lies in a dimension of this stride; the rest of it stays. False: it does not
/// come apart.
bool take_dimension(std::vector<Digit>& rest, std::int64_t stride, Index& into) {
  std::vector<Digit> left;
  for (Digit digit : rest) {
    if (digit.scale % stride == 0) {
      digit.scale /= stride;
      into.digits.push_back(digit);
      continue;
    }
    if (digit.scale > stride) return false;
    if (digit.scale * digit.extent <= stride) {
      left.push_back(digit);
      continue;
    }
    const std::int64_t low = stride / digit.scale;
    if (stride % digit.scale != 0 || digit.extent % low != 0) return false;
    left.push_back({digit.loop, digit.divisor, low, digit.scale});
    into.digits.push_back({digit.loop, digit.divisor * low, digit.extent / low, 1});
  }
  rest = std::move(left);
  return true;
}

/// The indices of dimensions that a place does not come apart into: marks.
void mark_dimensions(const Index& place, const std::vector<std::size_t>& dims,
                     const ops::Dims& sizes, const ops::Dims& strides, std::int64_t unit,
                     Indices& out) {
  std::uint64_t mark = hash_of(place);
  auto tangle = std::make_shared<Tangle>();
  tangle->place = place;
  for (const std::size_t d : dims) {
    tangle->strides.push_back(strides[d] / unit);
    mark = mixed(mixed(mark, static_cast<std::uint64_t>(strides[d] / unit)),
                 static_cast<std::uint64_t>(sizes[d]));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t d = dims[i];
    out[d].mark = mixed(mark, i) | 1U;
    tangle->marks.push_back(out[d].mark);
    // How far the first turn of each loop moves it.
    for (Digit digit : place.digits) {
      digit.scale = digit.divisor == 1 ? (digit.scale / tangle->strides[i]) % sizes[d] : 1;
      if (digit.scale != 0) out[d].digits.push_back(digit);
    }
  }
  if (place.mark != 0) return;
  for (const std::size_t d : dims) out[d].tangle = tangle;
}

}  // namespace

Indices unflat(const Index& offset, const ops::Dims& sizes, const ops::Dims& strides) {
  Indices out(sizes.size());
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1 && strides[d] > 0) order.push_back(d);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  if (offset.mark != 0) {
    mark_dimensions(offset, order, sizes, strides, 1, out);
    return out;
  }
  std::vector<Digit> rest = offset.digits;
  std::int64_t left = offset.offset;
  // Dimensions that the place does not come apart into before the next one.
  std::vector<std::size_t> together;
  for (const std::size_t d : order) {
    together.push_back(d);
    std::vector<Digit> lower = rest;
    Index place;
    if (!take_dimension(lower, strides[d], place)) continue;
    rest = std::move(lower);
    place.offset = left / strides[d];
    left %= strides[d];
    tidy(place);
    if (together.size() == 1) {
      out[d] = std::move(place);
    } else {
      mark_dimensions(place, together, sizes, strides, strides[d], out);
    }
    together.clear();
  }
  if (!together.empty()) {
    Index place;
    place.digits = rest;
    place.offset = left;
    mark_dimensions(place, together, sizes, strides, 1, out);
  }
  return out;
}

std::int64_t stride_of(const Index& index, int loop) {
  std::int64_t stride = 0;
  for (const Digit& digit : index.digits) {
    if (digit.loop == loop && digit.divisor == 1) stride += digit.scale;
  }
  return stride;
}

bool reads_loop(const Index& index, int loop) {
  return std::any_of(index.digits.begin(), index.digits.end(),
                     [loop](const Digit& digit) { return digit.loop == loop; });
}

ops::Dims dense_strides(const ops::Dims& sizes) {
  ops::Dims strides = sizes;
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

ops::Dims channels_last(const ops::Dims& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
}

std::int64_t product(const ops::Dims& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return n;
}

}  // namespace tidemark::graph::inductor
