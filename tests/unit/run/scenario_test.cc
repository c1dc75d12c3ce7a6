#include "sim/run/scenario.h"
#include "sim/alloc/knob_values.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"
#include "sim/run/scenario_fields.h"
#include "sim/run/train_reader.h"

namespace tidemark {
namespace {

Scenario parse(const std::string& text, const std::vector<std::string>& sets = {}) {
  std::vector<Override> overrides;
  for (const std::string& set : sets) overrides.push_back(parse_override(set));
  return parse_scenario(std::make_shared<const SourceText>(SourceText{"s.yaml", text}),
                        TIDEMARK_SOURCE_DIR "/configs", overrides);
}

std::string problems_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  try {
    parse(text, sets);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

constexpr const char* kHead =
    "schema_version: 1\ndevice: h100\nlayers: [Linear(784, 512), ReLU()]\n";
const std::string kPlain = std::string(kHead) + "train: {batch: 64, input: [784], target: []}\n";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a scenario is read whole") {
  const Scenario scenario = parse(R"yaml(schema_version: 1
name: first
notes: what it is for
device: {name: a100-80gb, total: 24GiB, other: 1GiB}
pytorch: "2.6"
allocator: {conf: "max_split_size_mb:64", memory_fraction: 0.5, event_policy: lag:3}
backends: {cudnn_sdp: false, cudnn: benchmark, flash: false}
params: {width: 512, batch_size: 32, act: relu}
model:
  code: |
    class Net(nn.Module):
        pass
  class: Net
  args: {hidden: width, activation: act, inplace: false}
train: {steps: 2, batch: batch_size, input: [3, 32, 32], target: [], loss: mse_loss,
        optimizer: "SGD(lr=0.1, momentum=0.9)", zero_grad: end, empty_cache: each_step, oom: next}
)yaml");
  CHECK(scenario.name == "first");
  CHECK(scenario.notes == "what it is for");
  CHECK(scenario.device.id == "a100-sxm-80gb");
  CHECK(scenario.device.total_bytes == 24 * kGiB);
  CHECK(scenario.device.context_bytes == 432 * kMiB);
  CHECK(scenario.other_bytes == kGiB);
  CHECK(scenario.settings.version == Version{2, 6});
  CHECK(scenario.settings.knobs->max_split_bytes == 64 * kMiB);
  CHECK(scenario.memory_fraction == 0.5);
  CHECK(scenario.policy == EventPolicy{EventPolicy::Kind::kLag, 3});
  CHECK_FALSE(scenario.backends.cudnn_sdp);
  CHECK_FALSE(scenario.backends.flash_sdp);
  CHECK(scenario.backends.cudnn_benchmark);
  CHECK(scenario.backends.math_sdp);
  REQUIRE(scenario.params.size() == 3);
  CHECK(scenario.params[2] == Parameter{"act", "\"relu\"", std::nullopt});
  REQUIRE(scenario.model.source != nullptr);
  CHECK(scenario.model.source->first_line == 11);
  CHECK(scenario.model.source->indent == 4);
  CHECK(scenario.model.expression == "Net(hidden=width, activation=act, inplace=False)");
  REQUIRE(scenario.train);
  CHECK(scenario.train->steps == "2");
  CHECK(scenario.train->batch.values == std::vector<std::string>{"batch_size"});
  CHECK(scenario.train->inputs.at(0).host == "torch.zeros(batch, 3, 32, 32)");
  CHECK(scenario.train->target->host == "torch.zeros(batch, dtype=torch.long)");
  CHECK(scenario.train->loss == "F.mse_loss");
  CHECK(scenario.train->optimizer == "torch.optim.SGD");
  CHECK(scenario.train->optimizer_arguments == "lr=0.1, momentum=0.9");
  CHECK(scenario.train->zero_grad_at == TrainSpec::ZeroGradAt::kEnd);
  CHECK(scenario.train->empty_cache);
  CHECK(scenario.train->on_oom == TrainSpec::OnOom::kNext);
  CHECK(scenario.model.setup == nullptr);
  REQUIRE(scenario.loop != nullptr);
  CHECK(scenario.loop->name == "s.yaml (train)");
  CHECK(scenario.loop->text == train_to_loop(*scenario.train, scenario.model.expression));
}

TEST_CASE("ranks are machines full of processes, and one of them is run") {
  CHECK_FALSE(parse(kPlain).rank);
  const Scenario alone = parse(kPlain + "ranks: {world: 4}\n");
  CHECK(alone.rank == Rank{0, 4, 4});
  CHECK(alone.device_count == 4);
  CHECK(alone.policy == *parse_event_policy("ready"));
  const Scenario second = parse(kPlain + "ranks: {world: 32, rank: 13}\n");
  CHECK(second.rank == Rank{13, 32, 8});
  CHECK(second.rank->local() == 5);
  CHECK(second.rank->node() == 1);
  CHECK(second.device_count == 8);
  CHECK(
      parse(kPlain + "ranks: {world: 4, per_node: 2}\nallocator: {event_policy: sync}\n").policy ==
      *parse_event_policy("sync"));
  CHECK(has(problems_of(kPlain + "ranks: {world: 12}\n"), "12 ranks are no whole number"));
  CHECK(has(problems_of(kPlain + "ranks: {world: 4, rank: 4}\n"), "the ranks of 4 end at 3"));
  CHECK(has(problems_of(kPlain + "ranks: {rank: 1}\n"), "world"));
  CHECK(has(problems_of(kPlain + "ranks: {world: 4}\ndevice_count: 2\n"),
            "cannot stand beside ranks"));
}

TEST_CASE("a list of layers and a loop of one's own") {
  const Scenario scenario =
      parse(std::string(kHead) + "loop: |\n  for step in range(3):\n      pass\n");
  CHECK(scenario.model.expression == "nn.Sequential(nn.Linear(784, 512), nn.ReLU())");
  CHECK(scenario.model.source == nullptr);
  REQUIRE(scenario.model.setup != nullptr);
  CHECK(scenario.model.setup->text == model_prologue(scenario.model.expression));
  CHECK(scenario.loop->text == "for step in range(3):\n    pass\n");
  CHECK(scenario.loop->first_line == 5);
  CHECK(scenario.loop->indent == 2);
}

TEST_CASE("a variant's overrides are put in by its name") {
  const auto text = std::make_shared<SourceText>(SourceText{
      "s.yaml",
      "schema_version: 1\ndevice: h100\nparams: {n: 1}\nloop: pass\nvariants:\n  two: {n: 2}\n"
      "  small: {device: t4, widht: 3}\n"});
  CHECK(parse_scenario(text, ".").params.at(0).value == "1");
  CHECK(parse_scenario(text, ".", {}, "two").params.at(0).value == "2");
  CHECK(parse_scenario(text, ".", {{"n", "5"}}, "two").params.at(0).value == "5");
  const auto message = [&](const std::string& variant) -> std::string {
    try {
      parse_scenario(text, ".", {}, variant);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(has(message("twoo"), "--variant twoo: there is no such variant; did you mean 'two'?"));
  CHECK(has(message("small"), "s.yaml:7:"));
  CHECK(has(message("small"), "variants.small.widht: leads nowhere: there is no 'widht'"));
}

TEST_CASE("the ways to say what a batch is") {
  const auto train = [](const std::string& keys) {
    return *parse(std::string(kHead) + "params: {b: 4}\ntrain: {" + keys + "}\n").train;
  };
  TrainSpec spec = train(
      "batch: 8, seq: [64, 32], inputs: [{shape: [seq], dtype: long}, \"torch.ones(batch, seq)\"], "
      "target: [seq]");
  CHECK(spec.steps == "2");
  CHECK(spec.inputs.at(0) == BatchTensor{"torch.zeros(batch, seq, dtype=torch.long)", false, 2});
  CHECK(spec.inputs.at(1) == BatchTensor{"torch.ones(batch, seq)", std::nullopt, std::nullopt});
  CHECK(spec.target->host == "torch.zeros(batch, seq, dtype=torch.long)");
  spec = train(
      "batch: [b, 8], input: {shape: [b, 3], dtype: float16}, target: input, optimizer: {class: "
      "Mine, args: {lr: 1e-2}}");
  CHECK(spec.inputs.at(0) == BatchTensor{"torch.zeros(batch, b, 3, dtype=torch.float16)", true, 3});
  CHECK(spec.target == spec.inputs.at(0));
  CHECK(spec.batch.values == std::vector<std::string>{"b", "8"});
  CHECK(spec.optimizer == "Mine");
  CHECK(spec.optimizer_arguments == "lr=1e-2");
  spec = train("data: \"host_batch(4)\", loss: my.loss, no_grad: true");
  CHECK(spec.data == "host_batch(4)");
  CHECK(spec.loss == "my.loss");
  CHECK_FALSE(spec.training_mode);
  spec = train("batch: 1, input: [1], no_grad: true, mode: train, precision: amp-bf16");
  CHECK(spec.training_mode);
  CHECK(spec.precision == TrainSpec::Precision::kAmpBf16);
  CHECK_FALSE(spec.target);
  spec = train("batch: 1, input: [1], target: [], loss: \"F.mse_loss(out.view(-1), y)\"");
  CHECK(spec.loss_is_expression);
}

TEST_CASE("readers ask for every key of their tables") {
  const auto head = std::string(kHead);
  struct Place {
    const yaml::Map& map;
    std::vector<std::string> texts;  // one of which asks for a key that stands for KEY
  };
  const std::vector<Place> places{
      {kScenarioMap, {"KEY: null\n"}},
      {kDeviceMap, {"schema_version: 1\ndevice: {name: t4, KEY: null}\n"}},
      {kAllocatorMap, {head + "allocator: {KEY: null}\n"}},
      {kBackendsMap, {head + "backends: {KEY: null}\n"}},
      {kModelMap, {"schema_version: 1\ndevice: t4\nmodel: {code: 'x', class: A, KEY: null}\n"}},
      {kTrainMap, {head + "train: {KEY: null}\n"}},
      {kTensorMap, {head + "train: {input: {KEY: null}}\n"}},
      {kOptimizerMap, {head + "train: {optimizer: {KEY: null}}\n"}},
      {kDdpMap, {head + "train: {ddp: {KEY: null}}\n"}},
      {kOpMap, {head + "ops: {f: {KEY: null}}\n"}},
      {kOpStepMap,
       {head + "ops: {f: {args: x, returns: y, forward: [{y: {shape: x, KEY: null}}]}}\n",
        head + "ops: {f: {args: x, returns: y, forward: [{y: {bytes: x, KEY: null}}]}}\n"}}};
  for (const Place& place : places) {
    for (const std::string_view key : place.map.keys()) {
      bool is_known = false;
      for (std::string text : place.texts) {
        text.replace(text.find("KEY"), 3, key);
        const std::string problems = problems_of(text);
        is_known = is_known || !has(problems, "unknown key");
      }
      CAPTURE(place.texts.front(), std::string(key));
      CHECK(is_known);
    }
  }
}

TEST_CASE(
    "values from the command line reach parameters, keys by path, and keys of train by name") {
  const std::string text =
      "schema_version: 1\ndevice: h100\nparams: {width: 512}\nlayers: [Linear(8, 8)]\n"
      "train: {batch: [64, 8], input: [width], target: []}\n";
  CHECK(parse(text, {"width=16"}).params.at(0).value == "16");
  CHECK(parse(text, {"params.width=16"}).params.at(0).integer == 16);
  CHECK(parse(text, {"train.batch[1]=9"}).train->batch.values ==
        std::vector<std::string>{"64", "9"});
  CHECK(parse(text, {"batch=9"}).train->batch.values == std::vector<std::string>{"9"});
  CHECK(parse(text, {"batch=[1, 2, 3]"}).train->steps == "3");
  CHECK(parse(text, {"train.precision=bf16"}).train->precision == TrainSpec::Precision::kBf16);
  CHECK(parse(text, {"allocator.conf=max_split_size_mb:32"}).settings.knobs->max_split_bytes ==
        32 * kMiB);
  CHECK(parse(text, {"device=t4"}).device.id == "t4");
  const Scenario scaled = parse(text, {"device.total=24GiB"});
  CHECK(scaled.device.id == "h100-sxm-80gb");
  CHECK(scaled.device.total_bytes == 24 * kGiB);
}

TEST_CASE("a path that leads nowhere is told with what is near") {
  CHECK(problems_of(kPlain, {"bacth=3"}) ==
        "error: --set bacth: leads nowhere: there is no 'bacth'; did you mean 'batch'?\n");
  CHECK(problems_of(kPlain, {"train.batch[2]=3"}) ==
        "error: --set train.batch[2]: leads nowhere: [2] of '64'\n");
  CHECK(problems_of(kPlain, {"train.input[2]=3"}) ==
        "error: --set train.input[2]: leads nowhere: the list has 1 values\n");
  CHECK(problems_of(kPlain, {"train..x=3"}) == "error: --set train..x: is no path\n");
  CHECK(problems_of(kPlain, {"train.batch.x=3"}) ==
        "error: --set train.batch.x: leads nowhere: 'x' of '64'\n");
  CHECK(problems_of(kPlain, {"train.stps=3"}) ==
        "--set train.stps:1:1: error: train: unknown key 'stps'; did you mean 'steps'?\n    3\n    "
        "^\n");
  CHECK(problems_of(kPlain, {"batch=lots"}) ==
        "--set batch:1:1: error: train.batch: expected an integer or a parameter, found 'lots'\n   "
        " lots\n    ^~~~\n");
  CHECK_THROWS_WITH(parse_override("batch"), "error: --set batch: expected PATH=VALUE\n");
}

TEST_CASE("a scenario says which PyTorch runs it: a release, or a release and its toolkit") {
  const auto wheel = [](const std::string& pytorch) {
    const auto text = std::make_shared<const SourceText>(
        SourceText{"s.yaml", "schema_version: 1\ndevice: t4\n" + pytorch + "loop: pass\n"});
    return parse_scenario(text, ".").wheel;
  };
  CHECK(wheel("") == pypi_wheel(kNewestVersion));
  CHECK(wheel("pytorch: \"2.10\"\n") == Wheel{{2, 10}, {12, 8}});
  CHECK(wheel("pytorch: {version: \"2.15\"}\n") == Wheel{{2, 15}, {13, 2}});
  CHECK(wheel("pytorch: {version: \"2.15\", cuda: \"12.8\"}\n") == Wheel{{2, 15}, {12, 8}});
  CHECK(problems_of("schema_version: 1\ndevice: t4\nloop: pass\n"
                    "pytorch: {version: \"2.15\", cuda: \"12.7\"}\n") ==
        "s.yaml:4:34: error: pytorch.cuda: expected the CUDA toolkit of a PyTorch wheel, found "
        "'12.7'; known are 11.8, 12.1, 12.4, 12.6, 12.8, 12.9, 13.0, 13.2\n"
        "    pytorch: {version: \"2.15\", cuda: \"12.7\"}\n"
        "                                     ^~~~~~\n");
}

TEST_CASE("a misspelt key is one problem: the key that it stands for is not missed as well") {
  CHECK(problems_of(
            "schema_version: 1\ndevise: t4\nmodel: {code: pass, class: M}\ntrian: {steps: 1}\n") ==
        "s.yaml:2:1: error: unknown key 'devise'; did you mean 'device'?\n"
        "    devise: t4\n    ^~~~~~\n"
        "s.yaml:4:1: error: unknown key 'trian'; did you mean 'train'?\n"
        "    trian: {steps: 1}\n    ^~~~~\n");
}

TEST_CASE("a model's file that is not there is told at its place, with what else is wrong") {
  const std::string told = problems_of(
      "schema_version: 1\ndevice: t4x\nmodel: {file: nowhere.py, class: M}\nloop: pass\n");
  const std::size_t device = told.find("s.yaml:2:9: error: device: unknown device 't4x'");
  const std::size_t file = told.find("s.yaml:3:15: error: model.file: ");
  CHECK(device == 0);
  CHECK(file != std::string::npos);
  CHECK(told.find("nowhere.py: No such file or directory; a path goes from the folder of the file "
                  "that names it\n",
                  file) != std::string::npos);
}

TEST_CASE("all that is wrong in a scenario is told at once, in the order of the file") {
  CHECK(problems_of(R"(schema_version: 2
devise: h100
device: h1000
pytorch: "1.0"
allocator: {backend: fast, event_policy: soon, memory_fraction: 2}
backends: {cudnn: fast, flsh: false}
params: {loss: 3, "a b": 4}
layers: [3 4]
train: {batch: 0, steps: 2, input: [many], target: []}
loop: x
)") == R"(s.yaml:1:17: error: schema_version: must lie between 1 and 1, found 2
    schema_version: 2
                    ^
s.yaml:2:1: error: unknown key 'devise'; did you mean 'device'?
    devise: h100
    ^~~~~~
s.yaml:3:9: error: device: unknown device 'h1000'; did you mean 'h100'?
    device: h1000
            ^~~~~
s.yaml:4:10: error: pytorch: expected a PyTorch release from 2.4 to 2.15, found '1.0'; the oldest that Tidemark knows is the nearest
    pytorch: "1.0"
             ^~~~~
s.yaml:5:65: error: allocator.memory_fraction: must lie between 0 and 1, found 2
    allocator: {backend: fast, event_policy: soon, memory_fraction: 2}
                                                                    ^
s.yaml:5:22: error: allocator.backend: expected one of native, cudaMallocAsync, naive, ideal, found 'fast'
    allocator: {backend: fast, event_policy: soon, memory_fraction: 2}
                         ^~~~
s.yaml:5:42: error: allocator.event_policy: expected sync, ready, lag:N or simulated, found 'soon'
    allocator: {backend: fast, event_policy: soon, memory_fraction: 2}
                                             ^~~~
s.yaml:6:19: error: backends.cudnn: expected true, false or benchmark, found 'fast'
    backends: {cudnn: fast, flsh: false}
                      ^~~~
s.yaml:6:25: error: backends: unknown key 'flsh'; did you mean 'flash'?
    backends: {cudnn: fast, flsh: false}
                            ^~~~
s.yaml:7:10: error: params: the name 'loss' has a meaning already
    params: {loss: 3, "a b": 4}
             ^~~~
s.yaml:7:19: error: params: 'a b' is no name; letters, digits and '_', no digit first
    params: {loss: 3, "a b": 4}
                      ^~~~~
s.yaml:8:12: error: layers[0]: expected the end of the expression, found a number
    3 4
      ^
s.yaml:9:16: error: train.batch: must be 1 or more, found 0
    train: {batch: 0, steps: 2, input: [many], target: []}
                   ^
s.yaml:9:37: error: train.input: expected an integer or a parameter, found 'many'
    train: {batch: 0, steps: 2, input: [many], target: []}
                                        ^~~~
s.yaml:10:7: error: loop: cannot stand beside train
    loop: x
          ^
)");
  const auto train = [](const std::string& keys) {
    std::string messages;
    try {
      parse(std::string(kHead) + "params: {wide: x}\ntrain: {batch: 1, " + keys + "}\n");
    } catch (const InputError& error) {
      for (const Problem& problem : error.problems()) {
        messages += fmt::format("{}: {}{}{}\n", problem.path, problem.message,
                                problem.hint.empty() ? "" : "; ", problem.hint);
      }
    }
    return messages;
  };
  CHECK(
      train("input: [1], target: [], optimizer: Adma(lr=1), zero_grad: never, accumulate: wide") ==
      "train.optimizer: unknown optimizer 'Adma'; did you mean 'Adam'?\n"
      "train.accumulate: expected an integer or a parameter, found 'wide', which is \"x\"\n"
      "train.zero_grad: expected one of start, before-backward, end, found 'never'\n");
  CHECK(train("input: [1], target: [], inputs: [], loss: f(") ==
        "train.inputs: cannot stand beside input\ntrain.loss: expected an expression, found the "
        "end of the text\n");
  CHECK(train("target: []") == "train: the batch is missing; give input, inputs or data\n");
  CHECK(train("input: [1], metric: device") ==
        "train: 'target' is missing\ntrain.metric: needs a target\n");
  CHECK(train("data: f(1), input: [1], loss: g(out)") ==
        "train.input: cannot stand beside data, which gives the whole batch\n"
        "train.loss: with data, give a function: the batch has no names\n");
  CHECK(train("input: [seq], target: [], image: [1, 2], steps: 3") ==
        "train.steps: is 3, but image has 2 values\ntrain.input: 'seq' needs train.seq\n");
  CHECK(train("input: {shape: [3], dtype: float23}, target: {dtype: long}") ==
        "train.input.dtype: expected one of float32, float, float64, double, float16, half, "
        "bfloat16, int64, long, int32, int, uint8, int8, bool, found 'float23'; did you mean "
        "'float32'?\ntrain.target: 'shape' is missing\n");
}

TEST_CASE("a loop shares its model among the ranks of the scenario") {
  const std::string begin =
      "schema_version: 1\ndevice: t4\nlayers: [Linear(8, 8)]\n"
      "train:\n  input: [8]\n  target: [8]\n  loss: mse_loss\n  batch: 2\n";
  const auto problem_of = [](const std::string& text) -> std::string {
    try {
      parse_scenario(std::make_shared<const SourceText>(SourceText{"s.yaml", text}), ".");
    } catch (const InputError& error) {
      return error.problems().front().path + ": " + error.problems().front().message;
    }
    return {};
  };
  const std::string ranks = "ranks: {world: 4}\n";
  CHECK(problem_of(ranks + begin + "  parallel: {replicate: 2, reshard: false}\n").empty());
  CHECK(problem_of(begin + "  parallel: {}\n") ==
        "train.parallel: shares a model among ranks, and there are none");
  CHECK(problem_of(ranks + begin + "  parallel: {tp: 2}\n") ==
        "train.parallel.plan: tp needs a plan");
  CHECK(problem_of(ranks + begin + "  parallel: {tp: 2, plan: {up: columns}}\n")
            .starts_with("train.parallel.plan.up: "));
  CHECK(problem_of(ranks + begin + "  accumulate: 2\n  parallel: {pp: 1}\n").empty());
  CHECK(problem_of(ranks + begin + "  accumulate: 2\n  parallel: {pp: 2}\n") ==
        "train.accumulate: cannot stand beside parallel.pp: microbatches are its accumulation");
  CHECK(problem_of(ranks + begin + "  parallel: {pp: 2, schedule: some}\n")
            .starts_with("train.parallel.schedule: "));
  CHECK(problem_of(ranks + begin + "  ddp: 4\n  parallel: {}\n") ==
        "train.parallel: cannot stand beside ddp");
  const Scenario shared = parse_scenario(
      std::make_shared<const SourceText>(
          SourceText{"s.yaml", ranks + begin + "  parallel: {offload: true, precision: bf16}\n"}),
      ".");
  CHECK(shared.rank_choice == RankChoice::kSome);
  const std::string& loop = shared.loop->text;
  CHECK(loop.find("offload_policy=CPUOffloadPolicy()") != std::string::npos);
  CHECK(loop.find("param_dtype=torch.bfloat16") != std::string::npos);
  CHECK(loop.find("model.to(\"cuda\")") == std::string::npos);
}

TEST_CASE("every scenario of configs is whole") {
  std::size_t scenarios = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(TIDEMARK_SOURCE_DIR "/configs/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const Scenario scenario = load_scenario(entry.path().string());
    CHECK_FALSE(scenario.name.empty());
    CHECK(scenario.loop != nullptr);
    ++scenarios;
  }
  CHECK(scenarios > 2);
}

TEST_CASE("every example of the scenarios' page is a whole scenario") {
  std::istringstream lines(read_whole_file(TIDEMARK_SOURCE_DIR "/docs/scenario.md"));
  std::string example;
  std::size_t examples = 0;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```yaml") {
      is_inside = true;
    } else if (is_inside && line == "```") {
      CAPTURE(example);
      const auto source = std::make_shared<const SourceText>(SourceText{"example.yaml", example});
      CHECK(parse_scenario(source, TIDEMARK_SOURCE_DIR "/configs/scenarios").loop != nullptr);
      ++examples;
      example.clear();
      is_inside = false;
    } else if (is_inside) {
      example += line + "\n";
    }
  }
  CHECK(examples == 9);
}

TEST_CASE("a file that cannot be read is named") {
  CHECK_THROWS_WITH(load_scenario("absent.yaml"), Catch::Contains("absent.yaml"));
  CHECK_THROWS_WITH(
      parse("schema_version: 1\ndevice: h100\nmodel: {file: absent.py, class: A}\nloop: x\n"),
      Catch::Contains("absent.py"));
}

TEST_CASE("what is missing is told") {
  CHECK(problems_of("name: x\n") ==
        "s.yaml:1:1: error: 'schema_version' is missing\n    name: x\n    ^\n"
        "s.yaml:1:1: error: 'device' is missing\n    name: x\n    ^\n"
        "s.yaml:1:1: error: 'model' is missing\n    name: x\n    ^\n"
        "s.yaml:1:1: error: the loop is missing; give train or loop\n    name: x\n    ^\n");
  CHECK(problems_of("") ==
        "s.yaml: error: 'schema_version' is missing\ns.yaml: error: 'device' is missing\n"
        "s.yaml: error: 'model' is missing\ns.yaml: error: the loop is missing; give train or "
        "loop\n");
  CHECK(problems_of("[1]\n") ==
        "s.yaml:1:1: error: expected a map, found a list\n    [1]\n    ^\n");
}

}  // namespace tidemark
