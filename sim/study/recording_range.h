#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/format/snapshot.h"

namespace tidemark {

/// A moment of a recording, given in words, as the index of the first event from then on:
///   "1234" or "event:1234"  an event of the device's trace, from 0
///   "step:3"                where step 3 begins: after the third end of an annotation
///   "Optimizer.step..."; from 0 "time:1.5s", "time:20ms", "time:300us"  since the first event
///   "mark:TEXT"             where the first annotation begins whose name holds TEXT
/// Errors: InputError naming `option` when the text is none of these or the recording has no such
/// moment.
std::size_t recording_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view option,
                             std::string_view text);

/// First event of each step: 0, and where each annotation "Optimizer.step..." ends. The last may be
/// empty.
std::vector<std::size_t> recording_steps(const Snapshot& snapshot, std::uint8_t device);

/// Settings worth trying on any program, the default first; those that `version` does not know are
/// left out.
std::vector<std::string> settings_grid(Version version);

}  // namespace tidemark
