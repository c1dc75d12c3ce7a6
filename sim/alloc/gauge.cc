#include "sim/alloc/gauge.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {

inline Books::Room Books::raise(Peaks& peaks, std::size_t at, std::int64_t level,
                                std::int64_t other) {
  if (level > peaks.kinds[at]) peaks.kinds[at] = level;
  const std::int64_t sum = level + other;
  if (sum > peaks.all) peaks.all = sum;
  return {peaks.kinds[at] - level, peaks.all - sum};
}

template <Amount kWhich>
[[gnu::noinline]] void Books::settle(Tally& own) {
  constexpr auto amount = static_cast<std::size_t>(kWhich);
  const std::size_t at = &own == tallies_.data() ? 0 : 1;
  Ledger& ledger = ledgers_[amount];
  Tally::Cell& cell = own[kWhich];
  Tally::Cell& beside = tallies_[1 - at][kWhich];
  const std::int64_t level = ledger.settled[at] - cell.room;
  const std::int64_t other = ledger.settled[1 - at] - beside.room;
  Room room = raise(ledger.peaks, at, level, other);
  if constexpr (kWhich == Amount::kAllocations || kWhich == Amount::kAllocatedBytes) {
    if (was_pending_) {
      Active& active = active_[amount];
      const Room wider =
          raise(active.peaks, at, level + active.pending[at], other + active.pending[1 - at]);
      room = {std::min(room.kind, wider.kind), std::min(room.all, wider.all)};
    }
  }
  if (room.all - beside.room < room.kind) {
    // The sum's peak is near: the other kind keeps half at most.
    const std::int64_t kept = std::min(beside.room, room.all / 2);
    ledger.settled[1 - at] -= beside.room - kept;
    beside.room = kept;
    room.kind = std::min(room.kind, room.all - kept);
  }
  cell.room = room.kind;
  ledger.settled[at] = level + room.kind;
}

template void Books::settle<Amount::kAllocations>(Tally&);
template void Books::settle<Amount::kAllocatedBytes>(Tally&);
template void Books::settle<Amount::kRequestedBytes>(Tally&);
template void Books::settle<Amount::kInactiveSplits>(Tally&);
template void Books::settle<Amount::kInactiveSplitBytes>(Tally&);

void Books::add_pending(PoolKind kind, std::int64_t bytes) {
  if (!was_pending_) {
    was_pending_ = true;
    for (std::size_t each = 0; each < active_.size(); ++each)
      active_[each].peaks = ledgers_[each].peaks;
  }
  const auto at = static_cast<std::size_t>(kind);
  const auto add = [this, at](Amount which, std::int64_t by) {
    const auto amount = static_cast<std::size_t>(which);
    active_[amount].pending[at] += by;
    // The free made room below the allocated peaks, but not below the active ones.
    tallies_[at][which].room -= by;
    ledgers_[amount].settled[at] -= by;
  };
  add(Amount::kAllocations, 1);
  add(Amount::kAllocatedBytes, bytes);
}

void Books::remove_pending(PoolKind kind, std::int64_t bytes) {
  const auto at = static_cast<std::size_t>(kind);
  active_[static_cast<std::size_t>(Amount::kAllocations)].pending[at] -= 1;
  active_[static_cast<std::size_t>(Amount::kAllocatedBytes)].pending[at] -= bytes;
}

void Books::reset_peak() {
  for (Ledger& ledger : ledgers_) ledger.peaks = {};
  for (Active& active : active_) active.peaks = {};
  for (Tally& tally : tallies_) {
    settle<Amount::kAllocations>(tally);
    settle<Amount::kAllocatedBytes>(tally);
    settle<Amount::kRequestedBytes>(tally);
    settle<Amount::kInactiveSplits>(tally);
    settle<Amount::kInactiveSplitBytes>(tally);
  }
}

StatArray Books::read(Amount which) const {
  const Ledger& ledger = ledgers_[static_cast<std::size_t>(which)];
  const auto cell = [&](PoolKind kind) -> Stat {
    const auto at = static_cast<std::size_t>(kind);
    const std::int64_t level = current(which, kind);
    const std::int64_t allocated = tallies_[at][which].allocated;
    return {level, ledger.peaks.kinds[at], allocated, allocated - level};
  };
  StatArray array;
  array.small_pool = cell(PoolKind::kSmall);
  array.large_pool = cell(PoolKind::kLarge);
  array.all = {current(which), ledger.peaks.all,
               array.small_pool.allocated + array.large_pool.allocated,
               array.small_pool.freed + array.large_pool.freed};
  return array;
}

StatArray Books::read_active(Amount which) const {
  StatArray array = read(which);
  if (!was_pending_) return array;
  const Active& active = active_[static_cast<std::size_t>(which)];
  const auto widen = [](Stat& stat, std::int64_t pending, std::int64_t peak) {
    stat.current += pending;
    stat.freed -= pending;
    stat.peak = peak;
  };
  widen(array.all, active.pending[0] + active.pending[1], active.peaks.all);
  widen(array.small_pool, active.pending[0], active.peaks.kinds[0]);
  widen(array.large_pool, active.pending[1], active.peaks.kinds[1]);
  return array;
}

void Books::validate() const {
  const auto below = [](const Kinds& sums, const Peaks& peaks) {
    return sums[0] <= peaks.kinds[0] && sums[1] <= peaks.kinds[1] && sums[0] + sums[1] <= peaks.all;
  };
  for (std::size_t amount = 0; amount < ledgers_.size(); ++amount) {
    const auto place = [amount] { return fmt::format("amount {}", amount); };
    const Ledger& ledger = ledgers_[amount];
    for (std::size_t kind = 0; kind < tallies_.size(); ++kind) {
      const std::int64_t room = tallies_[kind].cells[amount].room;
      TIDEMARK_CHECK(room >= 0 && ledger.settled[kind] >= room, place());
    }
    TIDEMARK_CHECK(below(ledger.settled, ledger.peaks), place());
    if (amount >= active_.size()) continue;
    const Active& active = active_[amount];
    const Kinds sums{ledger.settled[0] + active.pending[0], ledger.settled[1] + active.pending[1]};
    if (was_pending_) {
      TIDEMARK_CHECK(active.pending[0] >= 0 && active.pending[1] >= 0, place());
      TIDEMARK_CHECK(below(sums, active.peaks), place());
    } else {
      TIDEMARK_CHECK(active.pending == Kinds{}, place());
    }
  }
}

}  // namespace tidemark
