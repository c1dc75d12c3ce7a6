#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sim/format/request_origins.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_state.h"
#include "sim/program/event.h"
#include "sim/program/instruction.h"
#include "sim/program/instruction_log.h"
#include "sim/program/source.h"

namespace tidemark {

/// How a recording is turned into requests.
struct SnapshotProgramOptions {
  std::uint8_t device = 0;
  std::size_t from_event = 0;  ///< of the device's trace
  std::size_t to_event = std::numeric_limits<std::size_t>::max();
  /// What was held when the recording begins:
  /// exact: its segments and blocks are laid out again as they were, free blocks included, by
  /// requests of which some are given up at once (true only under the settings that recorded it);
  /// else the live blocks alone are asked for, in the order of their addresses, as a process would
  /// that had just emptied its cache.
  bool exact_start = false;
  /// Segments that the recording gave back within a request (a retry, the garbage collection) are
  /// its settings' and device's doing. With true they are given back here too, by an empty_cache
  /// before the request.
  bool repeat_reclaims = true;
  /// Whether SnapshotProgram::origins is filled.
  bool keep_origins = true;
  /// What the instructions name as their device.
  std::uint8_t played_device = 0;
  /// A request's block size under the settings that recorded it. Needed for exact_start.
  std::function<Bytes(Bytes)> rounded;
};

/// Addresses in the order in which an allocator that does as the recording did would ask its driver
/// for them.
struct RecordedAddresses {
  struct Segment {
    Bytes bytes = 0;
    std::uint64_t address = 0;
    friend bool operator==(const Segment&, const Segment&) = default;
  };
  std::vector<Segment> segments;            ///< of each cudaMalloc
  std::vector<std::uint64_t> reservations;  ///< of each expandable range
};

/// One device's recording as a program: requests, in order, about as a .tmt trace has them.
///
/// RequestIds count from 0 in the order of `instructions`. A free that completed late (another
/// stream used the block) becomes a use by a stream of its own, one past the recorded ones, and a
/// sync of it where it completed.
struct SnapshotProgram {
  Program program;              ///< labels: marks (from annotations) and what each stack amounts to
  InstructionLog instructions;  ///< the start, then the recording
  /// How many rebuild what was there before (a reset_peak ends them).
  std::size_t start_instructions = 0;
  RequestId requests = 0;  ///< how many there are: the next one's id
  RequestOrigins origins;  ///< by RequestId
  RecordedAddresses addresses;
  SnapshotState start;
  Bytes gained_bytes = 0;                        ///< that the recorded events got from the driver
  Bytes peak_reserved_bytes = 0;                 ///< as the recorded events tell
  bool warm = false;                             ///< memory was held at the start
  std::size_t start_blocks_of_unknown_size = 0;  ///< exact start: see notes
  /// What PyTorch could get: held plus free at the first oom; 0: none happened.
  Bytes capacity_bytes = 0;
  std::size_t late_frees = 0;      ///< that waited for another stream
  std::size_t empty_caches = 0;    ///< that the program asked for, as far as told
  std::size_t reclaims = 0;        ///< by the allocator within a request
  std::vector<std::string> notes;  ///< what could not be rebuilt exactly, one sentence each
};

/// The same a few events at a time, for who keeps none of it.
class SnapshotRequests {
 public:
  /// Errors: as make_snapshot_program. Requires: both outlive this.
  SnapshotRequests(const Snapshot& snapshot, const SnapshotProgramOptions& options);
  SnapshotRequests(SnapshotRequests&&) noexcept;
  SnapshotRequests& operator=(SnapshotRequests&&) = delete;
  ~SnapshotRequests();

  /// With the instructions of the start. What is counted, and the notes, are whole after the last
  /// event; addresses, capacity and peak are from the first on.
  [[nodiscard]] const SnapshotProgram& program() const;
  /// Replaces both by what the next events, at most `most`, come to: instructions, and the events
  /// with their RequestIds (Event::instruction counts from the start's first). False: no event is
  /// left.
  bool next(std::vector<Instruction>& instructions, std::vector<Event>& recorded,
            std::size_t most = 8192);

 private:
  class Converter;
  friend SnapshotProgram make_snapshot_program(const Snapshot&, const SnapshotProgramOptions&);
  std::unique_ptr<Converter> converter_;
};

/// Errors: InputError when the device recorded nothing in the range.
SnapshotProgram make_snapshot_program(const Snapshot& snapshot,
                                      const SnapshotProgramOptions& options);

/// The private pool of a request as an instruction names it: user pools by their number, pools of
/// captures from 0x8000 on.
PoolId pool_number(const SnapshotPool& pool);

/// Devices of a snapshot that recorded events.
std::vector<std::uint8_t> recorded_devices(const Snapshot& snapshot);

/// In a few words who made a request: the operator (at::_ops::mm) and the innermost Python line.
/// "mm at linear.py:19 __init__"; empty for an empty stack. C++ frames and PyTorch's own
/// interpreter frames are skipped.
std::string stack_summary(const Snapshot& snapshot, StackId stack);

}  // namespace tidemark
