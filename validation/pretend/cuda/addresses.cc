#include "validation/pretend/cuda/core.h"

#include <algorithm>

namespace pretend {

// Where a Linux driver puts a cudaMalloc, as real memory snapshots show it
// (README.md): addresses are taken in pieces of whole 32 MiB, each below the
// last; a request goes to the lowest hole that holds it in a piece already
// taken, else to the start of a new piece.
constexpr uint64_t kChunk = 32 * kMiB;

uint64_t take_va(Device& v, size_t n) {
  const size_t g = cfg().granularity;
  switch (cfg().va) {
    case VaOrder::Up:
      return v.va.take_low(n, g);
    case VaOrder::Down:
      return v.va.take_high(n, g);
    case VaOrder::Fresh: {
      uint64_t a = v.fresh;
      if (a + n > v.base + v.span) return 0;
      v.fresh += n;
      return a;
    }
    case VaOrder::List: {
      static size_t next = 0;
      if (next < cfg().list.size() && cfg().list[next].first == n &&
          v.va.take_at(v.base + cfg().list[next].second, n))
        return v.base + cfg().list[next++].second;
      return v.va.take_high(n, g);
    }
    case VaOrder::Driver:
      break;
  }
  for (auto& c : v.chunks)
    if (uint64_t a = c.second.holes.take_low(n, g)) return a;
  uint64_t size = (n + kChunk - 1) / kChunk * kChunk;
  uint64_t a = v.va.take_high(size, kChunk);
  if (!a) return 0;
  Chunk& c = v.chunks[a];
  c.size = size;
  if (size > n) c.holes.add(a + n, size - n);
  return a;
}

void give_va(Device& v, uint64_t a, size_t n) {
  switch (cfg().va) {
    case VaOrder::Fresh:
      return;
    case VaOrder::Up:
    case VaOrder::Down:
    case VaOrder::List:
      v.va.add(a, n);
      return;
    case VaOrder::Driver:
      break;
  }
  auto it = std::prev(v.chunks.upper_bound(a));
  it->second.holes.add(a, n);
  if (it->second.holes.free.size() == 1 &&
      it->second.holes.free.begin()->second == it->second.size) {
    v.va.add(it->first, it->second.size);
    v.chunks.erase(it);
  }
}

}  // namespace pretend
