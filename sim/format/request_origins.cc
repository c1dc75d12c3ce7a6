#include "sim/format/request_origins.h"

namespace tidemark {

namespace {

constexpr std::uint8_t kMore = 0x80;
constexpr unsigned kBits = 7;

}  // namespace

void RequestOrigins::add_recorded(std::size_t event) {
  if (recorded_ % kStride == 0) {
    known_.push_back({event, later_.size()});
  } else {
    std::size_t later = event - last_;
    for (; later >= kMore; later >>= kBits)
      later_.push_back(static_cast<std::uint8_t>(later % kMore | kMore));
    later_.push_back(static_cast<std::uint8_t>(later));
  }
  last_ = event;
  ++recorded_;
}

std::size_t RequestOrigins::event(std::size_t id) const {
  if (id < before_.size()) return RequestOrigin::kNoEvent;
  const std::size_t request = id - before_.size();
  const Known& known = known_[request / kStride];
  std::size_t event = known.event;
  std::size_t at = known.at;
  for (std::size_t i = 0; i < request % kStride; ++i) {
    unsigned shift = 0;
    for (; (later_[at] & kMore) != 0; ++at, shift += kBits)
      event += std::size_t{later_[at]} % kMore << shift;
    event += std::size_t{later_[at++]} << shift;
  }
  return event;
}

RequestOrigin RequestOrigins::at(std::size_t id, const EventTrace& trace) const {
  const std::size_t from = event(id);
  return {from, from == RequestOrigin::kNoEvent ? before_[id] : trace[from].stack};
}

}  // namespace tidemark
