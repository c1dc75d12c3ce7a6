#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/alloc/device_memory.h"
#include "sim/device/cost_model.h"
#include "sim/engine/engine.h"
#include "sim/program/source.h"
#include "sim/run/event_policy.h"
#include "sim/run/host_memory.h"
#include "sim/run/left_out.h"
#include "sim/run/peak_keeper.h"
#include "sim/run/phase_log.h"
#include "sim/run/run_result.h"
#include "sim/run/track.h"

namespace tidemark {

/// What a run is to keep, and by which clock it goes.
struct SimulatorOptions {
  EventPolicy policy;
  CostModel costs;
  /// Events and labels; off: peaks and statistics alone, at the least cost.
  bool keep_events = true;
  bool keep_samples = true;  ///< off: they are left out where levels.h can do without
  bool keep_live = true;     ///< PeakResult::live and by_category; needs keep_events
  bool keep_times = true;    ///< simulated time, even where the policy does not ask for it
  bool count_users = false;  ///< for users()
  /// The device whose track is kept, for take_track(); none: nobody asks.
  std::optional<std::uint8_t> track_of = {};
};

/// One GPU to simulate.
struct SimulatedDevice {
  DeviceSpec spec;
  AllocatorSettings settings;
  /// Of set_per_process_memory_fraction(), called before the first request.
  std::optional<double> memory_fraction;
  Bytes other_bytes = 0;  ///< taken by other processes
};

/// Executes a program: memory by each device's allocator, time by the engine, and keeps what
/// happened. Cost: a chunk is given to the allocator in runs, not instruction by instruction; a run
/// ends where the phase or the device changes and, in a timed run, at every launch, record and
/// wait.
class Simulator final : public Sink {
 public:
  /// Requires: `program` outlives the simulator; at least one device; instructions name devices by
  /// their index here. Errors: InputError when a device's context leaves no memory.
  Simulator(const Program& program, const std::vector<SimulatedDevice>& devices,
            const SimulatorOptions& options);
  ~Simulator() override;

  /// Streams of a device that record_stream() named. Requires: SimulatorOptions::count_users.
  [[nodiscard]] std::size_t users(std::size_t device) const;

  /// What the host did to the streams of SimulatorOptions::track_of. Call it once.
  RankTrack take_track() { return track_->take(); }

  Outcome execute(std::span<const Instruction> chunk) override;
  Bytes query(MemoryQuery what, std::uint8_t device) override;
  std::vector<std::pair<std::string, std::int64_t>> statistics(std::uint8_t device) override;
  PinnedStatistics pinned_statistics() override { return host_->pinned_statistics(); }
  bool query_event(std::uint32_t event) override;
  [[nodiscard]] std::int64_t host_time_ns() const override;
  std::optional<bool> query_stream(std::uint8_t device, StreamId stream) override;
  void transfer(const QueuedTransfer& transfer) override;
  std::size_t write_state(StateImage& image) override;
  void repeat(std::size_t moment, const Repeat& repeat) override;

  /// Ends the run and gives its result, without RunResult::program and what only the source knows.
  /// Call it once. Errors: StuckError when queued work can never end.
  RunResult finish();

 private:
  class Clock;
  struct Device;
  [[nodiscard]] bool ends_run(const Instruction& instruction) const;
  void execute_alone(const Instruction& instruction);
  void launch(const Instruction& instruction);
  /// Where the device's track is kept; null: it is not.
  [[nodiscard]] TrackRecorder* track(std::uint8_t device) {
    return track_ && *options_.track_of == device ? &*track_ : nullptr;
  }
  Bytes allocated(const Device& device) const;
  void begin_phase(LabelId label);
  void measure(Device& device, LabelId label);
  void follow_policies();
  void record_event(const Instruction& instruction);
  void wait_event(const Instruction& instruction);
  void synchronize_event(std::uint32_t event);
  void execute_on_host(const Instruction& instruction);
  void end_phase(Device& device);
  DeviceResult finish(Device& device);
  void note_users(std::span<const Instruction> chunk);
  void note_events(Device& device, std::span<const Instruction> run, std::size_t first_event);
  /// Gives events that have no time yet the present one.
  void stamp(Device& device);
  void note_oom(Device& device, const Instruction& instruction, std::uint64_t index);
  StreamId stream_of(std::uint8_t device, StreamId stream);
  [[nodiscard]] AllocatorStatistics statistics_of(const Device& device) const;
  /// Of what was simulated.
  [[nodiscard]] StepGrowth growth() const;
  /// The host's clock; 0 unless the run is timed.
  [[nodiscard]] Nanoseconds now() const { return is_timed_ ? engine_.now() : 0; }
  [[nodiscard]] PhaseLog::Moment moment(const Device& device) const;

  static constexpr StreamId kNoStream = 0xffffU;

  const Program& program_;
  SimulatorOptions options_;
  Engine engine_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<HostMemory> host_;
  struct RecordedEvent {
    Clock* clock = nullptr;  ///< null: never recorded
    StreamId stream = 0;
    std::uint64_t ticket = 0;
  };
  std::vector<RecordedEvent> events_;  ///< by event number; where a policy answers for time
  std::vector<std::vector<StreamId>> streams_;  ///< the engine's number, by device and stream
  StreamId next_stream_ = 0;
  std::uint64_t instructions_ = 0;  ///< simulated
  LeftOut left_out_;
  std::optional<TrackRecorder> track_;
  bool is_timed_ = true;
};

}  // namespace tidemark
