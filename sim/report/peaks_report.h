#pragma once

#include <string>

#include "sim/format/json_writer.h"
#include "sim/report/text.h"
#include "sim/study/explain/explanation.h"

namespace tidemark {

/// Of several GPUs a line each, and which of them is explained; of one: empty.
std::string devices_text(const Explanation& explanation);
/// The peaks of allocated and of reserved, each with its moment and holders; which requests made
/// reserved grow, and what would have helped there.
std::string peaks_text(const PeakPictures& peaks, const TextStyle& style);
/// Writes the members "devices" and "peaks", the second null where a moment was asked for.
void write_peaks(const Explanation& explanation, JsonWriter& json);

}  // namespace tidemark
