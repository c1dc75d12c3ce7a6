#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// A text that a user gave us (scenario, model code, settings) and the name to print for it.
/// `first_line` is the line of `name` on which `text` starts: code inside a YAML scalar reports the
/// YAML file's own lines. `indent` is the number of columns that the surrounding file puts before
/// each line.
struct SourceText {
  std::string name;
  std::string text;
  std::uint32_t first_line = 1;
  std::uint32_t indent = 0;
};

/// A half-open range of one source text. Lines and columns count from 1, columns in bytes; both are
/// relative to `source->text` (the printer adds first_line and indent). line 0: the file as a
/// whole.
struct SourceSpan {
  std::shared_ptr<const SourceText> source;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t end_line = 0;
  std::uint32_t end_column = 0;
};

}  // namespace tidemark
