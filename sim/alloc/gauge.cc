#include "sim/alloc/gauge.h"

#include <algorithm>

namespace tidemark {

void PendingGauge::note_peak(PoolKind kind, const Gauge& allocation, const Gauge& bytes) {
  const auto at = static_cast<std::size_t>(kind);
  std::int64_t& count_peak = count_peaks_.kinds[at];
  std::int64_t& bytes_peak = bytes_peaks_.kinds[at];
  count_peak = std::max(count_peak, allocation.current(kind) + cells_[at].count);
  bytes_peak = std::max(bytes_peak, bytes.current(kind) + cells_[at].bytes);
  count_peaks_.all = std::max(count_peaks_.all, allocation.current() + cells_[0].count + cells_[1].count);
  bytes_peaks_.all = std::max(bytes_peaks_.all, bytes.current() + cells_[0].bytes + cells_[1].bytes);
}

void PendingGauge::reset_peak(const Gauge& allocation, const Gauge& bytes) {
  count_peaks_ = {};
  bytes_peaks_ = {};
  note_peak(PoolKind::kSmall, allocation, bytes);
  note_peak(PoolKind::kLarge, allocation, bytes);
}

void PendingGauge::reset_accumulated() {
  for (Cell& cell : cells_) {
    cell.count_base = cell.count;
    cell.bytes_base = cell.bytes;
  }
}

namespace {

/// Adds what is pending to what is allocated. While nothing is pending the two are equal, so the peak of one is that of the
/// other there.
Stat widen(const Stat& allocated, std::int64_t pending, std::int64_t pending_base, std::int64_t peak) {
  return {allocated.current + pending, std::max(allocated.peak, peak), allocated.allocated,
          allocated.freed - pending + pending_base};
}

}  // namespace

StatArray PendingGauge::read_count(const Gauge& allocation) const {
  const StatArray base = allocation.read();
  return {widen(base.all, cells_[0].count + cells_[1].count, cells_[0].count_base + cells_[1].count_base,
                count_peaks_.all),
          widen(base.small_pool, cells_[0].count, cells_[0].count_base, count_peaks_.kinds[0]),
          widen(base.large_pool, cells_[1].count, cells_[1].count_base, count_peaks_.kinds[1])};
}

StatArray PendingGauge::read_bytes(const Gauge& bytes) const {
  const StatArray base = bytes.read();
  return {widen(base.all, cells_[0].bytes + cells_[1].bytes, cells_[0].bytes_base + cells_[1].bytes_base,
                bytes_peaks_.all),
          widen(base.small_pool, cells_[0].bytes, cells_[0].bytes_base, bytes_peaks_.kinds[0]),
          widen(base.large_pool, cells_[1].bytes, cells_[1].bytes_base, bytes_peaks_.kinds[1])};
}

}  // namespace tidemark
