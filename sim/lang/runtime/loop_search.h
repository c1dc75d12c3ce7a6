#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/lang/runtime/iterators.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// A loop over a list or tuple that begins each turn by asking a text how it begins or what it has:
///
///     for i, line in enumerate(lines):          for line in lines:
///         if line.startswith("def "):               if line.startswith("#") or "=" not in line:
///             ...                                       continue
///                                                   ...
///
/// Of what the turn does nothing with, only the last item matters: the variables keep it after the
/// loop. The rest is passed over. The question is made of `startswith`, `in`, `not`, `and`, `or`
/// and literals.
class LoopSearch {
 public:
  /// What is asked of a text.
  struct Question {
    enum class Kind : std::uint8_t { kBegins, kHas, kNot, kAnd, kOr };
    Kind kind = Kind::kBegins;
    std::vector<std::string_view> texts;  ///< kBegins: one of them; kHas: the only one
    std::vector<Question> parts;
    [[nodiscard]] bool is_true_of(std::string_view text) const;
  };

  /// nullopt: the loop is another.
  static std::optional<LoopSearch> of(const Interp& in, const ForStmt& loop, Iterator& iterator);
  /// Passes over what nothing is done with. Cost: few instructions an item.
  void pass_over(Interp& in);

 private:
  SequenceIterator* items_ = nullptr;
  EnumerateIterator* numbered_ = nullptr;
  Question question_;
  bool passes_where_ = false;  ///< the question's answer of what is passed over
};

}  // namespace tidemark::lang
