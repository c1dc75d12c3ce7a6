#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/release.h"
#include "sim/ops/registry.h"

namespace tidemark::torch {

/// The op table by where users find it, with the entries of all releases. It is the same for every
/// session, so a process makes one.
class OpIndex {
 public:
  /// One name in one place: all overloads of it, of all releases.
  struct Entry {
    std::string_view name;
    std::string_view where;  ///< "torch", "F" or "method"
    std::uint16_t first;     ///< its overloads are a chain of links_
    std::uint16_t last;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// Cost: linear in the op table at the first call, none after it. Safe to call from any thread.
  static const OpIndex& instance();
  /// The position of torch.NAME, F.NAME or x.NAME in entries(), or kNone. A position may have no
  /// overload in a release.
  [[nodiscard]] std::size_t find(std::string_view where, std::string_view name) const;
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  /// True where the release has one of the entry's overloads.
  [[nodiscard]] bool is_in(std::size_t entry, Version release) const;
  /// The entry's overloads in the release, in the op table's order.
  [[nodiscard]] std::vector<const ops::OpDef*> overloads(std::size_t entry, Version release) const;
  /// Those that came after the release, the oldest first.
  [[nodiscard]] std::vector<const ops::OpDef*> later(std::size_t entry, Version release) const;

 private:
  struct Link {
    const ops::OpDef* def;
    std::uint16_t next;  ///< kEnd: the last
  };
  static constexpr std::uint16_t kEnd = 0xffff;

  OpIndex();
  [[nodiscard]] std::size_t slot_of(std::string_view where, std::string_view name) const;
  void add(std::string_view where, std::string_view name, const ops::OpDef& def);

  std::vector<Entry> entries_;
  std::vector<Link> links_;
  std::vector<std::uint16_t> slots_;  ///< position in entries_ + 1, open addressing; 0: free
};

}  // namespace tidemark::torch
