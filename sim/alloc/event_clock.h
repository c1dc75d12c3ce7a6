#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/state_image.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// What the allocator asks of the driver beside memory: whether the work that another stream had
/// queued at a `free` is done. Asked only for blocks that another stream used (record_stream);
/// never in a program without them.
///
/// Tickets are what cudaEventRecord gives: rising on each stream. A simulator derives its own clock
/// from this class and answers from simulated time; the policies of traces (docs/rules/traces.md#3)
/// are below.
class EventClock {
 public:
  using Ticket = std::uint64_t;
  virtual ~EventClock() = default;

  /// cudaEventRecord on `stream`, now.
  virtual Ticket record(StreamId stream) = 0;
  /// cudaEventQuery.
  virtual bool is_done(StreamId stream, Ticket ticket) = 0;
  /// cudaEventSynchronize: the host waits; is_done() is true afterwards.
  virtual void wait(StreamId stream, Ticket ticket) = 0;
  /// The host waits for everything queued on `stream`, or on the whole device: by the program's
  /// wish, or within cudaFree (device) and before an unmapping (stream).
  virtual void synchronize(StreamId stream) = 0;
  virtual void synchronize_device() = 0;

  /// Rises whenever some event may have become done, one just recorded included; 0: this clock
  /// cannot tell. While it stays what it was, the allocator does not ask for each event again.
  [[nodiscard]] std::uint64_t progress() const { return progress_; }

  /// A call to the driver that takes time is about to be made; the waits that it brings are told
  /// apart, by synchronize and synchronize_device. Default: nothing.
  enum class DeviceCall : std::uint8_t { kMalloc, kMallocFailed, kFree, kMap, kMapFailed, kUnmap };
  virtual void device_call(DeviceCall /*call*/, Bytes /*bytes*/, StreamId /*stream*/) {}

  /// Writes a ticket that is still asked for, relative to now. Default: gives up.
  virtual void write_ticket(StateImage& image, Ticket /*ticket*/) const {
    image.give_up("uses by other streams that are pending");
  }

 protected:
  std::uint64_t progress_ = 0;
};

/// The policies `sync`, `ready` and `lag:N` of request traces.
/// sync: a use is done once a wait that covers its stream came after the free. ready: at once.
/// lag:N: once N more events were recorded on the same stream, or a wait came.
class TraceClock : public EventClock {
 public:
  enum class Policy : std::uint8_t { kSync, kReady, kLag };
  explicit TraceClock(Policy policy = Policy::kSync, std::uint64_t lag = 0)
      : policy_(policy), lag_(lag) {
    progress_ = 1;
  }

  Ticket record(StreamId stream) override;
  bool is_done(StreamId stream, Ticket ticket) override;
  void wait(StreamId stream, Ticket ticket) override;
  void synchronize(StreamId stream) override;
  void synchronize_device() override;
  /// cudaStreamWaitEvent: what is queued on `stream` from here on ends only after `other`, a stream
  /// of `clock`, has passed `ticket`; so whoever waits for the one has waited for the other.
  void follow(StreamId stream, TraceClock& clock, StreamId other, Ticket ticket);

 private:
  struct Followed {
    Ticket from = 0;  ///< once this is done
    TraceClock* clock = nullptr;
    StreamId stream = 0;
    Ticket ticket = 0;  ///< so is this
  };
  struct Queue {
    Ticket recorded = 0;
    Ticket done = 0;
    std::vector<Followed> followed;
  };
  void finish(StreamId stream, Ticket ticket);
  Queue& queue(StreamId stream);
  Policy policy_;
  std::uint64_t lag_;
  std::vector<Queue> queues_;
};

}  // namespace tidemark
