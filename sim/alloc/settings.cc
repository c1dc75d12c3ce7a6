#include "sim/alloc/settings.h"

#include "sim/alloc/knob_values.h"

namespace tidemark {

const std::shared_ptr<const KnobValues>& default_knobs() {
  static const auto kValues = std::make_shared<const KnobValues>();
  return kValues;
}

bool operator==(const AllocatorSettings& a, const AllocatorSettings& b) {
  return a.version == b.version && a.backend == b.backend && a.text == b.text &&
         *a.knobs == *b.knobs;
}

}  // namespace tidemark
