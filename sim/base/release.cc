#include "sim/base/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "sim/base/problem.h"
#include "sim/base/wheel.h"

namespace tidemark {

namespace {

/// The toolkits of the wheels on PyPI, by the release from which on. Source: `torch.version.cuda`.
constexpr std::array<Wheel, 6> kPypiWheels{{
    {{2, 4}, {12, 1}},
    {{2, 5}, {12, 4}},
    {{2, 7}, {12, 6}},
    {{2, 8}, {12, 8}},
    {{2, 11}, {13, 0}},
    {{2, 15}, {13, 2}},
}};

/// The toolkits that the wheels of some known release were made with.
constexpr std::array<Version, 8> kToolkits{
    {{11, 8}, {12, 1}, {12, 4}, {12, 6}, {12, 8}, {12, 9}, {13, 0}, {13, 2}}};

/// Two or three numbers with dots between them; the third is of no interest.
std::optional<Version> read_version(std::string_view text) {
  std::array<unsigned, 3> parts{};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (count < parts.size()) {
    const auto [stop, error] = std::from_chars(at, end, parts.at(count));
    if (error != std::errc() || parts.at(count) > 255) return std::nullopt;
    ++count;
    at = stop;
    if (at == end) break;
    if (*at != '.') return std::nullopt;
    ++at;
  }
  if (at != end || count < 2) return std::nullopt;
  return Version{static_cast<std::uint8_t>(parts[0]), static_cast<std::uint8_t>(parts[1])};
}

/// "13.0" or "cu130" of a toolkit that is known.
std::optional<Version> read_toolkit(std::string_view text) {
  // "cu130": the last digit is the minor version.
  const bool is_tag = text.starts_with("cu") && text.size() == 5;
  const std::string dotted =
      is_tag ? fmt::format("{}.{}", text.substr(2, 2), text.substr(4)) : std::string(text);
  const std::optional<Version> version = read_version(dotted);
  const bool is_known =
      version && std::find(kToolkits.begin(), kToolkits.end(), *version) != kToolkits.end();
  return is_known ? version : std::nullopt;
}

[[noreturn]] void refuse(std::string_view name, std::string message, std::string hint) {
  Problem problem;
  problem.path = name;
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  throw InputError(std::move(problem));
}

}  // namespace

std::string to_string(Version version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

std::string to_string(const Releases& releases) {
  return releases.from == releases.to
             ? to_string(releases.from)
             : fmt::format("{} to {}", to_string(releases.from), to_string(releases.to));
}

Wheel pypi_wheel(Version pytorch) {
  const auto after = std::find_if(kPypiWheels.begin(), kPypiWheels.end(),
                                  [&](const Wheel& wheel) { return wheel.pytorch > pytorch; });
  return {pytorch, after == kPypiWheels.begin() ? after->cuda : (after - 1)->cuda};
}

Version parse_version(std::string_view name, std::string_view text) {
  const std::optional<Version> version = read_version(text);
  if (version && kOldestVersion <= *version && *version <= kNewestVersion) return *version;
  std::string hint;
  if (version && *version < kOldestVersion) hint = "the oldest that Tidemark knows is the nearest";
  if (version && *version > kNewestVersion) {
    hint = fmt::format(
        "the newest that Tidemark knows is {0}; `tidemark run --pytorch-like {0}` takes its rules",
        to_string(kNewestVersion));
  }
  refuse(name,
         fmt::format("expected a PyTorch release from {} to {}, found '{}'",
                     to_string(kOldestVersion), to_string(kNewestVersion), text),
         std::move(hint));
}

std::optional<Wheel> wheel_named(std::string_view torch) {
  const std::size_t plus = std::min(torch.find('+'), torch.size());
  const std::optional<Version> release = read_version(torch.substr(0, plus));
  if (!release || *release < kOldestVersion || *release > kNewestVersion) return std::nullopt;
  Wheel wheel = pypi_wheel(*release);
  if (plus < torch.size()) {
    if (const auto toolkit = read_toolkit(torch.substr(plus + 1))) wheel.cuda = *toolkit;
  }
  return wheel;
}

Version parse_cuda_version(std::string_view name, std::string_view text) {
  if (const std::optional<Version> version = read_toolkit(text)) return *version;
  std::string known;
  for (const Version toolkit : kToolkits) known += (known.empty() ? "" : ", ") + to_string(toolkit);
  refuse(name, fmt::format("expected the CUDA toolkit of a PyTorch wheel, found '{}'", text),
         "known are " + known);
}

}  // namespace tidemark
