#include "sim/report/file_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark {
namespace {

using Lines = std::vector<std::string_view>;

/// With their line breaks.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// A line of the answer: ' ' in both, '-' of the first, '+' of the second.
struct Step {
  char mark;
  std::string_view line;
};

/// More than this many pairs of lines are not compared: all of them are exchanged.
constexpr std::size_t kMostPairs = std::size_t{1} << 24U;

/// The shortest way from one to the other by lines that both have.
std::vector<Step> steps_between(const Lines& a, const Lines& b) {
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  std::size_t end = 0;
  while (end < a.size() - begin && end < b.size() - begin &&
         a[a.size() - 1 - end] == b[b.size() - 1 - end])
    ++end;
  const std::size_t rows = a.size() - begin - end;
  const std::size_t columns = b.size() - begin - end;
  // common[i][j]: lines that the rests from i and j share.
  const bool compares = rows * columns <= kMostPairs;
  const std::size_t stride = columns + 1;
  std::vector<std::uint32_t> common(compares ? (rows + 1) * stride : 0);
  for (std::size_t i = rows; compares && i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      common[i * stride + j] = a[begin + i] == b[begin + j] ? common[(i + 1) * stride + j + 1] + 1
                                                            : std::max(common[(i + 1) * stride + j],
                                                                       common[i * stride + j + 1]);
    }
  }
  std::vector<Step> steps;
  steps.reserve(a.size() + columns);
  for (std::size_t i = 0; i < begin; ++i) steps.push_back({' ', a[i]});
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < rows || j < columns) {
    const bool both = compares && i < rows && j < columns && a[begin + i] == b[begin + j];
    if (both) {
      steps.push_back({' ', a[begin + i++]});
      ++j;
    } else if (i < rows && (j == columns || !compares ||
                            common[(i + 1) * stride + j] >= common[i * stride + j + 1])) {
      steps.push_back({'-', a[begin + i++]});
    } else {
      steps.push_back({'+', b[begin + j++]});
    }
  }
  for (std::size_t k = a.size() - end; k < a.size(); ++k) steps.push_back({' ', a[k]});
  return steps;
}

std::string range_text(std::size_t first, std::size_t count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

}  // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after) {
  if (before == after) return {};
  constexpr std::size_t kContext = 3;
  const std::vector<Step> steps = steps_between(lines_of(before), lines_of(after));
  const auto changes = [&](std::size_t at) { return steps[at].mark != ' '; };
  std::string out = fmt::format("--- a/{0}\n+++ b/{0}\n", path);
  std::size_t line_a = 1;
  std::size_t line_b = 1;
  for (std::size_t at = 0; at < steps.size();) {
    std::size_t first = at;
    while (first < steps.size() && !changes(first)) ++first;
    if (first == steps.size()) break;
    const std::size_t from = std::max(at, first - std::min(first, kContext));
    line_a += from - at;
    line_b += from - at;
    // A hunk goes on while the next change is within twice the context.
    std::size_t last = first;
    for (std::size_t next = first; next < steps.size() && next <= last + 2 * kContext; ++next) {
      if (changes(next)) last = next;
    }
    const std::size_t end = std::min(steps.size(), last + 1 + kContext);
    std::size_t of_a = 0;
    std::size_t of_b = 0;
    std::string text;
    for (std::size_t i = from; i < end; ++i) {
      of_a += steps[i].mark == '+' ? 0U : 1U;
      of_b += steps[i].mark == '-' ? 0U : 1U;
      text += steps[i].mark;
      text += steps[i].line;
      if (!steps[i].line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
    }
    out += fmt::format("@@ -{} +{} @@\n{}", range_text(of_a == 0 ? line_a - 1 : line_a, of_a),
                       range_text(of_b == 0 ? line_b - 1 : line_b, of_b), text);
    line_a += of_a;
    line_b += of_b;
    at = end;
  }
  return out;
}

}  // namespace tidemark
