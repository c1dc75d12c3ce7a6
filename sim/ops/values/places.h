#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/ops/values/rule.h"

/// Where numbers stand that other numbers point at, for the rules that read and those that write.
namespace tidemark::ops {

/// Copies one number as the type of `to` keeps it.
inline void copy_number(const Numbers& from, std::size_t i, Numbers& to, std::size_t at) {
  if (from.is_whole()) {
    to.set_whole(at, from.whole[i]);
  } else {
    to.set(at, from.real[i]);
  }
}

/// Indices into so many elements, negative ones from the end; false: one lies outside.
bool wrap_indices(std::vector<std::int64_t>& indices, std::int64_t size);

/// The places in memory of what x[indices] names, in the order of the result, and its shape.
struct IndexedPlaces {
  std::vector<std::int64_t> places;
  Dims sizes;
};
/// `indices`: one for a dimension; what is no tensor stands for all of one. nullopt: the numbers of
/// an index are not known, or one lies outside.
std::optional<IndexedPlaces> indexed_places(const View& source,
                                            std::span<const ValueCall::Given> indices);

}  // namespace tidemark::ops
