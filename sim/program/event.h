#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/program/instruction.h"

namespace tidemark {

/// What an allocator did. The names are PyTorch's memory-history actions. Source:
/// docs/rules/snapshots.md#2.
enum class Action : std::uint8_t {
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kOom,
  kSnapshot,
};
inline constexpr std::array<std::string_view, 9> kActionNames{
    "segment_alloc",  "segment_free",   "segment_map", "segment_unmap", "alloc",
    "free_requested", "free_completed", "oom",         "snapshot"};
constexpr std::string_view action_name(Action action) {
  return kActionNames[static_cast<std::size_t>(action)];
}

/// One line of the event trace. `bytes` is what PyTorch's history records: the requested size for
/// alloc and free, the segment's for segment actions, the rounded size for oom. `address` is the
/// device's free bytes for oom. `instruction` counts the instructions executed before it: the join
/// to phase, label and time. `units`: the size of the block, for alloc and free, in units of
/// kMinBlockBytes; 0 where the allocator does not tell. It is no part of what PyTorch records, and
/// none of a comparison.
struct Event {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  RequestId id = kNoRequest;
  std::uint32_t instruction = 0;
  StreamId stream = 0;
  Action action = Action::kAlloc;
  std::uint8_t device = 0;
  std::uint32_t units = 0;
  friend bool operator==(const Event& a, const Event& b) {
    return a.address == b.address && a.bytes == b.bytes && a.id == b.id &&
           a.instruction == b.instruction && a.stream == b.stream && a.action == b.action &&
           a.device == b.device;
  }
};
static_assert(sizeof(Event) == 32);

/// Asked for by the program, or done.
inline bool is_free(const Event& event) {
  return event.action == Action::kFreeRequested || event.action == Action::kFreeCompleted;
}

}  // namespace tidemark
