#pragma once

#include <vector>

#include "sim/ops/values/rule.h"

/// Which numbers meet where many become one.
namespace tidemark::ops {

/// The numbers along one dimension: of every line where it begins, how far its elements lie apart.
struct Lines {
  std::size_t length = 1;
  std::size_t step = 1;
  std::size_t count = 1;

  Lines(const Dims& sizes, std::size_t dim) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const auto size = static_cast<std::size_t>(sizes[d]);
      if (d == dim) {
        length = size;
      } else {
        count *= size;
        if (d > dim) step *= size;
      }
    }
  }
  [[nodiscard]] std::size_t begin(std::size_t line) const {
    return line / step * step * length + line % step;
  }
  /// The place of an element of a line.
  [[nodiscard]] std::size_t at(std::size_t line, std::size_t i) const {
    return begin(line) + i * step;
  }
};

/// For every element the place of the result on which it falls. `dims`: which dimensions go, a
/// number or several; neither, or none named: all.
std::vector<std::int64_t> reduced_places(const Dims& sizes, const Argument& dims);

}  // namespace tidemark::ops
