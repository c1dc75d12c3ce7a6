#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "sim/base/bytes.h"

namespace tidemark {

/// A PyTorch release, as far as the allocator's behaviour tells releases apart. Range: 2.4 to 2.15.
struct Version {
  std::uint8_t major = 2;
  std::uint8_t minor = 11;
  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};
inline constexpr Version kDefaultVersion{2, 11};
inline constexpr Version kOldestVersion{2, 4};
inline constexpr Version kNewestVersion{2, 15};

/// Sizes that no setting changes. Source: caching-allocator.md, 1.
inline constexpr Bytes kMinBlockBytes = 512;
inline constexpr Bytes kSmallMaxBytes = kMiB;  ///< largest rounded request of a small pool
inline constexpr Bytes kSmallSegmentBytes =
    2 * kMiB;                                       ///< a small pool's segment, its expandable page
inline constexpr Bytes kLargeMinBytes = 10 * kMiB;  ///< from here a segment is sized to its request
inline constexpr Bytes kLargeRoundBytes = 2 * kMiB;  ///< to a multiple of this
inline constexpr Bytes kDefaultLargeSegmentBytes = 20 * kMiB;
inline constexpr Bytes kHugeRequestBytes = Bytes{1}
                                           << 60;  ///< from here a request is refused unseen
inline constexpr Bytes kUnlimitedBytes = ~Bytes{0};

enum class Backend : std::uint8_t {
  kNative,
  kCudaMallocAsync,
  kNaive,  ///< one device call a tensor: not PyTorch's, a bound to compare with
  kIdeal,  ///< live bytes alone: the bound that fragmentation is measured against
};

/// How much address space one expandable range reserves. Source: caching-allocator.md, 12.1.
struct ExpandableReserve {
  enum class Kind : std::uint8_t { kFull, kFraction, kBytes };
  Kind kind = Kind::kFull;  ///< kFull: 9/8 of the device's total
  double fraction = 0;      ///< of the device's total, > 0
  Bytes bytes = 0;
  friend bool operator==(const ExpandableReserve&, const ExpandableReserve&) = default;
};

/// What PYTORCH_ALLOC_CONF says, understood; the defaults are those of an empty text. Plain data:
/// the parser (settings_parser.h) checks ranges, the allocator reads. Source: caching-allocator.md,
/// 1, 3.2 and 16.3.
struct AllocatorSettings {
  Version version = kDefaultVersion;
  Backend backend = Backend::kNative;
  Bytes large_segment_bytes = kDefaultLargeSegmentBytes;  ///< whole MiB, > 10 MiB
  Bytes max_split_bytes = kUnlimitedBytes;
  Bytes max_non_split_rounding_bytes = kDefaultLargeSegmentBytes;
  /// Divisions by bucket; bucket i holds sizes from 2^(20+i), bucket 0 all below too, bucket 15 all
  /// above. 0: off; else a power of two.
  std::array<std::uint32_t, 16> roundup_power2_divisions{};
  double garbage_collection_threshold = 0;  ///< in (0, 1); 0: off
  bool expandable_segments = false;
  ExpandableReserve expandable_segments_reserve;
  double per_process_memory_fraction = 1;  ///< in [0, 1]; applied when the allocator is created
  bool throw_on_cudamalloc_oom = false;
  bool graph_capture_record_stream_reuse = false;
  bool release_lock_on_cudamalloc = false;
  /// Pinned host memory: no effect on the device, kept for the settings that a snapshot repeats.
  bool pinned_use_cuda_host_register = false;
  std::uint32_t pinned_num_register_threads = 1;
  std::string text;  ///< as it was given
  friend bool operator==(const AllocatorSettings&, const AllocatorSettings&) = default;
};

}  // namespace tidemark
