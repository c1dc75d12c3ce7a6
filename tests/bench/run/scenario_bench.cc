#include <benchmark/benchmark.h>

#include <string>

#include "sim/run/run.h"

// Whole scenarios: read, run, every event kept. Start-up of the program is not in it.

namespace tidemark {
namespace {

void run_scenario(benchmark::State& state, const std::string& name) {
  const std::string path =
      std::string(TIDEMARK_SOURCE_DIR) + "/configs/scenarios/" + name + ".yaml";
  std::size_t events = 0;
  for (auto _ : state) {
    const RunResult result = run(load_scenario(path));
    events = result.devices.front().events.size();
    benchmark::DoNotOptimize(result.instructions);
  }
  state.counters["events"] = static_cast<double>(events);
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(run_scenario, simple_conv, std::string("simple_conv"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_scenario, gpt2, std::string("gpt2"))->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tidemark

BENCHMARK_MAIN();
