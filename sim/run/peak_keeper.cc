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
