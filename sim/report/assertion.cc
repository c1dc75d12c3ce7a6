#include "sim/report/assertion.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/report/headline.h"

namespace tidemark {

namespace {

/// A figure that claims can be about: one row to add another.
struct Figure {
  std::string_view name;
  bool is_bytes;
  std::uint64_t (*of)(const DeviceResult&);
};

constexpr std::array<Figure, 10> kFigures{{
    {"peak_allocated", true,
     [](const DeviceResult& device) { return device.peak_allocated.bytes; }},
    {"peak_reserved", true, [](const DeviceResult& device) { return device.peak_reserved.bytes; }},
    {"device_total", true,
     [](const DeviceResult& device) { return headline_of(device).device_peak_bytes; }},
    {"spare", true, [](const DeviceResult& device) { return headline_of(device).spare_bytes; }},
    {"end_allocated", true,
     [](const DeviceResult& device) {
       return static_cast<std::uint64_t>(device.statistics.allocated_bytes.all.current);
     }},
    {"end_reserved", true,
     [](const DeviceResult& device) {
       return static_cast<std::uint64_t>(device.statistics.reserved_bytes.all.current);
     }},
    {"ooms", false,
     [](const DeviceResult& device) { return static_cast<std::uint64_t>(device.ooms.size()); }},
    {"retries", false,
     [](const DeviceResult& device) {
       return static_cast<std::uint64_t>(device.statistics.num_alloc_retries);
     }},
    {"segments", false,
     [](const DeviceResult& device) { return static_cast<std::uint64_t>(device.segments.size()); }},
    {"device_calls", false, [](const DeviceResult& device) { return device.device_calls; }},
}};

constexpr std::array<std::string_view, 6> kRelations{"<=", ">=", "==", "!=", "<", ">"};

bool holds(std::uint64_t value, std::string_view relation, std::uint64_t bound) {
  if (relation == "<") return value < bound;
  if (relation == "<=") return value <= bound;
  if (relation == ">") return value > bound;
  if (relation == ">=") return value >= bound;
  return (value == bound) == (relation == "==");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

[[noreturn]] void refuse(std::string_view text, std::string message, std::string hint) {
  Problem problem;
  problem.path = fmt::format("--assert '{}'", text);
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  throw InputError(std::move(problem));
}

std::string amount(std::uint64_t value, bool is_bytes) {
  return is_bytes ? format_bytes_exact(value) : fmt::format("{}", value);
}

}  // namespace

std::vector<std::string_view> assertion_figures() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kFigures));
  for (const Figure& figure : kFigures) names.push_back(figure.name);
  return names;
}

Assertion parse_assertion(std::string_view text) {
  const std::size_t at = text.find_first_of("<>=!");
  const std::string_view rest = at == std::string_view::npos ? "" : text.substr(at);
  const auto relation = std::find_if(kRelations.begin(), kRelations.end(),
                                     [&](std::string_view sign) { return rest.starts_with(sign); });
  if (relation == kRelations.end())
    refuse(text, "no comparison in it", "such as 'peak_reserved < 70GiB'");
  const std::string_view name = trimmed(text.substr(0, at));
  const auto figure = std::find_if(kFigures.begin(), kFigures.end(),
                                   [&](const Figure& row) { return row.name == name; });
  if (figure == kFigures.end()) {
    const std::string hint = did_you_mean(name, assertion_figures());
    refuse(text, fmt::format("there is no figure '{}'", name),
           hint.empty() ? fmt::format("the figures are {}", fmt::join(assertion_figures(), ", "))
                        : hint);
  }
  const std::string_view number = trimmed(rest.substr(relation->size()));
  const std::optional<std::uint64_t> bound =
      figure->is_bytes ? parse_bytes(number) : parse_count(number);
  if (!bound) {
    refuse(text,
           fmt::format("'{}' is no {}", number, figure->is_bytes ? "amount of memory" : "count"),
           figure->is_bytes ? "such as 70GiB, 512MiB or plain bytes" : "such as 0");
  }
  return {std::string(text), static_cast<std::size_t>(figure - kFigures.begin()), *relation,
          *bound};
}

std::vector<std::string> failed_assertions(const std::vector<Assertion>& assertions,
                                           const RunResult& result) {
  std::vector<std::string> lines;
  for (const Assertion& assertion : assertions) {
    const Figure& figure = kFigures[assertion.figure];
    for (std::size_t i = 0; i < result.devices.size(); ++i) {
      const std::uint64_t value = figure.of(result.devices[i]);
      if (holds(value, assertion.relation, assertion.bound)) continue;
      const std::string where = result.devices.size() > 1 ? fmt::format(" on cuda:{}", i) : "";
      lines.push_back(fmt::format("assertion failed: {}: {} is {}{}", assertion.text, figure.name,
                                  amount(value, figure.is_bytes), where));
    }
  }
  return lines;
}

}  // namespace tidemark
