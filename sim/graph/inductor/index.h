#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/ops/dims.h"

namespace tidemark::graph::inductor {

/// One term of an index: `scale * ((loop / divisor) % extent)`, `loop` being the number of a loop.
struct Digit {
  int loop = 0;
  std::int64_t divisor = 1;
  std::int64_t extent = 1;
  std::int64_t scale = 1;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// Where a loop reads or writes, as a sum of digits of its counters. What no such sum can say
/// (windows, numbers read from memory) carries a mark instead: two are the same if their marks are.
struct Tangle;
struct Index {
  std::vector<Digit> digits;
  std::int64_t offset = 0;
  std::uint64_t mark = 0;  ///< 0: the digits say it all
  /// The place that this is a dimension's index of, while `mark` is the one that it gave.
  std::shared_ptr<const Tangle> tangle;
  friend bool operator==(const Index& a, const Index& b) {
    return a.digits == b.digits && a.offset == b.offset && a.mark == b.mark;
  }
};
/// A place in several dimensions that does not come apart into them.
struct Tangle {
  Index place;
  std::vector<std::int64_t> strides;  ///< of each of its dimensions, in units of the last one
  std::vector<std::uint64_t> marks;   ///< of their indices
};

using Indices = std::vector<Index>;

/// The counter of a loop of `extent` turns.
Index counter(int loop, std::int64_t extent);
/// `to + scale * index`.
void add(Index& to, const Index& index, std::int64_t scale);
/// The offset of an element, by its index in each dimension.
Index flat(const Indices& index, const ops::Dims& sizes, const ops::Dims& strides,
           std::int64_t offset);
/// The inverse: the index in each dimension of the element at an offset. A dimension that is
/// expanded has no index of its own.
Indices unflat(const Index& offset, const ops::Dims& sizes, const ops::Dims& strides);
/// How far a loop moves the index by its first turn.
std::int64_t stride_of(const Index& index, int loop);
[[nodiscard]] bool reads_loop(const Index& index, int loop);
/// The strides of an array without gaps, its last dimension innermost.
ops::Dims dense_strides(const ops::Dims& sizes);
/// The strides of (N, C, H, W), its channels innermost.
ops::Dims channels_last(const ops::Dims& sizes);
std::int64_t product(const ops::Dims& sizes);
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);
std::uint64_t hash_of(const Index& index);

}  // namespace tidemark::graph::inductor
