#include "sim/device/links.h"

#include <algorithm>
#include <array>
#include <string>

namespace tidemark {
namespace {

enum Row : std::uint8_t {
  kNvlink1,
  kNvlink2,
  kNvlink3,
  kNvlink3Cut,
  kNvlink4,
  kNvlink4Cut,
  kNvlink5,
  kPcie3,
  kPcie4,
  kPcie5,
  kNetwork100,
  kNetwork200,
  kNetwork400,
};

constexpr Nanoseconds kNear = 10'000;
constexpr Nanoseconds kFar = 20'000;
constexpr std::string_view kSheet = "the GPU's data sheet; share: medium confidence";
constexpr std::string_view kBus = "the bus's standard, 16 lanes; share: low confidence";
constexpr std::string_view kCard =
    "one card a GPU, as the GPU's reference machines have; low confidence";

/// In the order of Row.
constexpr std::array<Link, 13> kLinks{{
    {"NVLink 1", 80'000'000'000, 800, kNear, kSheet},
    {"NVLink 2", 150'000'000'000, 800, kNear, kSheet},
    {"NVLink 3", 300'000'000'000, 800, kNear, kSheet},
    {"NVLink 3, 400 GB/s", 200'000'000'000, 800, kNear, kSheet},
    {"NVLink 4", 450'000'000'000, 800, kNear, kSheet},
    {"NVLink 4, 400 GB/s", 200'000'000'000, 800, kNear, kSheet},
    {"NVLink 5", 900'000'000'000, 800, kNear, kSheet},
    {"PCIe 3", 15'750'000'000, 700, kNear, kBus},
    {"PCIe 4", 31'500'000'000, 700, kNear, kBus},
    {"PCIe 5", 63'000'000'000, 700, kNear, kBus},
    {"InfiniBand, 100 Gb/s", 12'500'000'000, 900, kFar, kCard},
    {"InfiniBand, 200 Gb/s", 25'000'000'000, 900, kFar, kCard},
    {"InfiniBand, 400 Gb/s", 50'000'000'000, 900, kFar, kCard},
}};

bool has_nvlink(const DeviceSpec& device) {
  constexpr std::array<std::string_view, 6> kAlways{"b200",  "b300",  "gb200",
                                                    "gb300", "gh200", "h20-"};
  return device.id.find("sxm") != std::string::npos ||
         std::ranges::any_of(kAlways,
                             [&](std::string_view name) { return device.id.starts_with(name); });
}

Row inside_of(const DeviceSpec& device) {
  const int capability = device.compute_capability;
  if (has_nvlink(device)) {
    const bool is_cut = device.id.starts_with("a800") || device.id.starts_with("h800");
    if (capability >= 100) return kNvlink5;
    if (capability >= 90) return is_cut ? kNvlink4Cut : kNvlink4;
    if (capability >= 80) return is_cut ? kNvlink3Cut : kNvlink3;
    return capability >= 70 ? kNvlink2 : kNvlink1;
  }
  if (capability >= 90) return kPcie5;
  return capability >= 80 ? kPcie4 : kPcie3;
}

Row between_of(const DeviceSpec& device) {
  if (!has_nvlink(device) || device.compute_capability < 80) return kNetwork100;
  return device.compute_capability >= 90 ? kNetwork400 : kNetwork200;
}

}  // namespace

std::span<const Link> known_links() { return kLinks; }

Links links_of(const DeviceSpec& device) {
  return {kLinks[inside_of(device)], kLinks[between_of(device)]};
}

Nanoseconds transfer_ns(const Links& links, const Spread& spread, Traversal traversal,
                        std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint64_t>(std::max(spread.ranks, 1));
  const auto machines = static_cast<std::uint64_t>(std::max(spread.machines, 1));
  if (ranks < 2) return 0;
  std::uint64_t sent = bytes;
  if (traversal != Traversal::kOnce) sent = bytes / ranks * (ranks - 1);
  if (traversal == Traversal::kTwice) sent *= 2;
  std::uint64_t rate = links.inside.reached();
  Nanoseconds latency = links.inside.latency_ns;
  if (machines > 1) {
    rate = std::min(rate, links.between.reached() * std::max<std::uint64_t>(ranks / machines, 1));
    latency = links.between.latency_ns;
  }
  return latency + (sent == 0 ? 0 : duration_at_rate(sent, rate));
}

}  // namespace tidemark
