#include "sim/study/explain/explanation.h"

#include "sim/study/replay/agreement.h"

namespace tidemark {

Explanation explain(const Snapshot& snapshot, const ExplanationOptions& options) {
  Explanation out;
  out.device = options.device;
  out.devices = devices_of(snapshot);
  AgreementOptions range;
  range.device = options.device;
  const Version version = agreement_with_recording(snapshot, range).settings.version;
  out.picture = picture_named(snapshot, options.device, options.at, version, options.capacity);
  if (options.at.empty()) out.peaks = peaks_of(snapshot, options.device, version);
  if (!out.picture.oom) return out;
  if (options.program != nullptr) {
    out.end = program_end(*options.program);
    return out;
  }
  out.request = request_remedies(snapshot, options.device, out.picture, version);
  return out;
}

}  // namespace tidemark
