#pragma once

#include <array>
#include <cstdint>

#include "sim/alloc/stats.h"

namespace tidemark {

/// What changes at every request.
enum class Amount : std::uint8_t {
  kAllocations,
  kAllocatedBytes,
  kRequestedBytes,
  kInactiveSplits,
  kInactiveSplitBytes,
};

/// The amounts of one pool kind.
struct Tally {
  struct Cell {
    std::int64_t current = 0;
    std::int64_t peak = 0;
    std::int64_t allocated = 0;
    std::int64_t base = 0;  ///< current at the last reset of the accumulated fields
  };
  std::array<Cell, 5> cells{};
  [[nodiscard]] Cell& operator[](Amount which) { return cells[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const Cell& operator[](Amount which) const {
    return cells[static_cast<std::size_t>(which)];
  }
  void decrease(Amount which, std::int64_t by) { (*this)[which].current -= by; }
};

/// The amounts of both pool kinds, as cheap to change as can be: what a StatArray has beside the
/// cells of the kinds is worked out when read, but for the peak of their sum.
class Books {
 public:
  struct Levels {
    std::int64_t kind;
    std::int64_t all;
  };
  [[nodiscard]] Tally& of(PoolKind kind) { return tallies_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Tally& beside(PoolKind kind) {
    return tallies_[1 - static_cast<std::size_t>(kind)];
  }

  /// Requires: `own` and `other` are of() and beside() of one kind. Returns the new levels.
  [[gnu::always_inline]] Levels increase(Amount which, Tally& own, const Tally& other,
                                         std::int64_t by) {
    Tally::Cell& cell = own[which];
    cell.allocated += by;
    const std::int64_t now = cell.current + by;
    cell.current = now;
    if (now > cell.peak) cell.peak = now;
    const std::int64_t all = now + other[which].current;
    std::int64_t& peak = all_peaks_[static_cast<std::size_t>(which)];
    if (all > peak) peak = all;
    return {now, all};
  }
  void reset_peak();
  void reset_accumulated();
  [[nodiscard]] std::int64_t current(Amount which) const {
    return tallies_[0][which].current + tallies_[1][which].current;
  }
  [[nodiscard]] std::int64_t current(Amount which, PoolKind kind) const {
    return tallies_[static_cast<std::size_t>(kind)][which].current;
  }
  [[nodiscard]] StatArray read(Amount which) const;

 private:
  std::array<Tally, 2> tallies_{};
  std::array<std::int64_t, 5> all_peaks_{};
};

/// Blocks freed by their owner that other streams still use: what `active` has beyond `allocation`,
/// and its peaks. A peak is kept less what is pending, so that allocated amounts can be compared
/// with it as they are.
class PendingGauge {
 public:
  void add(PoolKind kind, std::int64_t bytes) { change(kind, 1, bytes); }
  void remove(PoolKind kind, std::int64_t bytes) { change(kind, -1, -bytes); }
  /// To be called after each hand-out while anything is pending, with the levels it made.
  [[gnu::always_inline]] void note_peak(PoolKind kind, Books::Levels count, Books::Levels bytes) {
    const auto at = static_cast<std::size_t>(kind);
    if (count.kind > count_.peaks[at]) count_.peaks[at] = count.kind;
    if (count.all > count_.all_peak) count_.all_peak = count.all;
    if (bytes.kind > bytes_.peaks[at]) bytes_.peaks[at] = bytes.kind;
    if (bytes.all > bytes_.all_peak) bytes_.all_peak = bytes.all;
  }
  void reset_peak(const Books& books);
  void reset_accumulated() {
    count_.bases = count_.pending;
    bytes_.bases = bytes_.pending;
  }
  [[nodiscard]] StatArray read_count(const Books& books) const {
    return count_.widen(books.read(Amount::kAllocations));
  }
  [[nodiscard]] StatArray read_bytes(const Books& books) const {
    return bytes_.widen(books.read(Amount::kAllocatedBytes));
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_.pending[0] + bytes_.pending[1]; }

 private:
  using Kinds = std::array<std::int64_t, 2>;
  struct Pending {
    Kinds pending{};
    Kinds bases{};  ///< pending at the last reset of the accumulated fields
    Kinds peaks{};  ///< of active, less what is pending
    std::int64_t all_peak = 0;
    void change(std::size_t kind, std::int64_t by) {
      pending[kind] += by;
      peaks[kind] -= by;
      all_peak -= by;
    }
    [[nodiscard]] StatArray widen(const StatArray& allocated) const;
  };
  void change(PoolKind kind, std::int64_t count, std::int64_t bytes) {
    count_.change(static_cast<std::size_t>(kind), count);
    bytes_.change(static_cast<std::size_t>(kind), bytes);
  }
  Pending count_;
  Pending bytes_;
};

}  // namespace tidemark
