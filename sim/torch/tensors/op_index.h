#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/base/release.h"
#include "sim/ops/registry.h"
#include "sim/torch/tensors/op_index_table.h"

namespace tidemark::torch {

/// The op table by where users find it, with the entries of all releases. It is the same for every
/// session and part of the program.
class OpIndex {
 public:
  using Entry = OpIndexEntry;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// The position of torch.NAME, F.NAME or x.NAME in entries(), or kNone. A position may have no
  /// overload in a release.
  [[nodiscard]] static std::size_t find(std::string_view where, std::string_view name);
  [[nodiscard]] static std::span<const Entry> entries() { return op_index_table().entries; }
  /// True where the release has one of the entry's overloads.
  [[nodiscard]] static bool is_in(std::size_t entry, Version release);
  /// The entry's overloads in the release, in the op table's order.
  [[nodiscard]] static std::vector<const ops::OpDef*> overloads(std::size_t entry, Version release);
  /// Those that came after the release, the oldest first.
  [[nodiscard]] static std::vector<const ops::OpDef*> later(std::size_t entry, Version release);
};

}  // namespace tidemark::torch
