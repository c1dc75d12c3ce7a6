#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/format/json_writer.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// What a device's key-value cache takes, in bytes asked for. A step is a call of the model: of
/// generation one token of each sequence.
struct KvCache {
  Bytes peak = 0;  ///< the highest at any event
  /// What it grew by over `steps` steps in a row, each of which made it grow; both 0 where none
  /// did.
  Bytes growth = 0;
  std::uint64_t steps = 0;
  bool has_steps = false;  ///< there are steps to tell by
  [[nodiscard]] Bytes bytes_per_step() const {
    return steps == 0 ? 0 : (growth + steps / 2) / steps;
  }
};
/// std::nullopt: the program keeps none, or events were not kept. Cost: linear.
std::optional<KvCache> kv_cache_of(const DeviceResult& device, const Program& program);

/// "KV cache: 12.5 MiB at its highest; each step, a call of the model, adds 128 KiB (131,072
/// bytes)". Empty where there is none.
std::string kv_cache_line(const DeviceResult& device, const Program& program, std::size_t width);
/// The member `kv_cache` (docs/formats/json.md); nothing where there is none.
void write_kv_cache(JsonWriter& json, const DeviceResult& device, const Program& program);

}  // namespace tidemark
