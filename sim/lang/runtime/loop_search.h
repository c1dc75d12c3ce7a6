#pragma once

#include <array>
#include <cstdint>
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
    /// Of a text of which only the first letter is known. nullopt: the rest matters.
    [[nodiscard]] std::optional<bool> is_true_by(char first) const;
  };

  /// nullopt: the loop is another.
  static std::optional<LoopSearch> of(const Interp& in, const ForStmt& loop, Iterator& iterator);
  /// Passes over what nothing is done with. Cost: few instructions an item; a byte of a text each
  /// instruction, where the items are its lines that nobody has made yet.
  void pass_over(Interp& in);

 private:
  /// The question's answer of a line, by its first letter, behind them that of an empty line.
  enum class Answer : std::uint8_t { kUnknown, kNo, kYes, kAsk };
  [[nodiscard]] Answer answer_of(std::size_t first) const;
  [[nodiscard]] bool is_passed(std::string_view text);
  [[nodiscard]] std::size_t count_passed(TextLines& lines, std::size_t line);
  SequenceIterator* items_ = nullptr;
  EnumerateIterator* numbered_ = nullptr;
  Question question_;
  bool passes_where_ = false;  ///< the question's answer of what is passed over
  static constexpr std::size_t kNoLetter = 256;
  std::array<Answer, kNoLetter + 1> answers_{};
};

}  // namespace tidemark::lang
