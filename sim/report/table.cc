#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/check.h"
#include "sim/report/text.h"

namespace tidemark {
namespace {

using Align = Table::Align;

constexpr std::size_t kGap = 2;         ///< spaces between two columns
constexpr std::size_t kLeastText = 14;  ///< columns in which any text may be put
constexpr std::size_t kLeastLast = 26;  ///< a last text that would have less goes below its row

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t leading_spaces(std::string_view text) {
  return std::min(text.find_first_not_of(' '), text.size());
}

/// The next word of `text`, which loses it and the spaces round it.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(leading_spaces(text));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

/// The narrowest column in which a cell can stand.
std::size_t least_width(std::string_view cell, Align align) {
  if (align == Align::kRight && has_digit(cell)) return display_width(cell);
  std::size_t longest = 0;
  std::string_view rest = cell;
  while (!rest.empty()) longest = std::max(longest, display_width(take_word(rest)));
  const std::size_t least = leading_spaces(cell) + longest;
  return align == Align::kRight ? least : std::min(least, kLeastText);
}

/// How many bytes of a word go into `columns`: all, or up to a mark that parts of names end in.
std::size_t broken_at(std::string_view word, std::size_t columns) {
  std::size_t end = 0;
  std::size_t seen = 0;
  std::size_t parted = 0;  // behind a mark between names
  std::size_t joined = 0;  // behind one within a name
  while (end < word.size()) {
    const bool begins = (static_cast<unsigned char>(word[end]) & 0xC0U) != 0x80U;
    if (begins && ++seen > columns) break;
    const char mark = word[end++];
    if (std::string_view("/,:;=([").find(mark) != std::string_view::npos) parted = end;
    if (mark == '_' || mark == '.') joined = end;
  }
  if (end == word.size()) return end;
  if (parted > 0) return parted;
  return joined > 0 ? joined : end;
}

/// A cell in lines of at most `columns`. Spaces that it begins with begin each line.
std::vector<std::string> lines_of(std::string_view cell, std::size_t columns) {
  if (display_width(cell) <= columns) return {std::string(cell)};
  const std::size_t lead = std::min(leading_spaces(cell), columns / 2);
  const std::size_t room = std::max<std::size_t>(1, columns - lead);
  std::vector<std::string> lines;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) lines.push_back(std::string(lead, ' ') + std::exchange(line, {}));
  };
  while (!cell.empty()) {
    std::string_view word = take_word(cell);
    const std::size_t before = line.empty() ? 0 : display_width(line) + 1;
    if (before + display_width(word) > room) end_line();
    while (display_width(word) > room) {
      const std::size_t end = broken_at(word, room);
      line = word.substr(0, end);
      end_line();
      word.remove_prefix(end);
    }
    if (word.empty()) continue;
    if (!line.empty()) line += ' ';
    line += word;
  }
  end_line();
  return lines;
}

void write_line(std::string line, std::string& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

/// Columns with their widths, in tables one below the other.
class Table::Layout {
 public:
  Layout(const Table& table, std::size_t width)
      : table_(table),
        room_(width > table.indent_ ? width - table.indent_ : 1),
        natural_(table.columns_.size()),
        least_(table.columns_.size()) {
    for (const std::vector<std::string>& row : table.rows_) {
      if (row.size() < 2) continue;
      for (std::size_t i = 0; i < row.size(); ++i) {
        natural_[i] = std::max(natural_[i], display_width(row[i]));
        least_[i] = std::max(least_[i], least_width(row[i], table.columns_[i]));
      }
    }
  }

  std::string text() {
    std::string out;
    hang_last();
    for (std::size_t begin = 0; begin == 0 || begin < natural_.size();) {
      const bool is_first = begin == 0;
      std::vector<std::size_t> columns{0};
      if (is_first) begin = 1;
      std::size_t used = least_.front();
      for (; begin < natural_.size(); ++begin) {
        const std::size_t more = kGap + least_[begin];
        if (columns.size() > 1 && used + more > room_) break;
        used += more;
        columns.push_back(begin);
      }
      if (!is_first) out += '\n';
      write(columns, is_first, out);
    }
    return out;
  }

 private:
  /// A long last text in a narrow column would make a row of many lines: it goes below its row.
  void hang_last() {
    const std::size_t last = natural_.size() - 1;
    if (last == 0 || table_.columns_[last] != Align::kLeft) return;
    std::vector<std::size_t> all(natural_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::size_t wide = widths(all).back();
    if (wide >= kLeastLast || natural_[last] <= 2 * wide) return;
    hangs_ = true;
    natural_.pop_back();
    least_.pop_back();
  }

  /// As wide as they like, the widest made narrower until all fit.
  std::vector<std::size_t> widths(const std::vector<std::size_t>& columns) const {
    std::vector<std::size_t> out;
    out.reserve(columns.size());
    for (const std::size_t i : columns) out.push_back(natural_[i]);
    const std::size_t gaps = kGap * (columns.size() - 1);
    std::size_t used = std::accumulate(out.begin(), out.end(), gaps);
    // Heads of numbers go on in the next line before texts do.
    for (std::size_t i = 0; used > room_ && i < columns.size(); ++i) {
      if (table_.columns_[columns[i]] == Align::kLeft) continue;
      used -= out[i] - least_[columns[i]];
      out[i] = least_[columns[i]];
    }
    while (used > room_) {
      std::size_t widest = columns.size();
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (out[i] > least_[columns[i]] && (widest == columns.size() || out[i] >= out[widest]))
          widest = i;
      }
      if (widest == columns.size()) break;
      --out[widest];
      --used;
    }
    return out;
  }

  void write(const std::vector<std::size_t>& columns, bool is_first, std::string& out) const {
    const std::vector<std::size_t> wide = widths(columns);
    for (const std::vector<std::string>& row : table_.rows_) {
      if (row.size() < 2) {
        // What stands above the columns is said once.
        const bool is_title = &row == &table_.rows_.front();
        if (is_first || !is_title) write_alone(row.empty() ? std::string() : row[0], out);
      } else if (is_first || (columns.size() > 1 && row.size() > columns[1])) {
        write_row(row, columns, wide, out);
      }
    }
  }

  void write_alone(const std::string& cell, std::string& out) const {
    for (const std::string& line : lines_of(cell, room_))
      write_line(std::string(table_.indent_, ' ') + line, out);
  }

  void write_row(const std::vector<std::string>& row, const std::vector<std::size_t>& columns,
                 const std::vector<std::size_t>& wide, std::string& out) const {
    std::vector<std::vector<std::string>> cells(columns.size());
    std::size_t height = 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] < row.size()) cells[i] = lines_of(row[columns[i]], wide[i]);
      height = std::max(height, cells[i].size());
    }
    const bool says_nothing = columns.size() > 1 && columns[1] > 1 &&
                              std::all_of(cells.begin(), cells.end(), [](const auto& lines) {
                                return lines.empty() || lines.front().empty();
                              });
    if (says_nothing) return;
    for (std::size_t y = 0; y < height; ++y) {
      std::string line(table_.indent_, ' ');
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string cell = y < cells[i].size() ? cells[i][y] : std::string();
        const std::size_t used = display_width(cell);
        const std::size_t padding = used < wide[i] ? wide[i] - used : 0;
        if (table_.columns_[columns[i]] == Align::kRight) line.append(padding, ' ');
        line += cell;
        if (table_.columns_[columns[i]] == Align::kLeft) line.append(padding, ' ');
        line.append(kGap, ' ');
      }
      write_line(std::move(line), out);
    }
    if (!hangs_ || columns.back() + 1 != natural_.size() || row.size() <= natural_.size()) return;
    const std::size_t indent = table_.indent_ + std::min<std::size_t>(wide[0], 4) + kGap;
    const std::size_t room = std::max(room_ + table_.indent_, indent + 1) - indent;
    for (const std::string& line : lines_of(row.back(), room))
      write_line(std::string(indent, ' ') + line, out);
  }

  const Table& table_;
  std::size_t room_;
  std::vector<std::size_t> natural_;
  std::vector<std::size_t> least_;
  bool hangs_ = false;
};

void Table::add(std::vector<std::string> cells) {
  TIDEMARK_CHECK(cells.size() <= columns_.size(), "a row of " + std::to_string(cells.size()));
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t width) const { return Layout(*this, width).text(); }

}  // namespace tidemark
