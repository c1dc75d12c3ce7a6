#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// A number that may be another on other ranks of the job.
struct NumberByRank {
  /// By rank, the place of its number in `values`; null: all have the first.
  std::shared_ptr<const std::vector<std::uint32_t>> of;
  std::vector<int> values;
  [[nodiscard]] int at(int rank) const {
    return values[of == nullptr ? 0 : (*of)[static_cast<std::size_t>(rank)]];
  }
  friend bool operator==(const NumberByRank& a, const NumberByRank& b) {
    if (a.values != b.values || (a.of == nullptr) != (b.of == nullptr)) return false;
    return a.of == b.of || *a.of == *b.of;
  }
};

/// A group of ranks, as one of them sees it.
struct RankGroup {
  std::uint32_t order = 0;  ///< among the rank's own groups, as they were made
  int size = 0;
  bool is_world = false;  ///< all ranks; `ranks` is empty
  bool is_known = true;   ///< else it cannot be told which ranks it has
  std::vector<NumberByRank> ranks;
};

/// What ranks do together. The names are those of torch.distributed.
enum class TransferKind : std::uint8_t {
  kCollective,  ///< of another kind
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kBarrier,
  kSend,
  kReceive,
};
inline constexpr std::array<std::string_view, 12> kTransferNames{
    "collective", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
    "reduce",     "gather",     "scatter",    "barrier",        "send",       "receive"};
constexpr std::string_view transfer_name(TransferKind kind) {
  return kTransferNames[static_cast<std::size_t>(kind)];
}
constexpr bool is_of_two(TransferKind kind) {
  return kind == TransferKind::kSend || kind == TransferKind::kReceive;
}

struct Transfer {
  TransferKind kind = TransferKind::kCollective;
  bool is_joined = false;   ///< one with that before it on the stream: batch_isend_irecv
  std::uint32_t group = 0;  ///< index into Traffic::groups
  std::uint32_t peer = 0;   ///< of two: index into Traffic::peers
  Bytes bytes = 0;          ///< the larger of what it reads and writes
  LabelId place = 0;        ///< in the user's code: "train.py:41"
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// What ranks send each other, each kind of transfer once.
struct Traffic {
  bool is_followed = false;  ///< somebody asks
  std::vector<RankGroup> groups;
  std::vector<NumberByRank> peers;  ///< places in groups
  std::vector<Transfer> transfers;
};

/// Where a transfer stands on a device's queues.
struct QueuedTransfer {
  enum class How : std::uint8_t {
    kNextLaunch,  ///< the next kernel that is launched
    kBeside,      ///< on `stream`, after all that is queued on `after`; no kernel stands for it
    kWait,        ///< none: `stream` waits for all that is queued on `after`
  };
  std::uint32_t transfer = 0;  ///< index into Traffic::transfers
  StreamId stream = 0;
  StreamId after = 0;
  How how = How::kNextLaunch;
  std::uint8_t device = 0;
};

}  // namespace tidemark
