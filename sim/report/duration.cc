#include "sim/report/duration.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace tidemark {

std::string duration_text(Nanoseconds ns) {
  struct Unit {
    Nanoseconds ns;
    std::string_view name;
  };
  static constexpr std::array kUnits{Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"},
                                     Unit{1'000, "us"}};
  for (const Unit& unit : kUnits) {
    if (ns < unit.ns) continue;
    const Nanoseconds hundredths = (ns * 100 + unit.ns / 2) / unit.ns;
    return fmt::format("{}.{:02} {}", hundredths / 100, hundredths % 100, unit.name);
  }
  return fmt::format("{} ns", ns);
}

}  // namespace tidemark
