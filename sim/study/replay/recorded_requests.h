#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/format/request_trace.h"
#include "sim/format/snapshot.h"
#include "sim/study/replay/agreement.h"
#include "sim/study/replay/replay.h"

namespace tidemark {

/// What a recorded run asked for, ready to be played under other settings.
struct RecordedRequests {
  PackedTrace trace;    ///< of device 0, whichever it was
  Agreement agreement;  ///< of the recording with its re-simulation
  /// Holds what the recorded one held for PyTorch, or room for any setting; else as an H100.
  DeviceSpec device;
  bool limited = false;            ///< the device played on can be full
  std::vector<std::string> notes;  ///< what the rows of other settings do not know
};

/// The requests of `range`. `other_device`: they are to be played on another one than the recorded,
/// which gives its cached memory back when it has to and not when the recorded one did. Errors: as
/// agreement_with_recording.
RecordedRequests recorded_requests(const Snapshot& snapshot, const AgreementOptions& range,
                                   bool other_device);

/// Adds what no row but the recording's own can know.
void note_other_rows(RecordedRequests& recorded);

/// The texts of the settings to play: the recording's own first, then `confs`, then with `grid`
/// settings_grid(); the recording's once.
std::vector<std::string> confs_beside(const AllocatorSettings& recorded,
                                      std::vector<std::string> confs, bool grid);

/// Fewest refusals first, then least memory, then fewest calls to the driver; equals keep their
/// order.
void rank_replays(std::span<ReplayResult> results);

}  // namespace tidemark
