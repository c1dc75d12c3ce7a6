#include "sim/run/simulator.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/alloc/event_clock.h"
#include "sim/alloc/make_allocator.h"
#include "sim/base/check.h"
#include "sim/base/problem.h"
#include "sim/run/find_peak.h"
#include "sim/run/levels.h"

namespace tidemark {
namespace {

std::unique_ptr<TraceClock> trace_clock(const EventPolicy& policy) {
  switch (policy.kind) {
    case EventPolicy::Kind::kSync:
      return std::make_unique<TraceClock>(TraceClock::Policy::kSync);
    case EventPolicy::Kind::kReady:
      return std::make_unique<TraceClock>(TraceClock::Policy::kReady);
    case EventPolicy::Kind::kLag:
      return std::make_unique<TraceClock>(TraceClock::Policy::kLag, policy.lag);
    case EventPolicy::Kind::kSimulated:
      break;
  }
  return nullptr;
}

}  // namespace

/// What one device's allocator sees of time: the engine's clock where the run is timed, and the
/// answers of a trace policy where one is asked for.
class Simulator::Clock final : public EventClock {
 public:
  Clock(Simulator& simulator, std::uint8_t device)
      : simulator_(simulator), policy_(trace_clock(simulator.options_.policy)), device_(device) {
    follow_policy();
  }

  Ticket record(StreamId stream) override {
    if (policy_ != nullptr) {
      const Ticket ticket = policy_->record(stream);
      follow_policy();
      return ticket;
    }
    stamp();  // a full launch queue holds the host
    return engine().mark(number(stream));
  }
  bool is_done(StreamId stream, Ticket ticket) override {
    if (policy_ != nullptr) return policy_->is_done(stream, ticket);
    return engine().passed(static_cast<tidemark::Ticket>(ticket));
  }
  void wait(StreamId stream, Ticket ticket) override {
    if (policy_ != nullptr) {
      policy_->wait(stream, ticket);
      simulator_.follow_policies();
    } else {
      stamp();
      engine().synchronize_to(static_cast<tidemark::Ticket>(ticket));
    }
  }
  void synchronize(StreamId stream) override {
    if (policy_ != nullptr) policy_->synchronize(stream);
    if (TrackRecorder* track = simulator_.track(device_)) track->synchronize(stream);
    simulator_.follow_policies();
    if (!simulator_.is_timed_) return;
    stamp();
    engine().synchronize(number(stream));
  }
  void synchronize_device() override {
    if (policy_ != nullptr) policy_->synchronize_device();
    if (TrackRecorder* track = simulator_.track(device_)) track->synchronize_all();
    simulator_.follow_policies();
    if (!simulator_.is_timed_) return;
    stamp();
    const std::vector<StreamId>& streams = simulator_.streams_[device_];
    for (const StreamId stream : streams) {
      if (stream != kNoStream) engine().synchronize(stream);
    }
  }
  void device_call(DeviceCall call, Bytes bytes, StreamId /*stream*/) override {
    const Nanoseconds ns = driver_call_ns(simulator_.options_.costs, driver_call(call), bytes);
    ++calls_;
    calls_ns_ += ns;
    if (TrackRecorder* track = simulator_.track(device_)) track->spend(ns);
    if (!simulator_.is_timed_) return;
    stamp();
    engine().spend(ns);
  }
  /// Null where simulated time answers.
  [[nodiscard]] TraceClock* policy() const { return policy_.get(); }
  /// Simulated time moves at any call, so only a policy can tell that nothing is new.
  void follow_policy() {
    if (policy_ != nullptr) progress_ = policy_->progress();
  }
  void write_ticket(StateImage& image, Ticket ticket) const override {
    if (policy_ != nullptr) {
      EventClock::write_ticket(image, ticket);
    } else {
      simulator_.engine_.write_ticket(image, static_cast<tidemark::Ticket>(ticket));
    }
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] Nanoseconds calls_ns() const { return calls_ns_; }

 private:
  static DriverCall driver_call(DeviceCall call) {
    switch (call) {
      case DeviceCall::kFree:
        return DriverCall::kFree;
      case DeviceCall::kMap:
      case DeviceCall::kMapFailed:
        return DriverCall::kMap;
      case DeviceCall::kUnmap:
        return DriverCall::kUnmap;
      case DeviceCall::kMalloc:
      case DeviceCall::kMallocFailed:
        break;
    }
    return DriverCall::kMalloc;
  }
  Engine& engine() { return simulator_.engine_; }
  /// The clock is about to move: events so far happened before.
  void stamp() { simulator_.stamp(*simulator_.devices_[device_]); }
  StreamId number(StreamId stream) { return simulator_.stream_of(device_, stream); }

  Simulator& simulator_;
  std::unique_ptr<TraceClock> policy_;
  std::uint64_t calls_ = 0;
  Nanoseconds calls_ns_ = 0;
  std::uint8_t device_;
};

struct Simulator::Device {
  Device(Simulator& simulator, const SimulatedDevice& given, std::uint8_t index)
      : memory({given.spec.total_bytes, given.spec.context_bytes, given.other_bytes, index}),
        clock(simulator, index),
        allocator(make_allocator(given.settings, memory, clock, given.memory_fraction)),
        number(index) {
    result.spec = given.spec;
    result.settings = given.settings;
    if (!simulator.options_.keep_events) return;
    history.sampling = simulator.options_.keep_samples || !events_tell_levels(given.settings);
    allocator->set_history(&history);
  }

  DeviceMemory memory;
  Clock clock;
  std::unique_ptr<Allocator> allocator;
  History history;
  PeakKeeper peaks;
  PhaseLog phases;
  DeviceResult result;
  std::set<StreamId> users;            ///< streams that record_stream() named
  bool has_context = false;            ///< made when the program first asks something of the device
  std::vector<Nanoseconds> kernel_ns;  ///< by cost; -1: not yet worked out
  std::uint8_t number;
};

Simulator::Simulator(const Program& program, const std::vector<SimulatedDevice>& devices,
                     const SimulatorOptions& options)
    : program_(program),
      options_(options),
      engine_({.launch_overhead_ns = options.costs.launch_overhead_ns}),
      streams_(devices.size()),
      left_out_(devices.size()),
      is_timed_(options.keep_times || options.policy.kind == EventPolicy::Kind::kSimulated) {
  TIDEMARK_CHECK(!devices.empty() && devices.size() <= 256,
                 fmt::format("{} devices", devices.size()));
  for (const SimulatedDevice& device : devices) {
    const DeviceSpec& spec = device.spec;
    if (spec.total_bytes < spec.context_bytes ||
        spec.total_bytes - spec.context_bytes < device.other_bytes) {
      throw InputError(Problem{
          {},
          {},
          fmt::format("device '{}' has {} bytes in all, but {} are taken before the run starts",
                      spec.id, spec.total_bytes, spec.context_bytes + device.other_bytes),
          {}});
    }
    devices_.push_back(
        std::make_unique<Device>(*this, device, static_cast<std::uint8_t>(devices_.size())));
  }
  std::vector<EventClock*> clocks;
  for (const std::unique_ptr<Device>& device : devices_) clocks.push_back(&device->clock);
  host_ = std::make_unique<HostMemory>(std::move(clocks), options.keep_events);
  if (options.track_of)
    track_.emplace(options.costs.launch_overhead_ns, Engine::Options().event_overhead_ns);
}

Simulator::~Simulator() = default;

StreamId Simulator::stream_of(std::uint8_t device, StreamId stream) {
  std::vector<StreamId>& numbers = streams_[device];
  if (stream >= numbers.size()) numbers.resize(std::size_t{stream} + 1, kNoStream);
  if (numbers[stream] == kNoStream) numbers[stream] = next_stream_++;
  return numbers[stream];
}

bool Simulator::ends_run(const Instruction& instruction) const {
  switch (concern_of(instruction.verb)) {
    case Concern::kAllocator:
      return instruction.verb == Verb::kResetPeak;
    case Concern::kQueue:
      return is_timed_ || track_ || instruction.verb != Verb::kLaunch;
    case Concern::kHostMemory:
    case Concern::kRecord:
      break;
  }
  return true;
}

std::size_t Simulator::users(std::size_t device) const { return devices_[device]->users.size(); }

void Simulator::note_users(std::span<const Instruction> chunk) {
  for (const Instruction& instruction : chunk) {
    if (instruction.verb == Verb::kUse)
      devices_[instruction.device]->users.insert(instruction.stream);
  }
}

Outcome Simulator::execute(std::span<const Instruction> chunk) {
  if (options_.count_users) note_users(chunk);
  std::size_t at = 0;
  while (at < chunk.size()) {
    if (ends_run(chunk[at])) {
      execute_alone(chunk[at]);
      ++instructions_;
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    while (end < chunk.size() && chunk[end].device == chunk[at].device && !ends_run(chunk[end]))
      ++end;
    Device& device = *devices_[chunk[at].device];
    device.has_context = true;
    const std::span<const Instruction> run = chunk.subspan(at, end - at);
    const std::size_t first_event = device.history.events.size();
    device.allocator->set_instruction(static_cast<std::uint32_t>(instructions_));
    const std::size_t done = device.allocator->execute(run);
    note_events(device, run, first_event);
    instructions_ += done;
    at += done;
    if (device.allocator->refused()) {
      note_oom(device, chunk[at - 1], instructions_ - 1);
      return {at - 1, device.result.ooms.back().message};
    }
  }
  return {};
}

void Simulator::note_events(Device& device, std::span<const Instruction> run,
                            std::size_t first_event) {
  if (!options_.keep_events) return;
  const std::vector<Event>& events = device.history.events;
  for (std::size_t i = first_event; i < events.size(); ++i) {
    device.result.labels.push_back(
        run[events[i].instruction - static_cast<std::uint32_t>(instructions_)].label);
  }
  if (is_timed_) stamp(device);
}

void Simulator::stamp(Device& device) {
  if (options_.keep_events)
    device.result.times_ns.resize(device.history.events.size(), engine_.now());
}

void Simulator::execute_alone(const Instruction& instruction) {
  if (concern_of(instruction.verb) == Concern::kHostMemory) {
    execute_on_host(instruction);
    return;
  }
  switch (instruction.verb) {
    case Verb::kMark:
      begin_phase(instruction.label);
      return;
    case Verb::kPoint:
      measure(*devices_[instruction.device], instruction.label);
      return;
    case Verb::kResetPeak: {
      Device& device = *devices_[instruction.device];
      const AllocatorStatistics now = statistics_of(device);
      device.peaks.keep(now);
      device.peaks.program_reset(now);
      device.allocator->reset_peak();
      return;
    }
    case Verb::kLaunch:
      launch(instruction);
      return;
    case Verb::kRecord:
      record_event(instruction);
      return;
    case Verb::kWait:
      wait_event(instruction);
      return;
    case Verb::kSyncEvent:
      synchronize_event(instruction.id);
      return;
    default:
      TIDEMARK_CHECK(false, fmt::format("verb {} at instruction {}",
                                        static_cast<int>(instruction.verb), instructions_));
  }
}

void Simulator::follow_policies() {
  for (const std::unique_ptr<Device>& device : devices_) device->clock.follow_policy();
}

Bytes Simulator::allocated(const Device& device) const {
  return device.allocator->sample().allocated;
}

void Simulator::transfer(const QueuedTransfer& transfer) {
  if (TrackRecorder* track = this->track(transfer.device))
    track->transfer(transfer, allocated(*devices_[transfer.device]));
}

void Simulator::record_event(const Instruction& instruction) {
  if (TrackRecorder* track = this->track(instruction.device))
    track->record(instruction.stream, instruction.id);
  if (is_timed_) engine_.record(stream_of(instruction.device, instruction.stream), instruction.id);
  Clock& clock = devices_[instruction.device]->clock;
  if (clock.policy() == nullptr) return;
  if (instruction.id >= events_.size()) events_.resize(std::size_t{instruction.id} + 1);
  events_[instruction.id] = {&clock, instruction.stream, clock.record(instruction.stream)};
}

void Simulator::wait_event(const Instruction& instruction) {
  if (TrackRecorder* track = this->track(instruction.device))
    track->wait(instruction.stream, instruction.id);
  if (is_timed_) engine_.wait(stream_of(instruction.device, instruction.stream), instruction.id);
  if (instruction.id >= events_.size() || events_[instruction.id].clock == nullptr) return;
  const RecordedEvent& event = events_[instruction.id];
  devices_[instruction.device]->clock.policy()->follow(instruction.stream, *event.clock->policy(),
                                                       event.stream, event.ticket);
}

void Simulator::synchronize_event(std::uint32_t event) {
  if (track_) track_->synchronize_event(event);
  if (event < events_.size() && events_[event].clock != nullptr)
    events_[event].clock->wait(events_[event].stream, events_[event].ticket);
  if (!is_timed_) return;
  for (const std::unique_ptr<Device>& device : devices_) stamp(*device);
  engine_.synchronize_event(event);
}

bool Simulator::query_event(std::uint32_t event) {
  if (options_.policy.kind == EventPolicy::Kind::kSimulated) return engine_.query_event(event);
  if (event >= events_.size() || events_[event].clock == nullptr) return true;
  const RecordedEvent& recorded = events_[event];
  return recorded.clock->is_done(recorded.stream, recorded.ticket);
}

std::int64_t Simulator::host_time_ns() const { return engine_.now(); }

std::optional<bool> Simulator::query_stream(std::uint8_t device, StreamId stream) {
  if (options_.policy.kind == EventPolicy::Kind::kSimulated)
    return engine_.query_stream(stream_of(device, stream));
  // The other policies follow events, not what was launched.
  if (options_.policy.kind == EventPolicy::Kind::kReady) return true;
  return std::nullopt;
}

PhaseLog::Moment Simulator::moment(const Device& device) const {
  return {static_cast<std::uint32_t>(device.history.events.size()), now()};
}

void Simulator::execute_on_host(const Instruction& instruction) {
  const Device& first = *devices_.front();
  const PhaseLog::Moment at = moment(first);
  host_->execute(instruction, {at.event, first.phases.current(), at.time_ns});
}

void Simulator::launch(const Instruction& instruction) {
  constexpr Nanoseconds kUnknown = -1;
  Device& device = *devices_[instruction.device];
  Nanoseconds duration_ns = 0;
  if (instruction.id != kNoRequest) {
    if (instruction.id >= device.kernel_ns.size()) {
      device.kernel_ns.resize(program_.costs.size(), kUnknown);
      TIDEMARK_CHECK(instruction.id < device.kernel_ns.size(),
                     fmt::format("cost {} of {} at instruction {}", instruction.id,
                                 device.kernel_ns.size(), instructions_));
    }
    Nanoseconds& known = device.kernel_ns[instruction.id];
    if (known == kUnknown)
      known = kernel_ns(options_.costs, device.result.spec, program_.costs[instruction.id]);
    duration_ns = known;
  }
  if (TrackRecorder* track = this->track(instruction.device))
    track->launch(instruction.stream, duration_ns, allocated(device));
  if (is_timed_) engine_.launch(stream_of(instruction.device, instruction.stream), duration_ns);
}

void Simulator::begin_phase(LabelId label) {
  if (track_) track_->mark(label, allocated(*devices_[*options_.track_of]));
  for (const std::unique_ptr<Device>& device : devices_) {
    end_phase(*device);
    device->phases.begin(std::string(program_.labels.text(label)), moment(*device));
  }
}

void Simulator::end_phase(Device& device) {
  const AllocatorStatistics statistics = statistics_of(device);
  device.peaks.keep(statistics);
  device.phases.end(moment(device), statistics, device.peaks.of_phase());
  device.peaks.phase_began(statistics);
  device.allocator->reset_peak();
}

void Simulator::measure(Device& device, LabelId label) {
  AllocatorStatistics statistics = statistics_of(device);
  raise_peaks(statistics, device.peaks.of_program());
  const Bytes context = device.has_context ? 0 : device.memory.config().context_bytes;
  device.phases.measure(std::string(program_.labels.text(label)), moment(device),
                        std::move(statistics), device.memory.free_bytes() + context);
}

void Simulator::note_oom(Device& device, const Instruction& instruction, std::uint64_t index) {
  OomResult oom;
  oom.instruction = index + left_out_.instructions();
  oom.label = instruction.label;
  oom.figures = device.allocator->failure();
  oom.message = oom_message(oom.figures);
  if (!device.history.events.empty())
    oom.event = static_cast<std::uint32_t>(device.history.events.size() - 1);
  oom.phase = device.phases.current();
  device.result.ooms.push_back(std::move(oom));
}

Bytes Simulator::query(MemoryQuery what, std::uint8_t index) {
  Device& device = *devices_[index];
  device.has_context = true;
  const auto highest = [&](StatArray AllocatorStatistics::*array) {
    const AllocatorStatistics now = statistics_of(device);
    return static_cast<Bytes>(
        std::max((now.*array).all.peak, (device.peaks.of_program().*array).all.peak));
  };
  switch (what) {
    case MemoryQuery::kAllocated:
      return static_cast<Bytes>(statistics_of(device).allocated_bytes.all.current);
    case MemoryQuery::kMaxAllocated:
      return highest(&AllocatorStatistics::allocated_bytes);
    case MemoryQuery::kReserved:
      return static_cast<Bytes>(statistics_of(device).reserved_bytes.all.current);
    case MemoryQuery::kMaxReserved:
      return highest(&AllocatorStatistics::reserved_bytes);
    case MemoryQuery::kDeviceFree:
      return device.memory.free_bytes();
    case MemoryQuery::kDeviceTotal:
      break;
  }
  return device.memory.total_bytes();
}

std::vector<std::pair<std::string, std::int64_t>> Simulator::statistics(std::uint8_t index) {
  Device& device = *devices_[index];
  AllocatorStatistics statistics = statistics_of(device);
  raise_peaks(statistics, device.peaks.of_program());
  return flatten(statistics, device.result.settings.version);
}

AllocatorStatistics Simulator::statistics_of(const Device& device) const {
  AllocatorStatistics statistics = device.allocator->statistics();
  left_out_.add_to(device.number, statistics);
  return statistics;
}

StepGrowth Simulator::growth() const {
  StepGrowth growth;
  for (const std::unique_ptr<Device>& device : devices_) {
    growth.devices.push_back({device->allocator->statistics(), device->history.events.size(),
                              device->clock.calls(), device->clock.calls_ns()});
  }
  growth.instructions = instructions_;
  growth.now_ns = now();
  return growth;
}

std::size_t Simulator::write_state(StateImage& image) {
  if (is_timed_) engine_.write_state(image);
  for (const std::vector<StreamId>& streams : streams_) {
    image.put(streams.size());
    for (const StreamId stream : streams) image.put(stream);
  }
  for (const std::unique_ptr<Device>& device : devices_) {
    device->allocator->write_state(image);
    device->memory.write_state(image);
    write_levels(image, device->allocator->statistics());
    device->peaks.write_state(image);
    image.put(device->result.ooms.size());
    image.put((device->phases.has_begun() ? 1U : 0U) | (device->has_context ? 2U : 0U));
  }
  host_->write_state(image);
  if (track_) track_->moment();
  return left_out_.keep(growth());
}

void Simulator::repeat(std::size_t since, const Repeat& repeat) {
  const Nanoseconds duration_ns = left_out_.repeat(since, repeat, growth());
  if (is_timed_) engine_.shift(duration_ns);
  if (track_) track_->repeat(since, repeat);
}

DeviceResult Simulator::finish(Device& device) {
  end_phase(device);
  DeviceResult& result = device.result;
  device.phases.finish(result);
  result.statistics = statistics_of(device);
  raise_peaks(result.statistics, device.peaks.of_program());
  result.segments = device.allocator->segments();
  result.device_free_bytes = device.memory.free_bytes();
  const StepGrowth::Device& left_out = left_out_.of(device.number);
  result.device_calls = device.clock.calls() + left_out.device_calls;
  result.device_call_ns = device.clock.calls_ns() + left_out.device_call_ns;
  if (options_.keep_events) {
    device.allocator->finish_samples();
    result.events = std::move(device.history.events);
    result.samples = std::move(device.history.samples);
    for (std::size_t i = 0; i < result.events.size() && !program_.purposes.empty(); ++i) {
      if (result.events[i].action != Action::kAlloc) continue;
      const auto purpose = program_.purposes.find(result.events[i].id);
      if (purpose != program_.purposes.end()) result.labels[i] = purpose->second;
    }
    Peaks found = find_peaks(result, program_, options_.keep_live);
    result.peak_allocated = std::move(found.allocated);
    result.peak_reserved = std::move(found.reserved);
  }
  const AllocatorStatistics& peaks = device.peaks.of_run();
  result.peak_allocated.bytes = static_cast<Bytes>(peaks.allocated_bytes.all.peak);
  result.peak_reserved.bytes = static_cast<Bytes>(peaks.reserved_bytes.all.peak);
  return std::move(result);
}

RunResult Simulator::finish() {
  RunResult result;
  result.instructions = instructions_ + left_out_.instructions();
  result.repeats = left_out_.finish();
  result.is_timed = is_timed_;
  for (const std::unique_ptr<Device>& device : devices_) result.devices.push_back(finish(*device));
  result.host = host_->finish();
  if (is_timed_) {
    engine_.drain();
    result.end_ns = engine_.now();
  }
  return result;
}

}  // namespace tidemark
