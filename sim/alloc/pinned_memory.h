#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/alloc/event_clock.h"
#include "sim/base/state_image.h"
#include "sim/program/source.h"

namespace tidemark {

/// Page-locked host memory as PyTorch's CachingHostAllocator holds it. A request is rounded up to a
/// power of two and served by a kept block of exactly that size, else by a new one from the system;
/// blocks are never split, and go back only by empty_cache(). A block that copies still use is kept
/// aside when it is freed, until the events recorded then are done; the queue of such events is
/// looked at in their order, at each request, up to the first that is not.
///
/// Source: ATen/core/CachingHostAllocator.h.
class PinnedMemory {
 public:
  /// `clocks`: each device's, by device number; they outlive this.
  explicit PinnedMemory(std::vector<EventClock*> clocks) : clocks_(std::move(clocks)) {}

  /// Requires: ids come in order, from 0; bytes > 0. Cost: constant, and each event once.
  void allocate(std::uint32_t id, Bytes bytes);
  void free(std::uint32_t id);
  /// A copy on `stream` of `device` uses the block: recorded once a stream, until the free.
  void use(std::uint32_t id, std::uint8_t device, StreamId stream);
  void empty_cache();
  [[nodiscard]] const PinnedStatistics& statistics() const { return statistics_; }
  /// All that decides over later requests and statistics. Gives up where the program holds a block.
  void write_state(StateImage& image) const;

 private:
  using Use = std::pair<std::uint8_t, StreamId>;
  struct Block {
    std::uint8_t index = 0;  ///< its size is 1 << index
    std::uint32_t events = 0;
    std::vector<Use> uses;
  };
  struct Pending {
    std::uint8_t device = 0;
    StreamId stream = 0;
    EventClock::Ticket ticket = 0;
    std::uint32_t block = 0;
  };
  void process_events();
  void keep(std::uint32_t block);

  std::vector<EventClock*> clocks_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> bound_;  ///< block by id
  std::array<std::vector<std::uint32_t>, 64> free_;
  std::deque<Pending> pending_;
  PinnedStatistics statistics_;
};

}  // namespace tidemark
