#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/study/explain/memory_explain.h"
#include "sim/study/explain/program_end.h"
#include "sim/study/explain/reserved_story.h"
#include "sim/study/replay/recording_range.h"

namespace tidemark {

/// What is told of one GPU of a run, recorded or simulated.
struct Explanation {
  std::uint8_t device = 0;
  std::vector<RecordedDevice> devices;  ///< all that the run used
  MemoryPicture picture;
  /// At a refused request of a recording, which ends where it ends.
  std::optional<RequestRemedies> request;
  /// At a refused request of a program that can be played to its end.
  std::optional<ProgramEnd> end;
  std::optional<PeakPictures> peaks;  ///< where no moment was asked for
};

struct ExplanationOptions {
  std::uint8_t device = 0;
  /// As picture_moment() has it; empty: the first refusal where there is one, else the peak of
  /// reserved bytes, and both peaks beside it.
  std::string_view at;
  std::optional<Bytes> capacity;            ///< what PyTorch can get of the device
  const ScenarioSource* program = nullptr;  ///< whose run `snapshot` is; null: a recording
};

/// Errors: as picture_named(), program_end().
Explanation explain(const Snapshot& snapshot, const ExplanationOptions& options);

}  // namespace tidemark
