#include "sim/run/phase_log.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

PhaseBytes at_end(const StatArray& now, const StatArray& peaks) {
  return {static_cast<Bytes>(now.all.current),
          static_cast<Bytes>(std::max(now.all.peak, peaks.all.peak))};
}

}  // namespace

std::uint32_t PhaseLog::current() const {
  return phases_.empty() ? kNoPhase : static_cast<std::uint32_t>(phases_.size() - 1);
}

void PhaseLog::begin(std::string name, const Moment& now) {
  PhaseResult& phase = phases_.emplace_back();
  phase.name = std::move(name);
  phase.first_event = now.event;
  phase.begin_ns = now.time_ns;
  has_begun_ = true;
}

void PhaseLog::end(const Moment& now, const AllocatorStatistics& statistics,
                   const AllocatorStatistics& peaks) {
  if (!has_begun_ && now.event > 0) phases_.emplace_back();
  if (phases_.empty()) return;
  PhaseResult& phase = phases_.back();
  phase.events = now.event - phase.first_event;
  phase.end_ns = now.time_ns;
  phase.allocated = at_end(statistics.allocated_bytes, peaks.allocated_bytes);
  phase.reserved = at_end(statistics.reserved_bytes, peaks.reserved_bytes);
  phase.active = at_end(statistics.active_bytes, peaks.active_bytes);
  phase.requested = at_end(statistics.requested_bytes, peaks.requested_bytes);
  phase.inactive_split_bytes = static_cast<Bytes>(statistics.inactive_split_bytes.all.current);
}

void PhaseLog::measure(std::string name, const Moment& now, AllocatorStatistics statistics,
                       Bytes device_free_bytes) {
  MeasuredPoint& point = points_.emplace_back();
  point.name = std::move(name);
  point.event = now.event;
  point.phase = current();
  point.time_ns = now.time_ns;
  point.statistics = std::move(statistics);
  point.device_free_bytes = device_free_bytes;
}

void PhaseLog::finish(DeviceResult& into) {
  into.phases = std::move(phases_);
  into.points = std::move(points_);
}

}  // namespace tidemark
