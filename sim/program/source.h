#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/base/state_image.h"
#include "sim/program/instruction.h"
#include "sim/program/traffic.h"

namespace tidemark {

/// Tables beside the instructions, filled by the source while it runs and shared by all that reads
/// them.
struct Program {
  Labels labels;
  Traffic traffic;
  /// By request, what it is for, where the operator that asks does not say; for reports only.
  std::unordered_map<RequestId, LabelId> purposes;
  std::vector<Cost> costs;
  /// By RequestId; shorter than the requests: the rest is kUnknown.
  std::vector<Category> categories;
};

/// What the source is told about a chunk: everything was done, or the request of instruction
/// `failed_at` could not be served. Instructions after failed_at were not executed.
struct Outcome {
  std::optional<std::size_t> failed_at;  ///< index in the chunk just given
  std::string message;  ///< PyTorch's out-of-memory text; empty when nothing failed
};

/// The answers to torch.cuda.memory_allocated() and its kin.
enum class MemoryQuery : std::uint8_t {
  kAllocated,
  kMaxAllocated,
  kReserved,
  kMaxReserved,
  kDeviceFree,
  kDeviceTotal,
};

/// Pinned host memory, as PyTorch's CachingHostAllocator holds it: blocks of whole powers of two,
/// kept for the next request of their size until the host's cache is emptied.
struct PinnedStatistics {
  Bytes in_use = 0;  ///< blocks handed out, those whose copies have not ended included
  Bytes peak_in_use = 0;
  Bytes held = 0;  ///< taken from the system: `allocated_bytes` of torch.cuda.host_memory_stats()
  Bytes peak_held = 0;
  std::uint64_t made = 0;   ///< num_host_alloc: requests that no kept block could serve
  std::uint64_t given = 0;  ///< num_host_free
  friend bool operator==(const PinnedStatistics&, const PinnedStatistics&) = default;
};

/// Turns of a loop that are left out: each run of them does what the turns before them did.
struct Repeat {
  std::string variable;            ///< the loop's: "step"
  std::int64_t pattern_first = 0;  ///< its values in the turns that were executed last
  std::int64_t pattern_last = 0;
  std::int64_t first = 0;  ///< and in those that are left out
  std::int64_t last = 0;
  std::uint64_t times = 0;  ///< how often the pattern comes again
  friend bool operator==(const Repeat&, const Repeat&) = default;
};

/// What a source gives its instructions to: the simulator, or a recorder.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Executes the chunk in order, up to the first failure. A source whose code may branch on the
  /// outcome ends the chunk after each kAlloc; one that plays what was recorded may batch as it
  /// likes.
  virtual Outcome execute(std::span<const Instruction> chunk) = 0;
  /// Requires: every instruction before the question was executed.
  virtual Bytes query(MemoryQuery what, std::uint8_t device) = 0;
  /// The whole torch.cuda.memory_stats() as key and value, in PyTorch's order; for memory_summary()
  /// and the like.
  virtual std::vector<std::pair<std::string, std::int64_t>> statistics(std::uint8_t device) = 0;
  virtual PinnedStatistics pinned_statistics() { return {}; }
  /// Whether the point that an event of the program stands for has passed; whether all that was
  /// queued on a stream has ended, std::nullopt where that is not followed. Requires: as query().
  virtual bool query_event(std::uint32_t /*event*/) { return true; }
  /// The host's clock, in simulated nanoseconds from the start; 0 where no time is followed.
  [[nodiscard]] virtual std::int64_t host_time_ns() const { return 0; }
  virtual std::optional<bool> query_stream(std::uint8_t /*device*/, StreamId /*stream*/) {
    return true;
  }

  /// Tells where on a device's queues a transfer stands that other ranks take part in. It is no
  /// instruction: nothing of the run's own time or memory depends on it. Requires: as query();
  /// Traffic::is_followed.
  virtual void transfer(const QueuedTransfer& /*transfer*/) {}

  /// Writes all that decides over later instructions and what is told of them; live requests are
  /// those that the image mentions. Returns a number for this moment, for repeat(). Default: gives
  /// up. Requires: as query().
  virtual std::size_t write_state(StateImage& image) {
    image.give_up("nobody to simulate");
    return 0;
  }
  /// Takes what happened since `moment` for done `repeat.times` times more. Requires: the images
  /// written then and now are equal.
  virtual void repeat(std::size_t /*moment*/, const Repeat& /*repeat*/) {}
};

/// Whatever asks for memory: a model being run, a request trace, a PyTorch snapshot.
class Source {
 public:
  virtual ~Source() = default;
  /// Gives everything to `sink`, then returns. `program` is the table its labels and costs go into.
  /// Errors: what the source itself defines (InputError for model code, for example).
  virtual void run(Program& program, Sink& sink) = 0;
};

/// A source that was recorded: instructions in memory, replayed as one chunk. Independent of any
/// allocator, so that one recording serves many settings.
class RecordedSource final : public Source {
 public:
  explicit RecordedSource(std::vector<Instruction> instructions)
      : instructions_(std::move(instructions)) {}
  /// On a failure goes on after the failed request, as a trace does (docs/rules/traces.md#2: the ID
  /// is dead from there on).
  void run(Program& program, Sink& sink) override;
  [[nodiscard]] std::span<const Instruction> instructions() const { return instructions_; }

 private:
  std::vector<Instruction> instructions_;
};

}  // namespace tidemark
