#pragma once

#include <array>
#include <cstdint>

#include "sim/alloc/stats.h"

namespace tidemark {

/// A StatArray that is cheap to change: the cell `all` and the decreases are worked out when read.
class Gauge {
 public:
  void increase(PoolKind kind, std::int64_t amount) {
    const auto at = static_cast<std::size_t>(kind);
    Cell& cell = cells_[at];
    cell.allocated += amount;
    const std::int64_t now = cell.current + amount;
    cell.current = now;
    if (now > cell.peak) cell.peak = now;
    const std::int64_t all = now + cells_[1 - at].current;
    if (all > all_peak_) all_peak_ = all;
  }
  void decrease(PoolKind kind, std::int64_t amount) {
    cells_[static_cast<std::size_t>(kind)].current -= amount;
  }
  void reset_peak() {
    for (Cell& cell : cells_) cell.peak = cell.current;
    all_peak_ = current();
  }
  void reset_accumulated() {
    for (Cell& cell : cells_) {
      cell.allocated = 0;
      cell.base = cell.current;
    }
  }
  [[nodiscard]] std::int64_t current() const { return cells_[0].current + cells_[1].current; }
  [[nodiscard]] std::int64_t current(PoolKind kind) const {
    return cells_[static_cast<std::size_t>(kind)].current;
  }
  [[nodiscard]] StatArray read() const {
    StatArray array;
    array.small_pool = cells_[0].read();
    array.large_pool = cells_[1].read();
    array.all = {current(), all_peak_, array.small_pool.allocated + array.large_pool.allocated,
                 array.small_pool.freed + array.large_pool.freed};
    return array;
  }

 private:
  struct Cell {
    std::int64_t current = 0;
    std::int64_t peak = 0;
    std::int64_t allocated = 0;
    std::int64_t base = 0;  ///< current at the last reset of the accumulated fields
    [[nodiscard]] Stat read() const { return {current, peak, allocated, allocated + base - current}; }
  };
  std::array<Cell, 2> cells_{};
  std::int64_t all_peak_ = 0;
};

/// Blocks freed by their owner that other streams still use: what `active` has beyond `allocation`, and its peaks.
class PendingGauge {
 public:
  void add(PoolKind kind, std::int64_t bytes) {
    Cell& cell = cells_[static_cast<std::size_t>(kind)];
    ++cell.count;
    cell.bytes += bytes;
  }
  void remove(PoolKind kind, std::int64_t bytes) {
    Cell& cell = cells_[static_cast<std::size_t>(kind)];
    --cell.count;
    cell.bytes -= bytes;
  }
  /// To be called after each hand-out while anything is pending; `allocation` and `bytes` are the gauges of allocated blocks.
  void note_peak(PoolKind kind, const Gauge& allocation, const Gauge& bytes);
  void reset_peak(const Gauge& allocation, const Gauge& bytes);
  void reset_accumulated();
  [[nodiscard]] StatArray read_count(const Gauge& allocation) const;
  [[nodiscard]] StatArray read_bytes(const Gauge& bytes) const;
  [[nodiscard]] std::int64_t bytes() const { return cells_[0].bytes + cells_[1].bytes; }

 private:
  struct Cell {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::int64_t count_base = 0;  ///< count and bytes at the last reset of the accumulated fields
    std::int64_t bytes_base = 0;
  };
  struct Peaks {
    std::int64_t all = 0;
    std::array<std::int64_t, 2> kinds{};
  };
  std::array<Cell, 2> cells_{};
  Peaks count_peaks_;
  Peaks bytes_peaks_;
};

}  // namespace tidemark
