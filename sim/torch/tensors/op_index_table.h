#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/name_hash.h"
#include "sim/base/release.h"

/// What OpIndex looks into: a table that the build makes of the op table (op_index_compiler.cc).
namespace tidemark::torch {

/// One name in one place: all overloads of it, of all releases.
struct OpIndexEntry {
  std::string_view name;
  std::string_view where;    ///< "torch", "F" or "method"
  std::uint16_t first_link;  ///< its overloads, one after another, in the op table's order
  std::uint16_t link_count;
};

/// An overload: ops::op_family(family)[def].
struct OpIndexLink {
  std::uint8_t family;
  std::uint16_t def;
  Releases releases;  ///< of that
};

struct OpIndexTable {
  std::span<const OpIndexEntry> entries;
  std::span<const OpIndexLink> links;
  /// Open addressing by op_index_hash(), a power of two: position in `entries` + 1; 0: free.
  std::span<const std::uint16_t> slots;
};

constexpr std::uint64_t op_index_hash(std::string_view where, std::string_view name) {
  return hash_name(name) + where.size() * 977;
}

/// The slot of a name in a place, or the free one where it would be.
template <class Entries, class Slots>
constexpr std::size_t op_index_slot(const Entries& entries, const Slots& slots,
                                    std::string_view where, std::string_view name) {
  const std::size_t mask = slots.size() - 1;
  std::size_t slot = op_index_hash(where, name) & mask;
  while (slots[slot] != 0) {
    const auto& entry = entries[slots[slot] - 1U];
    if (entry.name == name && entry.where == where) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

const OpIndexTable& op_index_table();

}  // namespace tidemark::torch
