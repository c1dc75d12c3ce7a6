#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alloc/settings.h"
#include "sim/format/snapshot.h"

namespace tidemark {

/// Where the steps of a recording begin.
struct RecordingSteps {
  std::vector<std::size_t> first_events{0};  ///< ascending; the last step may be empty
  std::string_view told_by;   ///< what they were told by, in a few words; empty: there is one step
  bool last_is_whole = true;  ///< false: what follows the last end that was told
};

/// Steps are told by the first of these that the recording has:
///   annotations "ProfilerStep#N" (torch.profiler), where they begin;
///   the events' user_metadata, where the number at its end changes ("forward 3": of `run
///   --snapshot`, or set by the program);
///   annotations "Optimizer.step...", where they end;
///   stacks: the first request of forward, backward or the inputs after those of an optimizer.
RecordingSteps recording_steps(const Snapshot& snapshot, std::uint8_t device);

/// A moment of a recording, given in words, as the index of the first event from then on:
///   "1234" or "event:1234"  an event of the device's trace, from 0
///   "step:3"                where step 3 of recording_steps() begins, counted from 0
///   "time:1.5s", "time:20ms", "time:300us"  since the first event
///   "mark:TEXT"             where the first annotation begins whose name holds TEXT
/// Errors: InputError naming `option` when the text is none of these or the recording has no such
/// moment (or, before PyTorch 2.3, no times).
std::size_t recording_moment(const Snapshot& snapshot, std::uint8_t device, std::string_view option,
                             std::string_view text);

/// The step in which an event lies. `steps`: RecordingSteps::first_events.
std::size_t step_of(const std::vector<std::size_t>& steps, std::size_t event);

/// What one GPU of a recording came to, told from the recording alone.
struct RecordedDevice {
  std::uint8_t device = 0;
  std::size_t events = 0;
  std::size_t ooms = 0;
  Bytes peak_reserved_bytes = 0;
};
/// Those that recorded events, in order.
std::vector<RecordedDevice> devices_of(const Snapshot& snapshot);
/// The one that decides: with a refused request, the first such; else the one that reserved most.
/// 0 where none recorded.
std::uint8_t worst_device(const Snapshot& snapshot);

/// Settings worth trying on any program, the default first; those that `version` does not know are
/// left out.
std::vector<std::string> settings_grid(Version version);

}  // namespace tidemark
