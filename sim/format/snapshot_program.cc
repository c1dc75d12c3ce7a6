#include "sim/format/snapshot_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "sim/base/problem.h"
#include "sim/format/address_map.h"
#include "sim/format/snapshot_start.h"

namespace tidemark {

namespace {

bool is_release(Action action) {
  return action == Action::kSegmentFree || action == Action::kSegmentUnmap;
}

bool is_gain(Action action) {
  return action == Action::kSegmentAlloc || action == Action::kSegmentMap;
}

}  // namespace

/// Turns one range of one device's trace into instructions.
class SnapshotRequests::Converter {
 public:
  Converter(const Snapshot& snapshot, const SnapshotProgramOptions& options)
      : snapshot_(snapshot), options_(options), trace_(snapshot.trace(options.device)) {
    end_ = std::min(options.to_event, trace_.size());
    // A free whose request was cut off belongs to the time before.
    from_ = options.from_event;
    while (from_ + 1 < end_ && trace_[from_].action == Action::kFreeCompleted) ++from_;
    spare_stream_ = static_cast<StreamId>(snapshot.streams.size());
  }

  /// All up to the first recorded event.
  void start() {
    SnapshotRewind rewind(snapshot_, options_.device);
    out_.start = rewind.before(from_);
    if (rewind.contradictions() > 0) {
      out_.notes.push_back(fmt::format(
          "{} recorded events contradict the segments at the end or each other; the first is {}",
          rewind.contradictions(), rewind.first_contradiction()));
    }
    out_.warm = !out_.start.segments.empty();
    StartBuilder(snapshot_, options_, from_, out_).run();
    note_device();
    begin();
    reserved_ = out_.start.reserved_bytes();
    at_ = from_;
  }

  /// Takes at most `most` events; instructions go to `instructions`, where none is given to the
  /// program. Returns whether there were any.
  bool run(std::vector<Instruction>* instructions, std::vector<Event>* recorded, std::size_t most) {
    if (is_over_) return false;
    sink_ = instructions;
    recorded_ = recorded;
    const std::size_t until = at_ + std::min(most, end_ - at_);
    for (; at_ < until; ++at_) step(trace_[at_]);
    if (at_ == end_) end();
    return true;
  }

  [[nodiscard]] SnapshotProgram& program() { return out_; }

 private:
  void end() {
    is_over_ = true;
    marks_until(std::numeric_limits<std::int64_t>::max());
    if (contradictions_ > 0) {
      out_.notes.push_back(
          fmt::format("{} frees of blocks that nothing allocated were left out", contradictions_));
    }
  }

  enum class State : std::uint8_t { kAllocated, kFreed, kPending };
  struct Live {
    RequestId id = kNoRequest;
    State state = State::kAllocated;
    StreamId waits_for = 0;
  };

  /// What the driver gave and took, and what it had in all: held plus free at the first
  /// out-of-memory error; 0: none was recorded.
  void note_device() {
    Bytes held = out_.peak_reserved_bytes = out_.start.reserved_bytes();
    for (at_ = from_; at_ < end_; ++at_) {
      const SnapshotEvent event = trace_[at_];
      if (is_gain(event.action)) {
        held += event.bytes;
        out_.gained_bytes += event.bytes;
        out_.peak_reserved_bytes = std::max(out_.peak_reserved_bytes, held);
        note_device_address(event);
      } else if (is_release(event.action)) {
        held -= std::min(held, event.bytes);
        if (event.action == Action::kSegmentUnmap) note_unmapped(event);
      } else if (event.action == Action::kOom && !has_refused_) {
        has_refused_ = true;
        out_.capacity_bytes = held + event.address;
      }
    }
  }

  /// Who holds what at the start, the blocks that are free but for another stream's work included.
  void begin() {
    std::ranges::sort(out_.start_ids);
    for (const auto& [address, id] : out_.start_ids) live_[address] = {id, State::kAllocated, 0};
    out_.start_ids.clear();
    for (const StateBlock& block : out_.start.blocks) {
      if (!block.pending) continue;
      if (Live* live = live_.find(block.address)) free_later(*live);
    }
    if (!out_.warm) return;
    emit(Verb::kResetPeak, kNoRequest);
    out_.start_instructions = out_.instructions.size();
  }

  void free_later(Live& live) {
    ++out_.late_frees;
    live.state = State::kPending;
    live.waits_for = take_spare_stream();
    emit(Verb::kUse, live.id, 0, live.waits_for);
    emit(Verb::kFree, live.id);
  }

  void emit(Verb verb, RequestId id, Bytes bytes = 0, StreamId stream = 0, PoolId pool = 0,
            LabelId label = 0) {
    const Instruction instruction{bytes, id, label, stream, pool, verb, options_.played_device};
    if (sink_ == nullptr) {
      out_.instructions.push_back(instruction);
    } else {
      sink_->push_back(instruction);
      ++emitted_;
    }
  }

  void record(const SnapshotEvent& event, RequestId id) {
    if (recorded_ == nullptr) return;
    recorded_->push_back({event.address, event.bytes, id,
                          static_cast<std::uint32_t>(out_.instructions.size() + emitted_),
                          event.stream, event.action, options_.device});
  }

  RequestId new_request() {
    if (options_.keep_origins) out_.origins.add_recorded(at_);
    return out_.requests++;
  }

  LabelId label_of(StackId stack) {
    if (stack >= labels_.size()) labels_.resize(snapshot_.stacks.size());
    if (!labels_[stack])
      labels_[stack] = out_.program.labels.intern(stack_summary(snapshot_, stack));
    return *labels_[stack];
  }

  void marks_until(std::int64_t time_us) {
    while (next_annotation_ < snapshot_.annotations.size()) {
      const SnapshotAnnotation& each = snapshot_.annotations[next_annotation_];
      if (each.device == options_.device) {
        if (each.time_us > time_us) return;
        if (at_ > from_ || each.time_us >= trace_[from_].time_us) {
          const std::string_view name = snapshot_.texts[each.name];
          emit(Verb::kMark, kNoRequest, 0, 0, 0,
               out_.program.labels.intern(each.end ? fmt::format("after {}", name)
                                                   : std::string(name)));
        }
      }
      ++next_annotation_;
    }
  }

  /// The pool of a request: recorded from 2.12 on, else that of the segment in which it lies at the
  /// end, provided that the segment was there already: before, its addresses may have been
  /// another's.
  std::uint16_t pool_of(const SnapshotEvent& event) {
    if (event.pool != 0 || snapshot_.pools.size() == 1) return event.pool;
    const auto after = std::ranges::upper_bound(
        snapshot_.segments, std::pair(options_.device, event.address), {},
        [](const SnapshotSegment& segment) { return std::pair(segment.device, segment.address); });
    if (after == snapshot_.segments.begin()) return 0;
    const SnapshotSegment& segment = *std::prev(after);
    const bool inside =
        segment.device == options_.device && event.address < segment.address + segment.total_bytes;
    return inside && at_ >= made_at(segment) ? segment.pool : std::uint16_t{0};
  }

  /// The event that made a segment of the end; 0 for one that was there before, and for expandable
  /// ones, whose addresses are theirs alone.
  std::size_t made_at(const SnapshotSegment& segment) {
    if (segment.expandable) return 0;
    if (!knows_made_) {
      for (std::size_t i = 0; i < trace_.size(); ++i) {
        if (trace_[i].action == Action::kSegmentAlloc) made_at_[trace_[i].address] = i;
      }
      knows_made_ = true;
    }
    const std::size_t* made = made_at_.find(segment.address);
    return made == nullptr ? 0 : *made;
  }

  StreamId take_spare_stream() {
    if (!idle_streams_.empty()) {
      const StreamId stream = *idle_streams_.begin();
      idle_streams_.erase(idle_streams_.begin());
      return stream;
    }
    if (spare_stream_ == std::numeric_limits<StreamId>::max()) {
      Problem problem;
      problem.message = "more than 60000 blocks wait for other streams at once";
      throw InputError(std::move(problem));
    }
    return spare_stream_++;
  }

  void step(const SnapshotEvent& event) {
    marks_until(event.time_us);
    switch (event.action) {
      case Action::kAlloc: {
        const RequestId id = new_request();
        live_[event.address] = {id, State::kAllocated, 0};
        record(event, id);
        emit(Verb::kAlloc, id, event.bytes, event.stream,
             pool_number(snapshot_.pools[pool_of(event)]), label_of(event.stack));
        break;
      }
      case Action::kFreeRequested:
        free_requested(event);
        break;
      case Action::kFreeCompleted:
        free_completed(event);
        break;
      case Action::kSegmentAlloc:
      case Action::kSegmentMap:
        reserved_ += event.bytes;
        record(event, kNoRequest);
        break;
      case Action::kSegmentFree:
      case Action::kSegmentUnmap:
        if (at_ == from_ || !is_release(trace_[at_ - 1].action)) releases_begin();
        reserved_ -= std::min(reserved_, event.bytes);
        record(event, kNoRequest);
        break;
      case Action::kOom: {
        const RequestId id = new_request();
        record(event, id);
        emit(Verb::kAlloc, id, event.bytes, event.stream, 0, label_of(event.stack));
        break;
      }
      case Action::kSnapshot:
        break;
    }
  }

  void free_requested(const SnapshotEvent& event) {
    Live* live = live_.find(event.address);
    if (live == nullptr || live->state != State::kAllocated) {
      ++contradictions_;
      return;
    }
    record(event, live->id);
    const bool at_once = at_ + 1 < trace_.size() &&
                         trace_[at_ + 1].action == Action::kFreeCompleted &&
                         trace_[at_ + 1].address == event.address;
    if (!at_once) {
      free_later(*live);
      return;
    }
    live->state = State::kFreed;
    emit(Verb::kFree, live->id);
  }

  void free_completed(const SnapshotEvent& event) {
    Live* live = live_.find(event.address);
    if (live == nullptr) {
      ++contradictions_;
      return;
    }
    const Live each = *live;
    live_.erase(event.address);
    record(event, each.id);
    if (each.state == State::kAllocated)
      emit(Verb::kFree, each.id);  // its free_requested was not recorded
    if (each.state == State::kPending) {
      emit(Verb::kSync, kNoRequest, 0, each.waits_for);
      idle_streams_.insert(each.waits_for);
    }
  }

  /// Segments are given back from here on: by the program's empty_cache(), or within the request
  /// that comes next? Their stack tells; where none was recorded, whether the next memory had
  /// fitted beside them, when the capacity is known.
  void releases_begin() {
    std::size_t next = at_;
    while (next < trace_.size() && is_release(trace_[next].action)) ++next;
    bool within_request = false;
    if (next < trace_.size()) {
      const SnapshotEvent after = trace_[next];
      const bool gets_memory = is_gain(after.action);
      if (after.action == Action::kOom) {
        within_request = true;
      } else if (gets_memory && trace_[at_].stack != 0) {
        within_request = !names_empty_cache(trace_[at_].stack);
      } else if (gets_memory) {
        within_request = out_.capacity_bytes != 0 && reserved_ + after.bytes > out_.capacity_bytes;
      }
    }
    if (within_request) {
      ++out_.reclaims;
    } else {
      ++out_.empty_caches;
    }
    if (!within_request || options_.repeat_reclaims) emit(Verb::kEmptyCache, kNoRequest);
  }

  bool names_empty_cache(StackId stack) const {
    return std::ranges::any_of(snapshot_.stack(stack), [this](std::uint32_t frame) {
      const std::string_view name = snapshot_.texts[snapshot_.frames[frame].name];
      return name.find("empty_cache") != std::string_view::npos ||
             name.find("emptyCache") != std::string_view::npos;
    });
  }

  /// A request above 1 MiB lies in a large pool; the one that made the allocator map comes right
  /// after.
  bool next_request_is_small() {
    next_request_ = std::max(next_request_, at_);
    while (next_request_ < trace_.size() && trace_[next_request_].action != Action::kAlloc)
      ++next_request_;
    return next_request_ < trace_.size() && trace_[next_request_].bytes <= kMiB;
  }

  void note_device_address(const SnapshotEvent& event) {
    if (event.action == Action::kSegmentAlloc) {
      out_.addresses.segments.push_back({event.bytes, event.address});
      return;
    }
    const std::tuple key(event.stream, pool_of(event), next_request_is_small());
    Bytes& mapped = out_.mapped[key];
    if (mapped == 0) out_.addresses.reservations.push_back(event.address);
    mapped += event.bytes;
  }

  void note_unmapped(const SnapshotEvent& event) {
    // Large pages are whole multiples of small ones: try the kind that has as much mapped, the
    // large one first.
    for (const bool small : {false, true}) {
      const auto found = out_.mapped.find({event.stream, pool_of(event), small});
      if (found == out_.mapped.end() || found->second < event.bytes) continue;
      found->second -= event.bytes;
      return;
    }
  }

  const Snapshot& snapshot_;
  const SnapshotProgramOptions& options_;
  EventTrace trace_;
  StartedProgram out_;
  std::vector<Instruction>* sink_ = nullptr;
  std::vector<Event>* recorded_ = nullptr;
  std::size_t emitted_ = 0;  ///< to sinks
  AddressMap<Live> live_;
  std::set<StreamId> idle_streams_;
  AddressMap<std::size_t> made_at_;  ///< the last segment_alloc at each address
  bool knows_made_ = false;
  std::vector<std::optional<LabelId>> labels_;
  StreamId spare_stream_ = 0;
  std::size_t from_ = 0;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t next_annotation_ = 0;
  std::size_t next_request_ = 0;  ///< where the last search for an alloc ended
  std::size_t contradictions_ = 0;
  Bytes reserved_ = 0;
  bool has_refused_ = false;  ///< an out-of-memory error was recorded
  bool is_over_ = false;
};

namespace {

bool is_python(std::string_view filename) {
  return filename.ends_with(".py") || filename.starts_with('<');
}

/// Files of PyTorch itself that stand between the user's line and the operator.
bool is_plumbing(std::string_view filename, std::string_view name) {
  return filename.find("torch/nn/modules/module.py") != std::string_view::npos ||
         (filename == "module.py" && (name == "_call_impl" || name == "_wrapped_call_impl"));
}

/// "at::_ops::mm::call(...)" gives "mm"; "torch::autograd::generated::MmBackward0::apply" gives
/// "MmBackward0".
std::string_view operator_of(std::string_view name) {
  for (const std::string_view prefix : {"at::_ops::", "torch::autograd::generated::"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    return rest.substr(0, rest.find("::"));
  }
  return {};
}

}  // namespace

SnapshotRequests::SnapshotRequests(const Snapshot& snapshot,
                                   const SnapshotProgramOptions& options) {
  const std::size_t count = snapshot.trace(options.device).size();
  if (options.from_event >= std::min(options.to_event, count)) {
    Problem problem;
    problem.at.source = std::make_shared<SourceText>(SourceText{snapshot.name, {}, 1, 0});
    if (count == 0) {
      problem.message =
          fmt::format("the snapshot has no recorded history of device {}", options.device);
      problem.hint = "call torch.cuda.memory._record_memory_history() before the code in question";
    } else {
      problem.message =
          fmt::format("no recorded event of device {} lies in the range asked for", options.device);
    }
    throw InputError(std::move(problem));
  }
  converter_ = std::make_unique<Converter>(snapshot, options);
  converter_->start();
}

SnapshotRequests::SnapshotRequests(SnapshotRequests&&) noexcept = default;
SnapshotRequests::~SnapshotRequests() = default;

const SnapshotProgram& SnapshotRequests::program() const { return converter_->program(); }

bool SnapshotRequests::next(std::vector<Instruction>& instructions, std::vector<Event>& recorded,
                            std::size_t most) {
  instructions.clear();
  recorded.clear();
  return converter_->run(&instructions, &recorded, most);
}

SnapshotProgram make_snapshot_program(const Snapshot& snapshot,
                                      const SnapshotProgramOptions& options) {
  const SnapshotRequests requests(snapshot, options);
  requests.converter_->run(nullptr, nullptr, std::numeric_limits<std::size_t>::max());
  return std::move(requests.converter_->program());
}

PoolId pool_number(const SnapshotPool& pool) {
  constexpr std::uint64_t kFirstCapture = 0x8000;
  if (pool.capture == 0) return static_cast<PoolId>(std::min(pool.user, kFirstCapture - 1));
  return static_cast<PoolId>(std::min<std::uint64_t>(kFirstCapture + pool.capture - 1, 0xffff));
}

std::vector<std::uint8_t> recorded_devices(const Snapshot& snapshot) {
  std::vector<std::uint8_t> devices;
  for (std::size_t i = 0; i < snapshot.traces.size(); ++i) {
    if (snapshot.traces[i].count > 0) devices.push_back(static_cast<std::uint8_t>(i));
  }
  return devices;
}

std::string stack_summary(const Snapshot& snapshot, StackId stack) {
  std::string_view op;
  const SnapshotFrame* line = nullptr;
  for (const std::uint32_t index : snapshot.stack(stack)) {
    const SnapshotFrame& frame = snapshot.frames[index];
    const std::string_view filename = snapshot.texts[frame.filename];
    const std::string_view name = snapshot.texts[frame.name];
    if (const std::string_view found = operator_of(name); line == nullptr && !found.empty())
      op = found;
    if (line == nullptr && is_python(filename) && !is_plumbing(filename, name)) line = &frame;
  }
  std::string out(op);
  if (line != nullptr) {
    std::string_view file = snapshot.texts[line->filename];
    if (const std::size_t slash = file.rfind('/'); slash != std::string_view::npos)
      file.remove_prefix(slash + 1);
    if (!out.empty()) out += " at ";
    out += fmt::format("{}:{} {}", file, line->line, snapshot.texts[line->name]);
  }
  if (out.empty() && !snapshot.stack(stack).empty()) {
    out = snapshot.texts[snapshot.frames[snapshot.stack(stack).back()].name];
  }
  return out;
}

}  // namespace tidemark
