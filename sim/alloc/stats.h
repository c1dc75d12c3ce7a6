#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/release.h"

namespace tidemark {

/// One cell of PyTorch's statistics. Source: docs/rules/allocator.md#15.1.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;  ///< sum of the increases
  std::int64_t freed = 0;      ///< sum of the decreases
  void increase(std::int64_t amount) {
    current += amount;
    if (current > peak) peak = current;
    allocated += amount;
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void reset_peak() { peak = current; }
  friend bool operator==(const Stat&, const Stat&) = default;
};

/// Which of a pool pair a block belongs to.
enum class PoolKind : std::uint8_t { kSmall, kLarge };

/// The three cells of an array statistic.
struct StatArray {
  Stat all;
  Stat small_pool;
  Stat large_pool;
  [[nodiscard]] Stat& of(PoolKind kind) {
    return kind == PoolKind::kSmall ? small_pool : large_pool;
  }
  void increase(PoolKind kind, std::int64_t amount) {
    all.increase(amount);
    of(kind).increase(amount);
  }
  void decrease(PoolKind kind, std::int64_t amount) {
    all.decrease(amount);
    of(kind).decrease(amount);
  }
  void reset_peak() {
    all.reset_peak();
    small_pool.reset_peak();
    large_pool.reset_peak();
  }
  friend bool operator==(const StatArray&, const StatArray&) = default;
};

/// A private pool's identity as PyTorch prints it: {n, 0} made by a capture, {0, n} by a MemPool;
/// {0, 0} is none.
struct PoolKey {
  std::uint32_t capture = 0;
  std::uint32_t user = 0;
  friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
  /// As Instruction::bytes of Verb::kPool has it.
  static constexpr PoolKey of(std::uint64_t number) {
    return {static_cast<std::uint32_t>(number >> 32U), static_cast<std::uint32_t>(number)};
  }
};

/// All that torch.cuda.memory_stats() knows of one device. Bytes and counts.
/// Source: docs/rules/allocator.md#15.
struct AllocatorStatistics {
  StatArray allocation;
  StatArray segment;
  StatArray active;
  StatArray inactive_split;
  StatArray allocated_bytes;
  StatArray reserved_bytes;
  StatArray active_bytes;
  StatArray inactive_split_bytes;
  StatArray requested_bytes;
  Stat oversize_allocations;
  Stat oversize_segments;
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_oom_rejections = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;
  std::int64_t max_split_size = -1;
  /// Private pools that ever reserved memory, ascending by key.
  std::vector<std::pair<PoolKey, StatArray>> reserved_bytes_by_private_pools;
  friend bool operator==(const AllocatorStatistics&, const AllocatorStatistics&) = default;
};

/// Key and value in the order of torch.cuda.memory_stats(): sorted by key, those keys that
/// `version` has (122 in 2.11; 2.12 adds num_oom_rejections, 2.13
/// reserved_bytes_by_private_pools.A_B.KIND.METRIC).
std::vector<std::pair<std::string, std::int64_t>> flatten(const AllocatorStatistics& statistics,
                                                          Version version);

}  // namespace tidemark
