#include "sim/alloc/stats.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark {
namespace {

using Flat = std::vector<std::pair<std::string, std::int64_t>>;

void add(Flat& flat, const std::string& name, const Stat& stat) {
  flat.emplace_back(name + ".current", stat.current);
  flat.emplace_back(name + ".peak", stat.peak);
  flat.emplace_back(name + ".allocated", stat.allocated);
  flat.emplace_back(name + ".freed", stat.freed);
}

void add(Flat& flat, const std::string& name, const StatArray& array) {
  add(flat, name + ".all", array.all);
  add(flat, name + ".small_pool", array.small_pool);
  add(flat, name + ".large_pool", array.large_pool);
}

}  // namespace

Flat flatten(const AllocatorStatistics& statistics, Version version) {
  Flat flat;
  add(flat, "allocation", statistics.allocation);
  add(flat, "segment", statistics.segment);
  add(flat, "active", statistics.active);
  add(flat, "inactive_split", statistics.inactive_split);
  add(flat, "allocated_bytes", statistics.allocated_bytes);
  add(flat, "reserved_bytes", statistics.reserved_bytes);
  add(flat, "active_bytes", statistics.active_bytes);
  add(flat, "inactive_split_bytes", statistics.inactive_split_bytes);
  add(flat, "requested_bytes", statistics.requested_bytes);
  add(flat, "oversize_allocations", statistics.oversize_allocations);
  add(flat, "oversize_segments", statistics.oversize_segments);
  flat.emplace_back("num_alloc_retries", statistics.num_alloc_retries);
  flat.emplace_back("num_ooms", statistics.num_ooms);
  flat.emplace_back("num_sync_all_streams", statistics.num_sync_all_streams);
  flat.emplace_back("num_device_alloc", statistics.num_device_alloc);
  flat.emplace_back("num_device_free", statistics.num_device_free);
  flat.emplace_back("max_split_size", statistics.max_split_size);
  if (version >= Version{2, 12})
    flat.emplace_back("num_oom_rejections", statistics.num_oom_rejections);
  if (version >= Version{2, 13}) {
    for (const auto& [key, array] : statistics.reserved_bytes_by_private_pools) {
      add(flat, fmt::format("reserved_bytes_by_private_pools.{}_{}", key.capture, key.user), array);
    }
  }
  std::sort(flat.begin(), flat.end());
  return flat;
}

}  // namespace tidemark
