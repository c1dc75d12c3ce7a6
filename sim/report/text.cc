#include "sim/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kGood = "\x1b[1;32m";
constexpr std::string_view kBad = "\x1b[1;31m";
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kStyles[] = {kBold, kDim, kGood, kBad, kPlain};

std::string styled(std::string_view text, const TextStyle& style, std::string_view begin) {
  return style.colour ? fmt::format("{}{}{}", begin, text, kPlain) : std::string(text);
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

std::string bold(std::string_view text, const TextStyle& style) {
  return styled(text, style, kBold);
}
std::string dim(std::string_view text, const TextStyle& style) { return styled(text, style, kDim); }
std::string good(std::string_view text, const TextStyle& style) {
  return styled(text, style, kGood);
}
std::string bad(std::string_view text, const TextStyle& style) { return styled(text, style, kBad); }

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string cut(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t end = 0;
  std::size_t kept = 0;
  while (end < text.size()) {
    if (starts_character(text[end]) && ++kept == columns) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

namespace {

/// The length of one of our own styles at the beginning of `text`; 0: there is none.
std::size_t style_length(std::string_view text) {
  if (!text.starts_with('\x1b')) return 0;
  for (const std::string_view style : kStyles) {
    if (text.starts_with(style)) return style.size();
  }
  return 0;
}

/// A character of two or three bytes that acts on the terminal instead of being shown: C1 controls,
/// marks, embeddings and isolates of direction. Its code, or 0.
unsigned acting_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() >= 2 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return byte(1);
  if (text.size() < 3 || byte(0) != 0xE2) return 0;
  const unsigned code = 0x2000U + ((byte(1) & 0x3FU) << 6U) + (byte(2) & 0x3FU);
  const bool turns = code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  return turns ? code : 0;
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const auto c = static_cast<unsigned char>(rest[0]);
    const bool is_at_end = i == 0 || rest.size() == 1;
    std::size_t length = style_length(rest);
    if (const unsigned code = acting_character(rest); code != 0) {
      out += fmt::format("\\u{:04x}", code);
      length = code < 0x100 ? 2 : 3;
    } else if (length > 0) {
      out += rest.substr(0, length);
    } else {
      length = 1;
      const bool is_shown =
          (c >= ' ' && c != 0x7F) || c == '\n' || c == '\t' || (c == '\r' && is_at_end);
      is_shown ? out += rest[0] : out += fmt::format("\\x{:02x}", c);
    }
    i += length;
  }
  return out;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && indent + display_width(line) + 1 + display_width(word) > columns) {
      out += std::string(indent, ' ') + line + '\n';
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) out += std::string(indent, ' ') + line + '\n';
  return out;
}

std::string fitted(std::string_view lines, std::size_t columns) {
  const auto shown_width = [](std::string_view text) {
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < text.size(); ++i) hidden += style_length(text.substr(i));
    return display_width(text) - hidden;
  };
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    // No text is wider than its bytes.
    if (line.size() <= columns || shown_width(line) <= columns ||
        line.substr(indent).starts_with("tidemark ")) {
      out.append(line).append("\n");
      continue;
    }
    std::string part(line.substr(0, indent));
    for (bool is_first = true; !line.empty(); is_first = false) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      const std::string_view word = line.substr(0, line.find(' '));
      line.remove_prefix(word.size());
      if (!is_first && shown_width(part) + 1 + shown_width(word) > columns) {
        out += part + '\n';
        part.assign(indent + 2, ' ');
        part += word;
      } else {
        part.append(is_first ? "" : " ").append(word);
      }
    }
    part.erase(part.find_last_not_of(' ') + 1);
    out += part + '\n';
  }
  return out;
}

std::string sparkline(std::span<const Bytes> values, Bytes highest) {
  static constexpr std::array<std::string_view, 9> kBars{" ", "▁", "▂", "▃", "▄",
                                                         "▅", "▆", "▇", "█"};
  std::string line;
  for (const Bytes value : values) {
    const Wide share = highest == 0 ? 0 : (static_cast<Wide>(value) * 8 + highest - 1) / highest;
    line += kBars[std::min<std::size_t>(static_cast<std::size_t>(share), 8)];
  }
  return line;
}

std::string human_bytes(Bytes bytes) {
  static constexpr std::array<std::string_view, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < kKiB) return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >> (10 * (unit + 2)) != 0) ++unit;
  const Bytes one = Bytes{1} << (10 * (unit + 1));
  // Hundredths, rounded to nearest in whole numbers: every build prints the same.
  const Bytes hundredths = static_cast<Bytes>((static_cast<Wide>(bytes) * 100 + one / 2) / one);
  if (hundredths >= 10000) return fmt::format("{} {}", (hundredths + 50) / 100, kUnits[unit]);
  if (hundredths >= 1000) {
    const Bytes tenths = (hundredths + 5) / 10;
    return fmt::format("{}.{} {}", tenths / 10, tenths % 10, kUnits[unit]);
  }
  return fmt::format("{}.{:02} {}", hundredths / 100, hundredths % 100, kUnits[unit]);
}

std::string exact_bytes(Bytes bytes) {
  return bytes < kKiB ? human_bytes(bytes)
                      : fmt::format("{} ({} bytes)", human_bytes(bytes), grouped(bytes));
}

std::string percent(std::uint64_t parts_per_million) {
  const std::uint64_t tenths = (parts_per_million + 500) / 1000;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

}  // namespace tidemark
