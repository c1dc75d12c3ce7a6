#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "sim/base/bytes.h"
#include "sim/program/instruction.h"

namespace tidemark::naive {

/// A GPU's memory as a budget of bytes and an address policy, with ordered maps and linear
/// searches. Source: docs/rules/devices.md#3.1, #3.2.
class Device {
 public:
  /// Requires: context_bytes + other_bytes <= total_bytes.
  Device(Bytes total_bytes, Bytes context_bytes, Bytes other_bytes);

  [[nodiscard]] Bytes total_bytes() const { return total_; }
  [[nodiscard]] Bytes free_bytes() const { return free_; }

  /// Errors: std::nullopt when the budget does not hold the bytes.
  std::optional<std::uint64_t> cuda_malloc(Bytes bytes);
  void cuda_free(std::uint64_t address, Bytes bytes);

  /// A range of virtual addresses without memory. Errors: std::nullopt when no range is left.
  std::optional<std::uint64_t> reserve(Bytes bytes);
  void unreserve(std::uint64_t address, Bytes bytes);
  /// One page of physical memory; false when there is none.
  bool create_page(Bytes page_bytes);
  void release_page(Bytes page_bytes) { free_ += page_bytes; }

 private:
  using Ranges = std::map<std::uint64_t, Bytes>;  // start -> length
  struct Piece {
    Bytes length = 0;
    Ranges holes;
  };
  static void give(Ranges& ranges, std::uint64_t start, Bytes length);

  Bytes total_;
  Bytes free_;
  Ranges unused_;                          // of the addresses that cudaMalloc hands out
  std::map<std::uint64_t, Piece> pieces_;  // by start
  Ranges unreserved_;                      // of the addresses of expandable segments
};

/// How far the work on each stream has got. Source: docs/rules/traces.md#3.
enum class UsesDone { kWhenWaitedFor, kAtOnce, kAfterMoreWork };

class Streams {
 public:
  Streams(UsesDone policy, std::uint64_t lag) : policy_(policy), lag_(lag) {}
  /// Queues one piece of work; its ticket tells later whether it is done.
  std::uint64_t enqueue(StreamId stream);
  [[nodiscard]] bool done(StreamId stream, std::uint64_t ticket) const;
  void wait_for(StreamId stream);
  void wait_for_all();

 private:
  struct Progress {
    std::uint64_t queued = 0;
    std::uint64_t done = 0;
  };
  UsesDone policy_;
  std::uint64_t lag_;
  std::map<StreamId, Progress> streams_;
};

}  // namespace tidemark::naive
