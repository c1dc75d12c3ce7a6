#include "sim/report/kv_cache.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/report/text.h"
#include "sim/timeline/timeline.h"

namespace tidemark {
namespace {

/// Where a step without gradients begins: its first event, by step.
std::vector<std::uint32_t> step_begins(const DeviceResult& device) {
  std::vector<std::uint32_t> begins;
  std::string_view last;
  for (const PhaseResult& phase : device.phases) {
    const PhaseName name = split_phase_name(phase.name);
    if (name.phase != "inference" || name.step == last) continue;
    last = name.step;
    begins.push_back(phase.first_event);
  }
  return begins;
}

}  // namespace

std::optional<KvCache> kv_cache_of(const DeviceResult& device, const Program& program) {
  if (std::ranges::find(program.categories, Category::kKvCache) == program.categories.end())
    return std::nullopt;
  const std::vector<std::uint32_t> begins = step_begins(device);
  KvCache cache;
  cache.has_steps = begins.size() > 2;
  Bytes now = 0;
  std::vector<Bytes> at_begin;  // what the steps before left
  at_begin.reserve(begins.size());
  for (std::size_t i = 0; i < device.events.size(); ++i) {
    while (at_begin.size() < begins.size() && begins[at_begin.size()] <= i) at_begin.push_back(now);
    const Event& event = device.events[i];
    const bool is_cache =
        event.id < program.categories.size() && program.categories[event.id] == Category::kKvCache;
    if (!is_cache) continue;
    if (event.action == Action::kAlloc) now += event.bytes;
    if (event.action == Action::kFreeRequested) now -= std::min(now, event.bytes);
    cache.peak = std::max(cache.peak, now);
  }
  if (cache.peak == 0) return std::nullopt;
  // The longest stretch of steps that each add to what is there.
  std::size_t first = 0;
  for (std::size_t i = 1; i < at_begin.size(); ++i) {
    if (at_begin[i - 1] == 0 || at_begin[i] <= at_begin[i - 1]) first = i;
    if (i - first < cache.steps || i == first) continue;
    cache.steps = i - first;
    cache.growth = at_begin[i] - at_begin[first];
  }
  return cache;
}

std::string kv_cache_line(const DeviceResult& device, const Program& program, std::size_t width) {
  const std::optional<KvCache> cache = kv_cache_of(device, program);
  if (!cache) return {};
  const std::string growth =
      !cache->has_steps ? std::string()
      : cache->steps == 0
          ? std::string("; the steps do not make it grow")
          : fmt::format("; each step, a call of the model, adds {} ({} bytes)",
                        human_bytes(cache->bytes_per_step()), grouped(cache->bytes_per_step()));
  return wrapped(fmt::format("KV cache: {} at its highest{}", human_bytes(cache->peak), growth),
                 width, 0);
}

void write_kv_cache(JsonWriter& json, const DeviceResult& device, const Program& program) {
  const std::optional<KvCache> cache = kv_cache_of(device, program);
  if (!cache) return;
  json.key("kv_cache").begin_object(true);
  json.member("peak_bytes", cache->peak).member("bytes_per_step", cache->bytes_per_step());
  json.member("growing_steps", cache->steps).end_object();
}

}  // namespace tidemark
