#include "sim/base/sim_time.h"

#include <charconv>
#include <utility>

namespace tidemark {

std::optional<Nanoseconds> parse_duration(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
  constexpr double kMost = 9e18;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc()) return std::nullopt;
  const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  for (const auto& [name, factor] : kUnits) {
    const double ns = number * factor;
    if (unit == name && ns >= 1 && ns < kMost) return static_cast<Nanoseconds>(ns);
  }
  return std::nullopt;
}

}  // namespace tidemark
