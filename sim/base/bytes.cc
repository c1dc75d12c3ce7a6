#include "sim/base/bytes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace tidemark {

std::string format_bytes(Bytes bytes) {
  if (bytes <= kKiB) return fmt::format("{} bytes", bytes);
  const auto value = static_cast<double>(bytes);
  if (bytes <= kMiB) return fmt::format("{:.2f} KiB", value / static_cast<double>(kKiB));
  if (bytes <= kGiB) return fmt::format("{:.2f} MiB", value / static_cast<double>(kMiB));
  return fmt::format("{:.2f} GiB", value / static_cast<double>(kGiB));
}

std::string format_bytes_exact(Bytes bytes) {
  if (bytes <= kKiB) return fmt::format("{} bytes", bytes);
  return fmt::format("{} ({} bytes)", format_bytes(bytes), bytes);
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    Bytes factor;
  };
  static constexpr std::array<Unit, 10> kUnits{{
      {"KiB", kKiB},
      {"MiB", kMiB},
      {"GiB", kGiB},
      {"TiB", kGiB * 1024},
      {"kB", 1000},
      {"KB", 1000},
      {"MB", 1'000'000},
      {"GB", 1'000'000'000},
      {"TB", 1'000'000'000'000},
      {"B", 1},
  }};
  Bytes factor = 1;
  for (const Unit& unit : kUnits) {
    if (text.size() > unit.name.size() && text.ends_with(unit.name)) {
      factor = unit.factor;
      text.remove_suffix(unit.name.size());
      while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
      break;
    }
  }
  // Decimal digits with at most one point; exact arithmetic, so that 1.5GiB is 1610612736.
  // Of 21.6GiB the whole bytes count; of bytes themselves, "0.3B", there are no parts.
  Wide digits = 0;
  Wide scale = 1;
  bool point = false;
  bool any = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c == '_' && any) {
      continue;
    } else if (c >= '0' && c <= '9') {
      any = true;
      digits = digits * 10 + static_cast<unsigned>(c - '0');
      if (point) scale *= 10;
      if (digits > std::numeric_limits<Bytes>::max() || scale > 1'000'000'000'000)
        return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (!any) return std::nullopt;
  const Wide total = digits * factor;
  if ((factor == 1 && total % scale != 0) || total / scale > std::numeric_limits<Bytes>::max())
    return std::nullopt;
  return static_cast<Bytes>(total / scale);
}

}  // namespace tidemark
