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

/// The amounts of one pool kind. A level is not kept: it is what `room` has lost since Books last
/// settled, so that a change costs one addition to it, and a peak the test of its sign.
struct Tally {
  struct Cell {
    std::int64_t allocated = 0;  ///< sum of the increases
    std::int64_t room = 0;       ///< how much more before a peak could move; 0 or more
  };
  std::array<Cell, 5> cells{};
  [[nodiscard]] Cell& operator[](Amount which) { return cells[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const Cell& operator[](Amount which) const {
    return cells[static_cast<std::size_t>(which)];
  }
  void decrease(Amount which, std::int64_t by) { (*this)[which].room += by; }
};

/// The amounts of both pool kinds and what follows from them, as cheap to change as can be.
///
/// A StatArray has three peaks: of each kind and of their sum. A kind gets as room what is left
/// below its own peak, both together at most what is left below the sum's: while the rooms are 0 or
/// more no peak can have moved. `active`, which has what other streams still use beside what is
/// allocated, limits the rooms in the same way.
///
/// Invariants between calls, which validate() checks, for every amount and kind:
///  * Level and room are 0 or more. Their sum, `settled`, changes in settle() and add_pending()
///    alone.
///  * settled <= the kind's peak; both kinds' settled together <= the peak of the sum.
///  * The same for settled + pending and the active peaks, from the first pending block on.
///  * Pending amounts are 0 or more, and 0 until then.
class Books {
 public:
  [[nodiscard]] Tally& of(PoolKind kind) { return tallies_[static_cast<std::size_t>(kind)]; }

  /// Requires: `own` is of() some kind.
  template <Amount kWhich>
  [[gnu::always_inline]] void increase(Tally& own, std::int64_t by) {
    Tally::Cell& cell = own[kWhich];
    cell.allocated += by;
    if ((cell.room -= by) < 0) [[unlikely]]
      settle<kWhich>(own);
  }
  /// A block that its owner freed, and whose allocated amounts were decreased, stays active.
  void add_pending(PoolKind kind, std::int64_t bytes);
  void remove_pending(PoolKind kind, std::int64_t bytes);

  void reset_peak();
  [[nodiscard]] std::int64_t current(Amount which) const {
    return current(which, PoolKind::kSmall) + current(which, PoolKind::kLarge);
  }
  [[nodiscard]] std::int64_t current(Amount which, PoolKind kind) const {
    const auto at = static_cast<std::size_t>(kind);
    return ledgers_[static_cast<std::size_t>(which)].settled[at] - tallies_[at][which].room;
  }
  [[nodiscard]] std::int64_t pending_bytes() const {
    const Kinds& bytes = active_[static_cast<std::size_t>(Amount::kAllocatedBytes)].pending;
    return bytes[0] + bytes[1];
  }
  [[nodiscard]] StatArray read(Amount which) const;
  /// What is active where `which`, kAllocations or kAllocatedBytes, is what is allocated.
  [[nodiscard]] StatArray read_active(Amount which) const;
  /// Checks the invariants above. Errors: InternalError. Cost: constant.
  void validate() const;

 private:
  using Kinds = std::array<std::int64_t, 2>;
  struct Peaks {
    Kinds kinds{};
    std::int64_t all = 0;
  };
  /// What is left below a peak of one kind and below that of both.
  struct Room {
    std::int64_t kind;
    std::int64_t all;
  };
  /// Takes the levels of kind `at` and of the other into account.
  static Room raise(Peaks& peaks, std::size_t at, std::int64_t level, std::int64_t other);
  struct Ledger {
    Kinds settled{};  ///< level and room together
    Peaks peaks;
  };
  struct Active {
    Kinds pending{};
    Peaks peaks;
  };
  template <Amount kWhich>
  void settle(Tally& own);

  std::array<Tally, 2> tallies_{};
  std::array<Ledger, 5> ledgers_{};
  std::array<Active, 2> active_{};  ///< of kAllocations and kAllocatedBytes
  bool was_pending_ = false;        ///< until then all that is active is allocated
};

}  // namespace tidemark
