#include "sim/alloc/gauge.h"

#include <algorithm>

namespace tidemark {

void Books::reset_peak() {
  for (std::size_t at = 0; at < all_peaks_.size(); ++at) {
    for (Tally& tally : tallies_) tally.cells[at].peak = tally.cells[at].current;
    all_peaks_[at] = tallies_[0].cells[at].current + tallies_[1].cells[at].current;
  }
}

void Books::reset_accumulated() {
  for (Tally& tally : tallies_) {
    for (Tally::Cell& cell : tally.cells) {
      cell.allocated = 0;
      cell.base = cell.current;
    }
  }
}

StatArray Books::read(Amount which) const {
  const auto cell = [this, which](PoolKind kind) -> Stat {
    const Tally::Cell& from = tallies_[static_cast<std::size_t>(kind)][which];
    return {from.current, from.peak, from.allocated, from.allocated + from.base - from.current};
  };
  StatArray array;
  array.small_pool = cell(PoolKind::kSmall);
  array.large_pool = cell(PoolKind::kLarge);
  array.all = {current(which), all_peaks_[static_cast<std::size_t>(which)],
               array.small_pool.allocated + array.large_pool.allocated,
               array.small_pool.freed + array.large_pool.freed};
  return array;
}

namespace {

/// Adds what is pending to what is allocated. While nothing is pending the two are equal, so the
/// peak of one is that of the other there.
Stat widen_cell(const Stat& allocated, std::int64_t pending, std::int64_t base, std::int64_t peak) {
  return {allocated.current + pending, std::max(allocated.peak, peak + pending),
          allocated.allocated, allocated.freed - pending + base};
}

}  // namespace

void PendingGauge::reset_peak(const Books& books) {
  const auto reset = [&books](Pending& pending, Amount which) {
    pending.peaks = {books.current(which, PoolKind::kSmall),
                     books.current(which, PoolKind::kLarge)};
    pending.all_peak = books.current(which);
  };
  reset(count_, Amount::kAllocations);
  reset(bytes_, Amount::kAllocatedBytes);
}

StatArray PendingGauge::Pending::widen(const StatArray& allocated) const {
  return {widen_cell(allocated.all, pending[0] + pending[1], bases[0] + bases[1], all_peak),
          widen_cell(allocated.small_pool, pending[0], bases[0], peaks[0]),
          widen_cell(allocated.large_pool, pending[1], bases[1], peaks[1])};
}

}  // namespace tidemark
