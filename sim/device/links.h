#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/device_spec.h"
#include "sim/base/sim_time.h"

namespace tidemark {

/// What carries the bytes of GPUs that speak to each other. An estimate: published rates, of which
/// a share is reached.
struct Link {
  std::string_view name;          ///< "NVLink 4"
  std::uint64_t bytes_per_s = 0;  ///< published, of one GPU in one direction
  std::uint32_t share = 0;        ///< thousandths of it that transfers reach
  Nanoseconds latency_ns = 0;     ///< of the shortest transfer
  std::string_view basis;         ///< where the figures are from, and how sure they are
  /// What transfers reach.
  [[nodiscard]] std::uint64_t reached() const { return bytes_per_s / 1000 * share; }
};

/// Between the GPUs of one machine, and between machines: one network card a GPU.
struct Links {
  Link inside;
  Link between;
};
Links links_of(const DeviceSpec& device);

/// All that are known. Documented in docs/ranks.md.
std::span<const Link> known_links();

/// How ranks lie over machines: those of one machine, and machines.
struct Spread {
  int ranks = 1;
  int machines = 1;
};

/// How many bytes each GPU sends for `bytes` of a collective or a transfer of two.
enum class Traversal : std::uint8_t {
  kOnce,    ///< all of them: a transfer of two, a broadcast, a reduction to one
  kShared,  ///< (n - 1) / n: all_gather and reduce_scatter of the whole, all_to_all
  kTwice,   ///< 2 (n - 1) / n: all_reduce, by a ring
};

/// The time of one transfer once all are there. A collective over machines goes at the slower of
/// the link within them and of their network cards together.
Nanoseconds transfer_ns(const Links& links, const Spread& spread, Traversal traversal,
                        std::uint64_t bytes);

}  // namespace tidemark
