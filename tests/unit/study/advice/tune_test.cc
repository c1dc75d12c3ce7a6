#include "sim/study/advice/tune.h"
#include "sim/alloc/knob_values.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/alloc/settings_parser.h"
#include "sim/run/run.h"
#include "sim/study/advice/orders.h"

using namespace tidemark;

namespace {

ScenarioSource scenario(std::string text) {
  return {std::make_shared<const SourceText>(SourceText{"case.yaml", std::move(text)}),
          "configs/scenarios",
          {},
          {}};
}

/// Lengths that differ from step to step, on a network whose memory goes with them.
ScenarioSource lengths(std::string_view list, std::string_view more = {}) {
  return scenario(
      fmt::format("schema_version: 1\ndevice: rtx-3060\n{}layers: [Linear(512, 2048), ReLU(), "
                  "Linear(2048, 512)]\ntrain: {{batch: 8, seq: {}, input: [seq, 512], target: "
                  "input, loss: mse_loss, optimizer: SGD(lr=0.1)}}\n",
                  more, list));
}

constexpr std::string_view kLengths = "[300, 40, 900, 120, 650, 333, 1200, 80]";

std::vector<std::string> order_names(const ScenarioSource& source, unsigned shuffles = 2) {
  std::vector<std::string> names;
  for (const StepOrder& order : step_orders(source, shuffles)) names.push_back(order.name);
  return names;
}

/// Waves of requests that leave holes.
std::vector<Instruction> waves() {
  std::vector<Instruction> trace;
  const auto add = [&](Verb verb, RequestId id, Bytes bytes) {
    Instruction instruction;
    instruction.verb = verb;
    instruction.id = id;
    instruction.bytes = bytes;
    trace.push_back(instruction);
  };
  RequestId next = 0;
  for (Bytes wave = 1; wave <= 8; ++wave) {
    const RequestId first = next;
    for (Bytes i = 1; i <= 12; ++i) add(Verb::kAlloc, next++, wave * i * 700'000);
    for (RequestId id = first; id < next; ++id) add(Verb::kFree, id, 0);
  }
  return trace;
}

}  // namespace

TEST_CASE("Steps that differ come in other orders, always the same") {
  const std::vector<StepOrder> orders = step_orders(lengths(kLengths), 3);
  REQUIRE(orders.size() == 6);
  CHECK(orders[0].overrides.empty());
  CHECK(orders[1].name == "smallest first");
  CHECK(orders[1].overrides ==
        std::vector<Override>{{"train.seq", "[40, 80, 120, 300, 333, 650, 900, 1200]"}});
  CHECK(orders[2].overrides ==
        std::vector<Override>{{"train.seq", "[1200, 900, 650, 333, 300, 120, 80, 40]"}});
  CHECK(orders[3].overrides != orders[4].overrides);
  CHECK(step_orders(lengths(kLengths), 3)[5].overrides == orders[5].overrides);
}

TEST_CASE("Orders that do the same are left out, and so are lists of equal steps") {
  CHECK(order_names(lengths("[1, 2, 3]"), 0) ==
        std::vector<std::string>{"as given", "largest first"});
  CHECK(order_names(lengths("[5, 5, 5]")) == std::vector<std::string>{"as given"});
  CHECK(order_names(lengths("128")) == std::vector<std::string>{"as given"});
}

TEST_CASE("Lists of one length change places together, by the product of their numbers") {
  const ScenarioSource source = scenario(
      "schema_version: 1\ndevice: t4\nparams: {few: 2}\nlayers: [Linear(4, 4)]\ntrain: {batch: [8, "
      "few, 3], seq: [1, 9, 2], input: [seq, 4], target: input, loss: mse_loss}\n");
  // Sizes 8, 18 and 6.
  CHECK(step_orders(source, 0)[1].overrides ==
        std::vector<Override>{{"train.batch", "[3, 8, few]"}, {"train.seq", "[2, 1, 9]"}});
}

TEST_CASE("A list that a loop goes through is found, in its text or among the parameters") {
  const std::string head = "schema_version: 1\ndevice: t4\n";
  const ScenarioSource spelled =
      scenario(head +
               "loop: |\n  sizes = [3, 1,\n           2]\n  widths = [4, 5, 6]\n  for n in sizes:\n"
               "      x = torch.zeros(n, device=\"cuda\")\n");
  const std::vector<StepOrder> orders = step_orders(spelled, 0);
  REQUIRE(orders.size() == 3);
  const Scenario sorted = read_scenario(overridden(spelled, orders[1].overrides));
  CHECK(sorted.loop->text.starts_with("sizes = [1, 2, 3]\nwidths = [4, 5, 6]\n"));
  CHECK(step_orders(scenario(head + "params: {sizes: [3, 1, 2]}\nloop: |\n  for i, n in "
                                    "enumerate(sizes):\n      x = n\n"),
                    0)[1]
            .overrides == std::vector<Override>{{"params.sizes", "[1, 2, 3]"}});
}

TEST_CASE("The best setting needs least in the worst order, and run() says the same of it") {
  const ScenarioSource source = lengths(kLengths);
  const TuneWorkload workload = tune_workload(source, 2);
  const TuneResult result = tune(workload);
  REQUIRE(result.orders.size() == 5);
  const TunedSetting& best = result.settings[result.best];
  const TunedSetting& given = result.settings[result.given];
  CHECK(given.settings.text.empty());
  CHECK(best.worst_reserved() < given.worst_reserved());
  CHECK(best.worst_reserved() >= result.least);
  CHECK(best.worst_reserved() <=
        result.settings.front().worst_reserved() + result.settings.front().worst_reserved() / 100);
  const std::vector<StepOrder> orders = step_orders(source, 2);
  for (const TunedSetting* row : {&best, &given}) {
    for (std::size_t i = 0; i < orders.size(); ++i) {
      Scenario scenario = read_scenario(overridden(source, orders[i].overrides));
      scenario.settings = row->settings;
      const RunResult run = tidemark::run(scenario);
      CHECK(run.devices.front().peak_reserved.bytes == row->by_order[i].peak_reserved);
      CHECK(run.devices.front().device_calls == row->by_order[i].device_calls);
    }
  }
}

TEST_CASE("Every setting's row is what a replay says; the same whatever the threads") {
  const std::vector<Instruction> trace = waves();
  ReplayOptions options;
  options.device.total_bytes = 4 * kGiB;
  const TuneWorkload workload = tune_workload(trace, {}, options);
  const TuneResult one = tune(workload, 1);
  const TuneResult three = tune(workload, 3);
  REQUIRE(one.settings.size() == three.settings.size());
  CHECK(one.best == three.best);
  CHECK(one.tried == three.tried);
  CHECK(one.tried > one.settings.size());
  for (std::size_t i = 0; i < one.settings.size(); ++i) {
    CHECK(one.settings[i].settings.text == three.settings[i].settings.text);
    const ReplaySummary summary = replay(trace, one.settings[i].settings, options).summary;
    CHECK(summary.peak_reserved == one.settings[i].by_order.front().peak_reserved);
    CHECK(summary.device_calls == one.settings[i].by_order.front().device_calls);
  }
  for (std::size_t i = 1; i < one.settings.size(); ++i) {
    CHECK(one.settings[i - 1].worst_reserved() <= one.settings[i].worst_reserved());
  }
  CHECK(one.least == replay(trace, {}, options).summary.peak_live);
}

TEST_CASE("Keys that are not searched stay, those of another release are left alone") {
  ReplayOptions options;
  options.device.total_bytes = 4 * kGiB;
  const std::vector<Instruction> trace = waves();
  const AllocatorSettings given =
      parse_settings("conf", "pinned_num_register_threads:4,max_split_size_mb:100", Version{2, 6})
          .settings;
  const TuneResult result = tune(tune_workload(trace, given, options));
  for (const TunedSetting& row : result.settings) {
    CHECK(row.settings.text.find("pinned_num_register_threads:4") != std::string::npos);
    CHECK(row.settings.text.find("large_segment_size_mb") == std::string::npos);
  }
  CHECK(result.settings[result.given].settings.text == given.text);
  CHECK(result.settings[result.given].keys == 1);
  CHECK(environment_line(given) ==
        "PYTORCH_CUDA_ALLOC_CONF=pinned_num_register_threads:4,max_split_size_mb:100\n");
  CHECK(environment_line({}) == "PYTORCH_ALLOC_CONF=\n");
}

TEST_CASE("Garbage collection is tried only where there is a limit that it heeds") {
  ReplayOptions options;
  options.device.total_bytes = 4 * kGiB;
  const std::vector<Instruction> trace = waves();
  const auto has_collection = [&] {
    const TuneResult result = tune(tune_workload(trace, {}, options));
    return std::any_of(result.settings.begin(), result.settings.end(), [](const auto& row) {
      return row.settings.knobs->garbage_collection_threshold > 0;
    });
  };
  CHECK_FALSE(has_collection());
  options.memory_fraction = 0.2;
  CHECK(has_collection());
}

TEST_CASE("Code that asks for its memory, and several streams, are played by whole runs") {
  const ScenarioSource source = scenario(
      "schema_version: 1\ndevice: t4\nloop: |\n  for n in [3, 1, 2]:\n      x = torch.zeros(n * "
      "3000000, device=\"cuda\")\n      if torch.cuda.memory_reserved() < 30000000:\n          y = "
      "torch.zeros(5000000, device=\"cuda\")\n");
  const TuneWorkload workload = tune_workload(source, 1);
  REQUIRE(workload.orders.size() == 1);
  const AllocatorSettings settings =
      parse_settings("conf", "expandable_segments:True", Version{2, 11}).settings;
  Scenario changed = read_scenario(source);
  changed.settings = settings;
  CHECK(workload.orders.front().play(settings).peak_reserved ==
        run(changed).devices.front().peak_reserved.bytes);
}

TEST_CASE("A backend of another kind has nothing to tune") {
  const ScenarioSource source = lengths("128", "allocator: {backend: cudaMallocAsync}\n");
  CHECK_THROWS_WITH(tune_workload(source, 0),
                    Catch::Contains("allocator.backend: only PyTorch's own caching allocator"));
}
