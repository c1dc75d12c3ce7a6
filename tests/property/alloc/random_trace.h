#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// A random request trace with settings and a device to play it on, all from one seed.
struct RandomTrace {
  std::uint64_t seed = 0;
  std::string conf;
  AllocatorSettings settings;
  Bytes total_bytes = 0;
  Bytes context_bytes = 0;
  std::optional<double> memory_fraction;
  std::vector<Instruction> instructions;
  /// For a failing test: all that is needed to make it again.
  [[nodiscard]] std::string describe() const;
};

/// `length`: number of instructions. The same seed gives the same trace everywhere.
RandomTrace random_trace(std::uint64_t seed, std::size_t length);

/// The environment's TIDEMARK_SEED, else `fallback`: a failing test prints the seed to set.
std::uint64_t first_seed(std::uint64_t fallback);
/// 1 when TIDEMARK_SEED is set, else `fallback`, times TIDEMARK_SEEDS_TIMES where that is set (for
/// a long search).
std::uint64_t seed_count(std::uint64_t fallback);

}  // namespace tidemark
