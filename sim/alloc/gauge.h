#pragma once

#include <algorithm>
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

/// Blocks freed by their owner that other streams still use: what `active` has beyond `allocation`, and its peaks. A peak is
/// kept less what is pending, so that allocated amounts can be compared with it as they are.
class PendingGauge {
 public:
  void add(PoolKind kind, std::int64_t bytes) { change(kind, 1, bytes); }
  void remove(PoolKind kind, std::int64_t bytes) { change(kind, -1, -bytes); }
  /// To be called after each hand-out while anything is pending; `allocation` and `bytes` are the gauges of allocated blocks.
  void note_peak(PoolKind kind, const Gauge& allocation, const Gauge& bytes) {
    const auto at = static_cast<std::size_t>(kind);
    count_.peaks[at] = std::max(count_.peaks[at], allocation.current(kind));
    count_.all_peak = std::max(count_.all_peak, allocation.current());
    bytes_.peaks[at] = std::max(bytes_.peaks[at], bytes.current(kind));
    bytes_.all_peak = std::max(bytes_.all_peak, bytes.current());
  }
  void reset_peak(const Gauge& allocation, const Gauge& bytes) {
    count_.reset_peak(allocation);
    bytes_.reset_peak(bytes);
  }
  void reset_accumulated() {
    count_.bases = count_.pending;
    bytes_.bases = bytes_.pending;
  }
  [[nodiscard]] StatArray read_count(const Gauge& allocation) const { return count_.widen(allocation.read()); }
  [[nodiscard]] StatArray read_bytes(const Gauge& bytes) const { return bytes_.widen(bytes.read()); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_.pending[0] + bytes_.pending[1]; }

 private:
  using Kinds = std::array<std::int64_t, 2>;
  struct Amount {
    Kinds pending{};
    Kinds bases{};  ///< pending at the last reset of the accumulated fields
    Kinds peaks{};  ///< of active, less what is pending
    std::int64_t all_peak = 0;
    void change(std::size_t kind, std::int64_t by) {
      pending[kind] += by;
      peaks[kind] -= by;
      all_peak -= by;
    }
    void reset_peak(const Gauge& allocated);
    [[nodiscard]] StatArray widen(const StatArray& allocated) const;
  };
  void change(PoolKind kind, std::int64_t count, std::int64_t bytes) {
    count_.change(static_cast<std::size_t>(kind), count);
    bytes_.change(static_cast<std::size_t>(kind), bytes);
  }
  Amount count_;
  Amount bytes_;
};

}  // namespace tidemark
