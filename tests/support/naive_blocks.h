#pragma once

#include "tests/support/naive_allocator.h"

namespace tidemark::naive {

/// One reservation of virtual addresses. Source: docs/rules/allocator.md#12.1.
struct Allocator::Range {
  std::uint64_t address = 0;
  Bytes length = 0;
  Bytes page = 0;
};

/// Source: docs/rules/allocator.md#2.1.
struct Allocator::Block {
  StreamId stream = 0;
  std::uint64_t address = 0;
  Bytes size = 0;
  Bytes requested_size = 0;
  Pool* pool = nullptr;
  Block* prev = nullptr;
  Block* next = nullptr;
  Range* range = nullptr;  // of the expandable segment it lies in
  bool allocated = false;
  bool mapped = true;
  StreamTable<bool> used_by;  // other streams recorded on it
  std::uint64_t open_events = 0;
  std::uint64_t gc_base = 0;
  std::uint64_t registration = 0;
  std::uint64_t creation = 0;
  RequestId id = kNoRequest;

  /// Of its stream's handle: 4 priorities have 32 streams each, made in turn.
  [[nodiscard]] unsigned handle() const {
    const unsigned number = stream;
    return number == 0 || number > 128 ? number : 1 + (number - 1) % 32 * 4 + (number - 1) / 32;
  }
  [[nodiscard]] bool is_split() const { return prev != nullptr || next != nullptr; }
  [[nodiscard]] bool is_free() const { return !allocated && open_events == 0 && used_by.empty(); }
};

struct Allocator::Pool {
  struct ByAddress {
    bool operator()(const Block* a, const Block* b) const {
      return std::pair(a->handle(), a->address) < std::pair(b->handle(), b->address);
    }
  };
  Pool(PoolId id_, bool small_, Order order) : id(id_), small(small_), free(order) {}
  PoolId id;
  bool small;
  FreeSet free;
  std::set<Block*, ByAddress> unmapped;
  std::uint64_t search_count = 0;
};

}  // namespace tidemark::naive
