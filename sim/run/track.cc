#include "sim/run/track.h"

#include <algorithm>

namespace tidemark {

TrackStep& TrackRecorder::add(TrackStep::Kind kind, StreamId stream, std::uint32_t subject,
                              Nanoseconds host_ns) {
  if (track_.steps.size() >= RankTrack::kMostSteps) {
    track_.is_cut = true;
    return spare_ = {};
  }
  TrackStep& step = track_.steps.emplace_back();
  step.kind = kind;
  step.stream = stream;
  step.subject = subject;
  step.host_ns = host_ns;
  return step;
}

void TrackRecorder::launch(StreamId stream, Nanoseconds duration_ns, Bytes allocated) {
  if (next_transfer_ != kNone) {
    TrackStep& step = add(TrackStep::Kind::kTransfer, stream, next_transfer_, launch_ns_);
    step.allocated = allocated;
    next_transfer_ = kNone;
    return;
  }
  std::vector<TrackStep>& steps = track_.steps;
  const bool joins = !steps.empty() && steps.back().kind == TrackStep::Kind::kWork &&
                     steps.back().stream == stream &&
                     (moments_.empty() || moments_.back() < steps.size());
  TrackStep& step = joins ? steps.back() : add(TrackStep::Kind::kWork, stream, 0, 0);
  if (!joins) step.allocated = allocated;
  // Of two runs, one behind the other, each as end = max(before + busy, begun + lead).
  step.lead_ns = std::max(step.lead_ns, step.host_ns + launch_ns_) + duration_ns;
  step.busy_ns += duration_ns;
  step.host_ns += launch_ns_;
}

void TrackRecorder::record(StreamId stream, std::uint32_t event) {
  add(TrackStep::Kind::kRecord, stream, event, event_ns_);
}
void TrackRecorder::wait(StreamId stream, std::uint32_t event) {
  add(TrackStep::Kind::kWait, stream, event, event_ns_);
}
void TrackRecorder::synchronize(StreamId stream) {
  add(TrackStep::Kind::kSyncStream, stream, 0, 0);
}
void TrackRecorder::synchronize_event(std::uint32_t event) {
  add(TrackStep::Kind::kSyncEvent, 0, event, 0);
}
void TrackRecorder::synchronize_all() { add(TrackStep::Kind::kSyncAll, 0, 0, 0); }
void TrackRecorder::spend(Nanoseconds duration_ns) {
  if (duration_ns > 0) add(TrackStep::Kind::kSpend, 0, 0, duration_ns);
}
void TrackRecorder::mark(LabelId phase, Bytes allocated) {
  add(TrackStep::Kind::kMark, 0, phase, 0).allocated = allocated;
}

void TrackRecorder::transfer(const QueuedTransfer& queued, Bytes allocated) {
  if (queued.how == QueuedTransfer::How::kNextLaunch) {
    next_transfer_ = queued.transfer;
    return;
  }
  if (queued.stream != queued.after) {
    add(TrackStep::Kind::kRecord, queued.after, own_events_, event_ns_);
    add(TrackStep::Kind::kWait, queued.stream, own_events_, event_ns_);
    --own_events_;
  }
  if (queued.how == QueuedTransfer::How::kBeside)
    add(TrackStep::Kind::kTransfer, queued.stream, queued.transfer, launch_ns_).allocated =
        allocated;
}

std::size_t TrackRecorder::moment() {
  moments_.push_back(static_cast<std::uint32_t>(track_.steps.size()));
  return moments_.size() - 1;
}

void TrackRecorder::repeat(std::size_t since, const Repeat& repeat) {
  add(TrackStep::Kind::kAgain, 0, moments_[since], 0).times = repeat.times;
  const std::int64_t turns = (repeat.last - repeat.first + 1) /
                             static_cast<std::int64_t>(std::max<std::uint64_t>(repeat.times, 1));
  track_.turns.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(turns, 1)));
}

}  // namespace tidemark
