#include "sim/program/source.h"

namespace tidemark {

void RecordedSource::run(Program& /*program*/, Sink& sink) {
  std::span<const Instruction> rest(instructions_);
  while (!rest.empty()) {
    const Outcome outcome = sink.execute(rest);
    if (!outcome.failed_at) return;
    rest = rest.subspan(*outcome.failed_at + 1);
  }
}

}  // namespace tidemark
