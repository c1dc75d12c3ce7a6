#include "sim/run/peak_keeper.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

using S = AllocatorStatistics;
constexpr std::array<StatArray S::*, 9> kArrays{
    &S::allocation,      &S::segment,        &S::active,       &S::inactive_split,
    &S::allocated_bytes, &S::reserved_bytes, &S::active_bytes, &S::inactive_split_bytes,
    &S::requested_bytes};
constexpr std::array<Stat S::*, 2> kCells{&S::oversize_allocations, &S::oversize_segments};
constexpr std::array<Stat StatArray::*, 3> kPools{&StatArray::all, &StatArray::small_pool,
                                                  &StatArray::large_pool};

constexpr std::array<std::int64_t S::*, 6> kCounters{
    &S::num_alloc_retries,    &S::num_ooms,         &S::num_oom_rejections,
    &S::num_sync_all_streams, &S::num_device_alloc, &S::num_device_free};

void add_growth_of(Stat& into, const Stat& then, const Stat& now, std::int64_t times) {
  into.allocated += times * (now.allocated - then.allocated);
  into.freed += times * (now.freed - then.freed);
}

void write_level(StateImage& image, const Stat& stat) {
  image.put_signed(stat.current);
  image.put_signed(stat.peak);
}

void raise(StatArray& into, const StatArray& from) {
  for (const auto pool : kPools) (into.*pool).peak = std::max((into.*pool).peak, (from.*pool).peak);
}

}  // namespace

void raise_peaks(AllocatorStatistics& into, const AllocatorStatistics& from) {
  for (const auto array : kArrays) raise(into.*array, from.*array);
  for (const auto cell : kCells) (into.*cell).peak = std::max((into.*cell).peak, (from.*cell).peak);
  auto at = into.reserved_bytes_by_private_pools.begin();
  for (const auto& [key, array] : from.reserved_bytes_by_private_pools) {
    at = std::find_if(at, into.reserved_bytes_by_private_pools.end(),
                      [&wanted = key](const auto& entry) { return entry.first >= wanted; });
    if (at == into.reserved_bytes_by_private_pools.end() || at->first != key) {
      at = into.reserved_bytes_by_private_pools.insert(at, {key, array});
    } else {
      raise(at->second, array);
    }
  }
}

void reset_peaks(AllocatorStatistics& into) {
  for (const auto array : kArrays) (into.*array).reset_peak();
  for (const auto cell : kCells) (into.*cell).reset_peak();
  for (auto& [key, array] : into.reserved_bytes_by_private_pools) array.reset_peak();
}

void add_growth(AllocatorStatistics& into, const AllocatorStatistics& then,
                const AllocatorStatistics& now, std::int64_t times) {
  for (const auto array : kArrays) {
    for (const auto pool : kPools)
      add_growth_of((into.*array).*pool, (then.*array).*pool, (now.*array).*pool, times);
  }
  for (const auto cell : kCells) add_growth_of(into.*cell, then.*cell, now.*cell, times);
  for (const auto counter : kCounters) into.*counter += times * (now.*counter - then.*counter);
}

void write_levels(StateImage& image, const AllocatorStatistics& statistics) {
  for (const auto array : kArrays) {
    for (const auto pool : kPools) write_level(image, (statistics.*array).*pool);
  }
  for (const auto cell : kCells) write_level(image, statistics.*cell);
}

void PeakKeeper::write_state(StateImage& image) const {
  for (const AllocatorStatistics* peaks : {&phase_, &program_, &run_}) write_levels(image, *peaks);
}

void PeakKeeper::keep(const AllocatorStatistics& statistics) {
  raise_peaks(phase_, statistics);
  raise_peaks(program_, statistics);
  raise_peaks(run_, statistics);
}

void PeakKeeper::program_reset(const AllocatorStatistics& statistics) {
  program_ = statistics;
  reset_peaks(program_);
}

void PeakKeeper::phase_began(const AllocatorStatistics& statistics) {
  phase_ = statistics;
  reset_peaks(phase_);
}

}  // namespace tidemark
