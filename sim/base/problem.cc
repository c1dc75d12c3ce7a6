#include "sim/base/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tidemark {

InputError::InputError(std::vector<Problem> problems)
    : std::runtime_error(render_problems(problems)), problems_(std::move(problems)) {
  if (problems_.size() > kMaxProblems) problems_.resize(kMaxProblems);
}

namespace {

std::string_view line_of(std::string_view text, std::uint32_t line) {
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view rest = text.substr(std::min(begin, text.size()));
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

}  // namespace

std::string render_problem(const Problem& problem) {
  std::string out;
  const SourceText* source = problem.at.source.get();
  if (source != nullptr) {
    out += source->name;
    if (problem.at.line > 0) {
      out += fmt::format(":{}:{}", problem.at.line + source->first_line - 1,
                         problem.at.column + source->indent);
    }
    out += ": ";
  }
  out += "error: ";
  if (!problem.path.empty()) out += problem.path + ": ";
  out += problem.message;
  if (!problem.hint.empty()) out += "; " + problem.hint;
  out += '\n';
  if (source == nullptr || problem.at.line == 0) return out;
  const std::string_view line = line_of(source->text, problem.at.line);
  if (line.empty() || line.size() > 400) return out;
  std::string text(line);
  std::string marks;
  for (std::size_t i = 0; i + 1 < problem.at.column && i < line.size(); ++i) {
    // A tab stays a tab, and the bytes of one UTF-8 character take one place.
    if ((static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U)
      marks += line[i] == '\t' ? '\t' : ' ';
  }
  marks += '^';
  if (problem.at.end_line == problem.at.line) {
    const std::size_t end = std::min<std::size_t>(problem.at.end_column, line.size() + 1);
    for (std::size_t i = problem.at.column + 1; i < end; ++i) {
      if ((static_cast<unsigned char>(line[i - 1]) & 0xC0U) != 0x80U) marks += '~';
    }
  }
  out += "    " + text + "\n    " + marks + "\n";
  return out;
}

std::string render_problems(const std::vector<Problem>& problems) {
  std::string out;
  const std::size_t shown = std::min(problems.size(), InputError::kMaxProblems);
  for (std::size_t i = 0; i < shown; ++i) out += render_problem(problems[i]);
  if (shown < problems.size()) out += fmt::format("... and {} more\n", problems.size() - shown);
  return out;
}

namespace {

/// Letters to put in, take out, replace, or exchange with their neighbour; `most` where they are as
/// many or more.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  // Two words are at least as far apart as their lengths are.
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= most) return most;
  std::vector<std::size_t> before(b.size() + 1);  // the row before the last
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    // A row has nothing less than the two above it have.
    const auto is_far = [&](std::size_t distance) { return distance >= most; };
    if (std::all_of(row.begin(), row.end(), is_far) &&
        std::all_of(last.begin(), last.end(), is_far))
      return most;
  }
  return row[b.size()];
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::string_view nearest_name(std::string_view word,
                              const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t best_distance =
      (word.size() <= 3 ? 1 : std::max<std::size_t>(2, word.size() / 3)) + 1;
  const std::string wanted = lower(word);
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower(candidate), best_distance);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view best = nearest_name(word, candidates);
  return best.empty() ? std::string() : fmt::format("did you mean '{}'?", best);
}

}  // namespace tidemark
