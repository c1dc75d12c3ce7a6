#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/lang/runtime/iterators.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// A loop over a list or tuple that does nothing but look for texts by how they begin:
///
///     for i, line in enumerate(lines):
///         if line.startswith("def "):
///             ...
///
/// Of what does not begin so only the last item matters: the variables keep it after the loop. The
/// rest is passed over.
class LoopSearch {
 public:
  /// nullopt: the loop is another.
  static std::optional<LoopSearch> of(const Interp& in, const ForStmt& loop, Iterator& iterator);
  /// Passes over what nothing is done with. Cost: few instructions an item.
  void pass_over(Interp& in);

 private:
  SequenceIterator* items_ = nullptr;
  EnumerateIterator* numbered_ = nullptr;
  std::vector<std::string_view> begins_;
};

}  // namespace tidemark::lang
