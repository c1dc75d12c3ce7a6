#pragma once

#include <array>
#include <cstdint>

#include "sim/alloc/sizes.h"

namespace tidemark {

/// How much address space one expandable range reserves. Source: docs/rules/allocator.md#12.1.
struct ExpandableReserve {
  enum class Kind : std::uint8_t { kFull, kFraction, kBytes };
  Kind kind = Kind::kFull;  ///< kFull: 9/8 of the device's total
  double fraction = 0;      ///< of the device's total, > 0
  Bytes bytes = 0;
  friend bool operator==(const ExpandableReserve&, const ExpandableReserve&) = default;
};

/// The values of the settings that PYTORCH_ALLOC_CONF may name, one field each; the defaults are
/// those of an empty text. Plain data: the parser (knobs.cc) checks ranges, the allocator reads.
/// Source: docs/rules/allocator.md#1, docs/rules/allocator.md#3.2, docs/rules/settings.md#3.
struct KnobValues {
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
  friend bool operator==(const KnobValues&, const KnobValues&) = default;
};

}  // namespace tidemark
