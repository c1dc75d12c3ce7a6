#include "sim/alloc/allocator.h"

namespace tidemark {

void History::append(std::span<const Event> more) {
  events.insert(events.end(), more.begin(), more.end());
}

}  // namespace tidemark
