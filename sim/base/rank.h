#pragma once

#include <cstdint>

namespace tidemark {

/// One process of a job of several, as torchrun numbers them. A process has a GPU of its own: that
/// of its number on its machine.
struct Rank {
  int index = 0;     ///< RANK: from 0 to world - 1
  int world = 1;     ///< WORLD_SIZE
  int per_node = 1;  ///< LOCAL_WORLD_SIZE: processes a machine, from 1 to world

  [[nodiscard]] int local() const { return index % per_node; }  ///< LOCAL_RANK
  [[nodiscard]] int node() const { return index / per_node; }   ///< GROUP_RANK
  friend bool operator==(const Rank&, const Rank&) = default;
};

/// Which ranks of a job a run looks at.
enum class RankChoice : std::uint8_t {
  kOne,   ///< the one that was asked for
  kSome,  ///< nobody asked: all of a small job, some of a large one
  kAll,
};

}  // namespace tidemark
