#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/source.h"

namespace tidemark {

/// One thing wrong in what a user gave us.
struct Problem {
  SourceSpan at;     ///< where; an empty source: the command line or no place at all
  std::string path;  ///< key path ("train.batch[2]") or call stack entry; empty where there is none
  std::string message;  ///< what is wrong, lower case, no full stop
  std::string hint;     ///< what to do ("did you mean 'batch'?"); may be empty
};

/// The input is wrong (exit code 2). Carries every problem found, at most kMaxProblems.
class InputError : public std::runtime_error {
 public:
  static constexpr std::size_t kMaxProblems = 20;
  explicit InputError(std::vector<Problem> problems);
  explicit InputError(Problem problem) : InputError(std::vector<Problem>{std::move(problem)}) {}
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// A file cannot be read or written (exit code 4). The message has the path and the system's
/// reason.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "file:line:column: error: path: message; hint", then the source line and a caret line, each
/// ending in a newline:
///     scenario.yaml:41:12: error: train.batch: expected an integer, found 'lots'
///         batch: lots
///                ^~~~
std::string render_problem(const Problem& problem);
/// All of them, in order.
std::string render_problems(const std::vector<Problem>& problems);

/// The candidate nearest to `word`, or empty when none is near enough (a third of its letters, at
/// least two in words of four and more).
std::string_view nearest_name(std::string_view word,
                              const std::vector<std::string_view>& candidates);
/// "did you mean 'batch'?" or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace tidemark
