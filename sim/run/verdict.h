#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/run/run_result.h"

namespace tidemark {

/// How a run ended, as to its memory.
enum class Ending : std::uint8_t {
  kFits,         ///< every request was served
  kHandled,      ///< requests were refused, and the program went on
  kOutOfMemory,  ///< a refused request ended it
};
/// "FITS.", "OUT OF MEMORY, HANDLED.", "DOES NOT FIT.": what every command says first.
std::string_view ending_text(Ending ending);
/// "fits", "handled", "out_of_memory".
std::string_view ending_name(Ending ending);

/// What a run, played to its end, came to over all of its GPUs. Every command's verdict is this
/// one.
struct Verdict {
  Ending ending = Ending::kFits;
  /// The GPU that decides: the one that refused last, else the one with the least to spare.
  std::size_t device = 0;
  std::uint64_t refused = 0;  ///< requests, of all GPUs
  Bytes peak_allocated = 0;   ///< of the GPU with the most, as the next
  Bytes peak_reserved = 0;
  Bytes spare = 0;           ///< of the GPU with the least, at its highest
  std::int64_t retries = 0;  ///< of all GPUs
  [[nodiscard]] bool fits() const { return ending == Ending::kFits; }
};
/// Requires: at least one device.
Verdict verdict_of(const RunResult& result);

}  // namespace tidemark
