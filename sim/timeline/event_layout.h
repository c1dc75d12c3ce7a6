#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/program/event.h"

namespace tidemark {

/// What events alone tell of memory after each of them. Blocks are taken to be as large as their
/// requests, rounded up to 512 bytes: what a block holds beyond that counts as free.
struct EventAmounts {
  Bytes reserved = 0;
  Bytes largest_free = 0;  ///< the largest stretch of a segment that no request covers
  friend bool operator==(const EventAmounts&, const EventAmounts&) = default;
};

/// One entry an event. Requires: the events of one device, from an empty allocator on; what lies
/// outside every segment is left out. Cost: events times the logarithm of the free stretches.
std::vector<EventAmounts> event_amounts(std::span<const Event> events);

/// The same events with addresses told by segment: its number in the order in which segments were
/// made, and the offset in it. Two runs on drivers that give other addresses are then equal where
/// the allocator's choices are. Cost: as above.
std::vector<Event> by_segment(std::span<const Event> events);

}  // namespace tidemark
