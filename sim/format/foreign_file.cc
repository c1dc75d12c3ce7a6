#include "sim/format/foreign_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark {
namespace {

struct Mark {
  std::string_view begin;
  std::string_view what;
};
constexpr Mark kMarks[] = {
    {{"PK\x03\x04", 4}, "a zip archive, as torch.save() writes them: a checkpoint is no recording"},
    {"SQLite format 3", "the results of a sweep: `tidemark results` and `tidemark report` read it"},
    {"version https://git-lfs", "a pointer of Git LFS: `git lfs pull` brings the file itself"},
    {{"\x28\xb5\x2f\xfd", 4}, "compressed by zstd: `unzstd` first"},
    {{"\xfd"
      "7zXZ",
      5},
     "compressed by xz: `unxz` first"},
    {"BZh", "compressed by bzip2: `bunzip2` first"},
    {"\x89PNG", "a picture"},
    {"%PDF", "a PDF"},
    {"\x7f"
     "ELF",
     "a program"},
    {"index,action,", "a table of events: `tidemark diff` reads it"},
    {"{\"schemaVersion\"", "a trace of torch.profiler, which has no addresses"},
};

/// How many bytes a character of UTF-8 has that begins so; 0: none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

}  // namespace

bool is_printable(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const bool is_blank = first == '\n' || first == '\r' || first == '\t';
    if ((first < 0x20 && !is_blank) || first == 0x7F) return false;
    const std::size_t length = length_of(first);
    if (length == 0) return false;
    if (i + length > bytes.size()) return true;  // cut in a character
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(bytes[i + k]) & 0xC0U) != 0x80U) return false;
    }
    i += length;
  }
  return true;
}

std::string foreign_file(std::string_view begin) {
  for (const Mark& mark : kMarks) {
    if (begin.starts_with(mark.begin)) return std::string(mark.what);
  }
  if (!is_printable(begin)) {
    std::string bytes;
    for (const char byte : begin.substr(0, 8))
      bytes += fmt::format("{}{:02x}", bytes.empty() ? "" : " ", static_cast<unsigned char>(byte));
    return fmt::format("binary data of another kind (bytes {})", bytes);
  }
  const std::size_t at = begin.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return "blank";
  if (begin[at] == '{' || begin[at] == '[') return "JSON";
  if (begin[at] == '<') return "HTML or XML";
  return "text";
}

}  // namespace tidemark
