#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/byte_chunks.h"
#include "sim/base/bytes.h"
#include "sim/program/event.h"
#include "sim/program/instruction.h"

namespace tidemark {

/// A text of Snapshot::texts; 0: empty.
using TextId = std::uint32_t;
/// A call stack of Snapshot; 0: none was recorded.
using StackId = std::uint32_t;

/// One entry of a device's trace. Source: docs/rules/snapshots.md#2, #3.
struct SnapshotEvent {
  std::int64_t time_us = 0;   ///< since the epoch; 0 where the version records none
  std::uint64_t address = 0;  ///< the device's free bytes for oom
  Bytes bytes = 0;            ///< as Event::bytes
  StackId stack = 0;
  TextId user_metadata = 0;
  TextId compile_context = 0;
  std::uint16_t pool = 0;  ///< index into Snapshot::pools; 0 where the version records none
  StreamId stream = 0;
  Action action = Action::kAlloc;
  friend bool operator==(const SnapshotEvent&, const SnapshotEvent&) = default;
};
static_assert(sizeof(SnapshotEvent) <= 48);

/// Recorded events, packed: each says what differs from the one before it. Memory: 6 to 10 bytes an
/// event of a recording as PyTorch writes it, at most 44; of a long one less (ByteChunks). Looked
/// at through EventTrace.
class SnapshotEvents {
 public:
  /// Events that are unpacked together.
  static constexpr std::size_t kChunk = 256;

  SnapshotEvents() = default;
  /// `chunks`: empty; says from where on they are compressed.
  explicit SnapshotEvents(ByteChunks chunks) : chunks_(std::move(chunks)) {}
  void push_back(const SnapshotEvent& event);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// `names`: by the stream's number so far, its number from now on.
  void rename_streams(std::vector<StreamId> names) { names_ = std::move(names); }
  /// Replaces `out` by the events from chunk * kChunk on. Requires: there are any.
  void unpack(std::size_t chunk, ByteChunks::Window& window, std::vector<SnapshotEvent>& out) const;
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  ByteChunks chunks_;
  std::vector<std::uint8_t> open_;  ///< the last chunk while it grows
  SnapshotEvent last_;
  std::size_t size_ = 0;
  std::vector<StreamId> names_;
};

/// A range of SnapshotEvents. It keeps two chunks unpacked: walking along it, in either direction
/// and with looks at neighbours, costs a few nanoseconds an event; a look anywhere else a
/// microsecond. Requires: the events outlive it. Not for two threads at once.
class EventTrace {
 public:
  class Iterator {
   public:
    Iterator(const EventTrace& trace, std::size_t at) : trace_(&trace), at_(at) {}
    SnapshotEvent operator*() const { return (*trace_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const EventTrace* trace_;
    std::size_t at_;
  };

  EventTrace() = default;
  EventTrace(const SnapshotEvents& events, std::size_t first, std::size_t count)
      : events_(&events), first_(first), count_(count) {}

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, count_}; }
  /// Requires: index < size().
  SnapshotEvent operator[](std::size_t index) const {
    const std::size_t at = first_ + index;
    const std::size_t chunk = at / SnapshotEvents::kChunk;
    Window& window = windows_[chunk % windows_.size()];
    if (window.chunk != chunk) load(window, chunk);
    return window.events[at % SnapshotEvents::kChunk];
  }
  /// The first event of that kind from `from` on.
  [[nodiscard]] std::optional<std::size_t> find(Action action, std::size_t from = 0) const;
  /// How many of that kind there are before `end`.
  [[nodiscard]] std::size_t count(Action action, std::size_t end) const;
  /// The first event at or after a time, when the times ascend; size() when there is none.
  [[nodiscard]] std::size_t first_at(std::int64_t time_us) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Window {
    std::size_t chunk = kNone;
    std::vector<SnapshotEvent> events;
  };
  void load(Window& window, std::size_t chunk) const;

  const SnapshotEvents* events_ = nullptr;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  mutable std::array<Window, 2> windows_;
  mutable ByteChunks::Window bytes_;
};

}  // namespace tidemark
