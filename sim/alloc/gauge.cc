#include "sim/alloc/gauge.h"

namespace tidemark {
namespace {

/// Adds what is pending to what is allocated. While nothing is pending the two are equal, so the peak of one is that of the
/// other there.
Stat widen_cell(const Stat& allocated, std::int64_t pending, std::int64_t base, std::int64_t peak) {
  return {allocated.current + pending, std::max(allocated.peak, peak + pending), allocated.allocated,
          allocated.freed - pending + base};
}

}  // namespace

void PendingGauge::Amount::reset_peak(const Gauge& allocated) {
  peaks = {allocated.current(PoolKind::kSmall), allocated.current(PoolKind::kLarge)};
  all_peak = allocated.current();
}

StatArray PendingGauge::Amount::widen(const StatArray& allocated) const {
  return {widen_cell(allocated.all, pending[0] + pending[1], bases[0] + bases[1], all_peak),
          widen_cell(allocated.small_pool, pending[0], bases[0], peaks[0]),
          widen_cell(allocated.large_pool, pending[1], bases[1], peaks[1])};
}

}  // namespace tidemark
