#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/alloc/settings.h"
#include "sim/base/bytes.h"
#include "sim/format/snapshot.h"
#include "sim/study/replay/purpose.h"

namespace tidemark {

struct MemoryPicture;

/// What one call site holds.
struct CallSite {
  std::string maker;
  Purpose purpose = Purpose::kUnknown;
  Bytes bytes = 0;
  std::size_t blocks = 0;
};

/// Why a request was refused. With the figures that prove it in OomAnswer.
enum class OomClass : std::uint8_t {
  kTooMuchLive,    ///< live bytes and the request exceed the device: no allocator setting helps
  kFragmentation,  ///< enough is free inside the cache, but in no one piece that could serve or be
                   ///< given back
  kRounding,       ///< the blocks' rounding and unsplit rests take what was missing
};
struct OomAnswer {
  std::size_t event = 0;
  OomClass why = OomClass::kTooMuchLive;
  Bytes rounded_bytes = 0;   ///< of the request
  Bytes capacity_bytes = 0;  ///< what PyTorch could get in all
  Bytes live_bytes = 0;      ///< requested by the owners of live blocks
  Bytes cached_free_bytes = 0;
  Bytes largest_free_bytes = 0;
  bool recording_ends = false;  ///< nothing is asked for after it
};

/// What would have served one refused request, whatever the program asks for after it. Each was
/// tried by re-simulation, those that cost least first.
struct RequestRemedies {
  std::size_t settings_tried = 0;
  std::optional<std::string> helps;  ///< the first setting of the grid under which it is served
  /// The call site that holds least of those whose blocks, freed before, avoid it.
  std::optional<CallSite> release;
  /// The least further device memory (in 2 MiB) that serves it under the same setting.
  Bytes more_bytes = 0;
};

/// The refused request at which `picture` was taken. Requires: the picture's event is an oom of the
/// device.
OomAnswer oom_answer(const Snapshot& snapshot, std::uint8_t device, const MemoryPicture& picture);

/// Of a recording, which knows no more of the program. Requires: the picture has `oom`. Errors: as
/// recorded_settings. Cost: some hundred re-simulations of what came before at most.
RequestRemedies request_remedies(const Snapshot& snapshot, std::uint8_t device,
                                 const MemoryPicture& picture, Version version);

}  // namespace tidemark
