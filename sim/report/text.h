#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/bytes.h"

namespace tidemark {

/// How a text report may look: where it goes decides, not the report.
struct TextStyle {
  std::size_t width = 80;  ///< columns
  bool colour = false;     ///< bold and colours by ANSI sequences
};

std::string bold(std::string_view text, const TextStyle& style);
std::string dim(std::string_view text, const TextStyle& style);
std::string good(std::string_view text, const TextStyle& style);
std::string bad(std::string_view text, const TextStyle& style);

/// How many columns a terminal gives `text` (UTF-8, no ANSI sequences).
std::size_t display_width(std::string_view text);
/// The longest beginning of `text` within `columns`, with "…" where something was cut.
std::string cut(std::string_view text, std::size_t columns);

/// `text` as a terminal may be given it, whoever wrote it: line breaks, tabs, the styles above, and
/// a carriage return at either end (a line that is written over). Other control characters and
/// those that turn the direction of writing stand as \x1b or \u202e.
std::string for_terminal(std::string_view text);

/// `text` in lines of at most `columns` where its words allow, each after `indent` spaces and
/// ending in a line break.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

/// Lines as they stand, those beyond `columns` broken between words: what follows stands two deeper
/// than they begin. A command to be copied ("  tidemark run ...") is left whole.
std::string fitted(std::string_view lines, std::size_t columns);

/// Rows of cells under one another, within a width. Trailing spaces are never written.
class Table {
 public:
  /// Text stands left and may go on in the next line; numbers stand right and are never broken.
  enum class Align : std::uint8_t { kLeft, kRight };
  /// `indent`: spaces before each line; columns stand two spaces apart.
  explicit Table(std::vector<Align> columns, std::size_t indent = 0)
      : columns_(std::move(columns)), indent_(indent) {}
  /// Requires: at most as many cells as columns.
  void add(std::vector<std::string> cells);
  /// Where the columns would reach beyond `width` the widest texts go on in the next line, between
  /// words where they can. Columns that do not fit so either follow as a table of their own, each
  /// row with its first cell again. A row of one cell is a line of its own: it widens nothing.
  [[nodiscard]] std::string text(std::size_t width) const;

 private:
  class Layout;
  std::vector<Align> columns_;
  std::size_t indent_;
  std::vector<std::vector<std::string>> rows_;
};

/// One character a value, ▁ to █ by its share of `highest`; a space for 0.
std::string sparkline(std::span<const Bytes> values, Bytes highest);

/// "512 B", "3.38 KiB", "20.0 MiB", "1.00 GiB": three or four digits, for people; exact bytes stand
/// beside it.
std::string human_bytes(Bytes bytes);
/// "20.0 MiB (20,971,520 bytes)".
std::string exact_bytes(Bytes bytes);
/// "12.3 %" of parts in a million.
std::string percent(std::uint64_t parts_per_million);
/// "1,234,567": for people; files have plain digits.
std::string grouped(std::uint64_t number);

}  // namespace tidemark
