#include "sim/run/run_trace.h"

namespace tidemark {

RunResult run_trace(RequestTrace trace, const SimulatedDevice& device,
                    const SimulatorOptions& options) {
  Program program;
  program.labels = std::move(trace.labels);
  Simulator simulator(program, {device}, options);
  RecordedSource(std::move(trace.instructions)).run(program, simulator);
  RunResult result = simulator.finish();
  result.program = std::move(program);
  return result;
}

}  // namespace tidemark
