#include "sim/study/replay/recorded_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/device/device.h"
#include "sim/format/snapshot_program.h"
#include "sim/study/replay/recording_range.h"

namespace tidemark {

namespace {

std::vector<std::string> caveats(const SnapshotProgram& program, bool other_device) {
  std::vector<std::string> notes;
  if (program.warm) {
    notes.emplace_back(
        "the recording began with a filled cache; every row begins with its live blocks alone, as "
        "after empty_cache()");
  }
  if (program.reclaims > 0) {
    notes.push_back(fmt::format("{} requests made the allocator give cached memory back; {}",
                                program.reclaims,
                                other_device ? "here the device given decides when that happens"
                                             : "every row repeats that where it was recorded"));
  }
  if (program.late_frees > 0) {
    notes.emplace_back(
        "frees that waited for another stream complete where they did in the recording");
  }
  if (program.capacity_bytes > 0 && !other_device) {
    notes.push_back(
        fmt::format("the device holds {} bytes for PyTorch, as at the recorded out-of-memory error",
                    program.capacity_bytes));
  }
  return notes;
}

}  // namespace

RecordedRequests recorded_requests(const Snapshot& snapshot, const AgreementOptions& range,
                                   bool other_device) {
  RecordedRequests recorded;
  recorded.agreement = agreement_with_recording(snapshot, range);
  SnapshotProgramOptions options;
  options.device = range.device;
  options.from_event = range.from_event;
  options.to_event = range.to_event;
  options.repeat_reclaims = !other_device;
  options.keep_origins = false;
  SnapshotProgram program = make_snapshot_program(snapshot, options);
  recorded.notes = caveats(program, other_device);
  recorded.limited = other_device || program.capacity_bytes != 0;
  recorded.device = load_device("h100").spec;
  recorded.device.context_bytes = 0;
  recorded.device.name =
      program.capacity_bytes == 0 ? "a device with room for all" : "the recorded device";
  recorded.device.total_bytes =
      roomy_capacity(program, recorded.agreement.recorded.peak_reserved_bytes);
  recorded.trace = {std::move(program.instructions), std::move(program.program.labels)};
  return recorded;
}

void note_other_rows(RecordedRequests& recorded) {
  recorded.notes.emplace_back(
      "rows play the recorded requests; a program that reads its memory figures or handles "
      "out-of-memory errors, and libraries that choose workspaces by what is free (cuDNN), may ask "
      "for other things under another setting");
  if (recorded.agreement.recorded.ooms > 0) {
    recorded.notes.emplace_back(
        recorded.agreement.goes_on_after_oom
            ? "after the recorded out-of-memory error every row goes on as the program did; "
              "served, it had gone another way"
            : "the recording ends at its out-of-memory error: a setting that serves every "
              "recorded request need not serve what the program would have asked for next");
  }
}

std::vector<std::string> confs_beside(const AllocatorSettings& recorded,
                                      std::vector<std::string> confs, bool grid) {
  if (grid) {
    const std::vector<std::string> more = settings_grid(recorded.version);
    confs.insert(confs.end(), more.begin(), more.end());
  }
  std::erase(confs, recorded.text);
  confs.insert(confs.begin(), recorded.text);
  return confs;
}

void rank_replays(std::span<ReplayResult> results) {
  std::ranges::stable_sort(results, {}, [](const ReplayResult& result) {
    return std::tuple(result.summary.ooms, result.summary.peak_reserved,
                      result.summary.device_calls);
  });
}

}  // namespace tidemark
