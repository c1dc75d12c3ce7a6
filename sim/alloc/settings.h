#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/base/release.h"

namespace tidemark {

struct KnobValues;

enum class Backend : std::uint8_t {
  kNative,
  kCudaMallocAsync,
  kNaive,  ///< one device call a tensor: not PyTorch's, a bound to compare with
  kIdeal,  ///< live bytes alone: the bound that fragmentation is measured against
};

/// The values of an empty PYTORCH_ALLOC_CONF; the same object at every call.
const std::shared_ptr<const KnobValues>& default_knobs();

/// What PYTORCH_ALLOC_CONF says to one release, understood (settings_parser.h). Plain data that
/// runs and reports carry along: what each setting is worth stands in knob_values.h, which only
/// those include who look at one, so that a new setting concerns nobody else.
struct AllocatorSettings {
  Version version = kDefaultWheel.pytorch;
  Backend backend = Backend::kNative;
  std::string text;  ///< as it was given
  /// Shared by the copies; never null.
  std::shared_ptr<const KnobValues> knobs = default_knobs();
  friend bool operator==(const AllocatorSettings& a, const AllocatorSettings& b);
};

}  // namespace tidemark
