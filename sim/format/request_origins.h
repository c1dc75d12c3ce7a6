#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/format/snapshot_events.h"

namespace tidemark {

/// Where a request came from.
struct RequestOrigin {
  static constexpr std::size_t kNoEvent = ~std::size_t{0};
  std::size_t event = kNoEvent;  ///< its alloc in the device's trace; kNoEvent: alive before
  StackId stack = 0;
};

/// The origins of a recording's requests, by RequestId. First come those that were alive before it,
/// then one for each recorded request, whose events ascend.
/// Memory: about a byte a recorded request. Cost of a look: some 100 nanoseconds.
class RequestOrigins {
 public:
  /// `stack`: 0 where nothing is known of it. Requires: no recorded one was added.
  void add_alive_before(StackId stack) { before_.push_back(stack); }
  /// Requires: `event` lies behind the last one added.
  void add_recorded(std::size_t event);
  [[nodiscard]] std::size_t size() const { return before_.size() + recorded_; }
  /// `trace`: the one that the requests were recorded in. Requires: id < size().
  [[nodiscard]] RequestOrigin at(std::size_t id, const EventTrace& trace) const;
  /// The event alone.
  [[nodiscard]] std::size_t event(std::size_t id) const;

 private:
  /// Requests between two of which the whole event is known.
  static constexpr std::size_t kStride = 64;
  struct Known {
    std::size_t event = 0;
    std::size_t at = 0;  ///< in later_
  };
  std::vector<StackId> before_;
  std::vector<Known> known_;
  /// How many events later than the one before it each request is, seven bits a byte.
  std::vector<std::uint8_t> later_;
  std::size_t recorded_ = 0;
  std::size_t last_ = 0;
};

}  // namespace tidemark
