#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/alloc/segments.h"

namespace tidemark {

/// Statistics as torch.cuda.memory_stats() flattens them (sim/alloc/stats.h, flatten):
/// docs/formats/stats.md.
using FlatStatistics = std::vector<std::pair<std::string, std::int64_t>>;

/// Appends a JSON object, one key a line, in the order given.
void write_stats_json(const FlatStatistics& statistics, std::string& out);
/// Errors: InputError when it is no JSON object of integers. `name` is for messages.
FlatStatistics read_stats_json(std::string_view text, std::string_view name);

/// Appends a JSON array, one segment a line: docs/formats/segments.md. Byte for byte what Python's
/// json.dumps gives for the `segments` of a snapshot without their frames.
void write_segments_json(std::span<const SegmentInfo> segments, std::string& out);
/// Block ids are not in the file: kNoRequest. Errors: InputError when a key is missing or of the
/// wrong kind.
std::vector<SegmentInfo> read_segments_json(std::string_view text, std::string_view name);

}  // namespace tidemark
