#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/alloc/caching_allocator.h"
#include "sim/alloc/settings_parser.h"
#include "sim/base/random.h"
#include "sim/format/json_reader.h"
#include "sim/format/request_trace.h"
#include "sim/format/whole_file.h"

namespace tidemark {
namespace {

struct Workload {
  std::string name;
  AllocatorSettings settings;
  DeviceMemory::Config device{.total_bytes = 85017755648, .context_bytes = 553648128};
  std::vector<Instruction> instructions;
  std::size_t warm = 0;  ///< so many instructions come before what is timed

  [[nodiscard]] std::int64_t requests() const {
    return std::count_if(instructions.begin() + static_cast<std::ptrdiff_t>(warm),
                         instructions.end(), [](const Instruction& each) {
                           return each.verb == Verb::kAlloc || each.verb == Verb::kFree;
                         });
  }
};

Workload read_workload(const std::string& folder) {
  Workload workload;
  const JsonValue config = read_json(read_whole_file(folder + "/config.json"), "config.json");
  workload.name = std::filesystem::path(folder).filename().string();
  workload.settings = parse_settings("conf", config.find("conf")->text, Version{2, 11}).settings;
  workload.device.total_bytes = config.find("device_total_bytes")->unsigned_integer;
  workload.device.context_bytes = config.find("context_bytes")->unsigned_integer;
  workload.instructions = read_request_trace_file(folder + "/requests.tmt.gz").instructions;
  return workload;
}

/// `live` blocks, then one freed and one asked for, over and over: sizes log-uniform from 512 bytes
/// to 512 KiB.
Workload steady_workload(std::size_t live) {
  Workload workload;
  workload.name = fmt::format("steady-{}", live);
  workload.device = {.total_bytes = Bytes{1} << 42U, .context_bytes = 0};
  Random random(live);
  const auto size = [&random] {
    const std::uint64_t octave = 9 + random.below(10);
    return (Bytes{1} << octave) + random.below(Bytes{1} << octave);
  };
  std::vector<RequestId> ids(live);
  RequestId next = 0;
  for (RequestId& id : ids) {
    id = next++;
    workload.instructions.push_back({.bytes = size(), .id = id, .verb = Verb::kAlloc});
  }
  const auto turn = [&](std::size_t times) {
    for (std::size_t at = 0; at < times; ++at) {
      RequestId& id = ids[random.below(live)];
      workload.instructions.push_back({.id = id, .verb = Verb::kFree});
      id = next++;
      workload.instructions.push_back({.bytes = size(), .id = id, .verb = Verb::kAlloc});
    }
  };
  turn(2 * live);
  workload.warm = workload.instructions.size();
  turn(200'000);
  return workload;
}

void run(benchmark::State& state, const Workload& workload, bool with_history) {
  History history;
  history.events.reserve(2 * workload.instructions.size() + 1024);
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    {
      DeviceMemory device(workload.device);
      TraceClock clock;
      CachingAllocator allocator(workload.settings, device, clock);
      std::span<const Instruction> rest(workload.instructions);
      const auto warm = rest.first(workload.warm);
      for (std::size_t done = 0; done < warm.size();) done += allocator.execute(warm.subspan(done));
      rest = rest.subspan(workload.warm);
      history.events.clear();
      if (with_history) allocator.set_history(&history);
      state.ResumeTiming();
      while (!rest.empty()) rest = rest.subspan(allocator.execute(rest));
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * workload.requests());
}

void add(Workload workload) {
  const auto shared = std::make_shared<const Workload>(std::move(workload));
  for (const bool history : {false, true}) {
    benchmark::RegisterBenchmark(
        (shared->name + (history ? "/history" : "/plain")).c_str(),
        [shared, history](benchmark::State& state) { run(state, *shared, history); })
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const char* const named = std::getenv("TIDEMARK_SHARED");
  const std::string shared =
      (named != nullptr ? named : std::string(TIDEMARK_SOURCE_DIR) + "/../shared") +
      "/goldens/allocator/";
  const std::string own =
      std::string(TIDEMARK_SOURCE_DIR) + "/tests/golden/allocator/pytorch-2.11/";
  if (std::filesystem::is_directory(shared)) {
    for (const char* name : {"large-train", "large-mixture", "large-kvcache-expandable"}) {
      tidemark::add(tidemark::read_workload(shared + name));
    }
  } else {
    fmt::print(stderr,
               "the large goldens are not on this machine (TIDEMARK_SHARED); small ones instead\n");
    for (const char* name : {"train-default", "uniform-small", "expandable-kvcache"}) {
      tidemark::add(tidemark::read_workload(own + name));
    }
  }
  for (const std::size_t live : {1000U, 10000U, 100000U, 1000000U})
    tidemark::add(tidemark::steady_workload(live));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
