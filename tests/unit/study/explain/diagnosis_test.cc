#include "sim/study/explain/diagnosis.h"

#include <catch2/catch.hpp>

#include "sim/format/whole_file.h"
#include "sim/run/run.h"
#include "sim/study/advice/fit.h"

namespace tidemark {
namespace {

constexpr std::string_view kZoo = "model: {file: ../models/models.py, function: 'WORKLOADS[\"";

/// A model of the zoo trained by `train:`.
std::string trained(std::string_view device, std::string_view model, std::string_view args,
                    std::string_view train) {
  return fmt::format(
      "schema_version: 1\ndevice: {}\n{}{}\"].build', args: {{{}}}}}\ntrain: {{{}}}\n", device,
      kZoo, model, args, train);
}

constexpr std::string_view kImages =
    "input: [3, 224, 224], target: [], loss: cross_entropy, optimizer: Adam(lr=1e-3)";
constexpr std::string_view kWords =
    "inputs: [{shape: [256], dtype: long}], target: [256], loss: 'F.cross_entropy(out.view(-1, "
    "50304), y.view(-1))'";

/// A loop over batches of SimpleConv or ResNet-18 with lines of its own after the step.
std::string looped(std::string_view device, std::string_view model, int image, int batch, int steps,
                   bool trains, std::string_view first, std::string_view each) {
  std::string text = fmt::format(
      "schema_version: 1\ndevice: {}\n{}{}\"].build'}}\nparams: {{batch: {}}}\nloop: |\n", device,
      kZoo, model, batch);
  const auto line = [&](std::string_view one) { text += fmt::format("  {}\n", one); };
  if (trains) line("opt = torch.optim.Adam(model.parameters(), lr=1e-3)");
  if (!first.empty()) line(first);
  line(fmt::format("for i in range({}):", steps));
  line("    with phase(f\"inputs {i}\"):");
  line(fmt::format("        x = torch.zeros(batch, 3, {0}, {0}).to(\"cuda\")", image));
  line("        y = torch.zeros(batch, dtype=torch.long).to(\"cuda\")");
  line("    with phase(f\"forward {i}\"):");
  line("        out = model(x)");
  line("        loss = F.cross_entropy(out, y)");
  if (trains) {
    line("    with phase(f\"backward {i}\"):");
    line("        loss.backward()");
    line("    with phase(f\"optimizer {i}\"):");
    line("        opt.step()");
    line("        opt.zero_grad()");
  }
  if (!each.empty()) line(fmt::format("    {}", each));
  return text;
}

/// The scenario of 40 sequence lengths, one line of it changed.
std::string changed_text(std::string_view from, std::string_view to) {
  std::string text = read_whole_file("configs/scenarios/batch_order.yaml");
  return text.replace(text.find(from), from.size(), to);
}

struct Case {
  std::string name;
  std::string text;
  Fault fault = Fault::kHealthy;
  std::string_view remedy;  ///< the first of the smallest change; empty: none is asked for
};

Diagnosis diagnosis_of(const std::string& text) {
  const ScenarioSource source{std::make_shared<const SourceText>(SourceText{"case.yaml", text}),
                              "configs/scenarios",
                              {},
                              {}};
  return diagnose(source, run(read_scenario(source), {}));
}

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    INFO(one.name);
    const Diagnosis diagnosis = diagnosis_of(one.text);
    INFO(diagnosis.finding);
    CHECK(fault_title(diagnosis.fault) == fault_title(one.fault));
    if (one.fault == Fault::kHealthy) {
      CHECK(diagnosis.tried.empty());
      continue;
    }
    REQUIRE(diagnosis.smallest.has_value());
    const TriedRemedy& best = diagnosis.tried[*diagnosis.smallest];
    INFO(best.change.text);
    CHECK(best.undoes);
    if (!one.remedy.empty()) CHECK(best.remedies.front()->id == one.remedy);
  }
}

}  // namespace

TEST_CASE("Each row of the fault table is recognised, with a remedy that was run") {
  check({
      {"first forward, ResNet-152, batch 256",
       trained("rtx-3060", "resnet152", "", fmt::format("batch: 256, {}", kImages)),
       Fault::kActivations, ""},
      {"backward: the gradients of the logits come on top of all that forward saved",
       trained("rtx-3060", "gpt2", "layers: 2, d: 512, heads: 8",
               fmt::format("batch: 67, {}, optimizer: SGD(lr=0.1)", kWords)),
       Fault::kBackward, ""},
      {"over time: losses of validation, with their graphs",
       looped("rtx-3060", "resnet18", 224, 32, 24, false, "kept = []", "kept.append(loss)"),
       Fault::kGrowth, "keep-numbers"},
      {"over time: a loss that has been run backward keeps 512 bytes",
       looped("rtx-3060", "simple_conv", 32, 64, 12, true, "losses = []", "losses.append(loss)"),
       Fault::kGrowth, "keep-numbers"},
      {"after many epochs: outputs kept for a metric",
       looped("rtx-3060", "simple_conv", 32, 4096, 40, true, "preds = []", "preds.append(x)"),
       Fault::kGrowth, "keep-numbers"},
      {"inputs of all lengths: reserved far beyond what is allocated",
       changed_text("order: shuffled", "order: shortest_first"), Fault::kFragmentation,
       "expandable-segments"},
      {"inputs of all lengths on a smaller device: refused with room in the cache",
       changed_text("device: h100-sxm-80gb", "device: {name: h100-sxm-80gb, total: 14GiB}"),
       Fault::kFragmentation, "expandable-segments"},
  });
}

TEST_CASE("Faults of every class are told apart") {
  check({
      {"a model of 4.1 GB on a device of 2 GB",
       "schema_version: 1\ndevice: {name: rtx-3060, total: 2GiB}\nlayers: [Linear(32768, 32768)]\n"
       "train: {batch: 1, input: [32768], target: [], loss: cross_entropy}\n",
       Fault::kModel, ""},
      {"Adam's state on a wide network",
       "schema_version: 1\ndevice: {name: rtx-3060, total: 3GiB}\nlayers: [Linear(8192, 8192), "
       "Linear(8192, 8192), Linear(8192, 8192), Linear(8192, 10)]\n"
       "train: {batch: 8, input: [8192], target: [], loss: cross_entropy, optimizer: "
       "Adam(lr=1e-3)}\n",
       Fault::kOptimizer, ""},
      {"the foreach step's temporaries alone",
       "schema_version: 1\ndevice: {name: rtx-3060, total: 3900MiB}\nlayers: [Linear(8192, 8192), "
       "Linear(8192, 8192), Linear(8192, 8192), Linear(8192, 10)]\n"
       "train: {batch: 8, input: [8192], target: [], loss: cross_entropy, optimizer: "
       "Adam(lr=1e-3)}\n",
       Fault::kOptimizer, "fused-optimizer"},
      {"another process holds ten of twelve GB",
       fmt::format(
           "schema_version: 1\ndevice: {{name: rtx-3060, other: 10GiB}}\n{}resnet18\"].build'}}\n"
           "train: {{batch: 128, {}}}\n",
           kZoo, kImages),
       Fault::kOutside, "free-outside"},
      {"a limit of a tenth",
       fmt::format("schema_version: 1\ndevice: rtx-3060\nallocator: {{memory_fraction: 0.1}}\n{}"
                   "resnet18\"].build'}}\ntrain: {{batch: 128, {}}}\n",
                   kZoo, kImages),
       Fault::kOutside, "whole-device"},
      {"forward with gradients that nobody asked for",
       trained("rtx-3060", "resnet152", "", "batch: 256, input: [3, 224, 224], forward_only: true"),
       Fault::kActivations, "no-grad"},
      {"outputs kept with their graphs by a sum",
       looped("rtx-3060", "resnet18", 224, 32, 24, false, "total = 0.0", "total += loss"),
       Fault::kGrowth, "keep-numbers"},
  });
}

TEST_CASE("Healthy runs raise no alarm") {
  check({
      {"training", trained("rtx-3060", "resnet18", "", fmt::format("batch: 32, {}", kImages)),
       Fault::kHealthy, ""},
      {"many steps",
       trained("rtx-3060", "simple_conv", "",
               "steps: 40, batch: 64, input: [3, 32, 32], target: []"),
       Fault::kHealthy, ""},
      {"batches of all sizes",
       trained("rtx-3060", "simple_conv", "",
               "batch: [64, 8, 32, 4, 64, 9, 50, 16, 1, 64], input: [3, 32, 32], target: []"),
       Fault::kHealthy, ""},
      {"growing batches",
       trained("rtx-3060", "simple_conv", "",
               "batch: [1, 2, 4, 8, 16, 32, 64, 128], input: [3, 32, 32], target: []"),
       Fault::kHealthy, ""},
      {"accumulation",
       trained("rtx-3060", "resnet18", "",
               fmt::format("steps: 5, batch: 8, accumulate: 4, {}", kImages)),
       Fault::kHealthy, ""},
      {"validation",
       trained("rtx-3060", "resnet18", "",
               fmt::format("steps: 8, batch: 8, validate_every: 2, {}", kImages)),
       Fault::kHealthy, ""},
      {"gradients kept as zeros",
       trained("rtx-3060", "resnet18", "",
               fmt::format("steps: 8, batch: 8, set_to_none: false, {}", kImages)),
       Fault::kHealthy, ""},
      {"inference",
       trained("rtx-3060", "resnet50", "",
               "steps: 10, batch: 16, input: [3, 224, 224], no_grad: true"),
       Fault::kHealthy, ""},
      {"a running sum of numbers",
       looped("rtx-3060", "simple_conv", 32, 64, 12, true, "total = 0.0", "total += loss.item()"),
       Fault::kHealthy, ""},
      {"a running sum of detached losses",
       looped("rtx-3060", "simple_conv", 32, 64, 12, true, "total = 0.0", "total += loss.detach()"),
       Fault::kHealthy, ""},
      {"outputs kept on the host",
       looped("rtx-3060", "simple_conv", 32, 64, 12, true, "preds = []",
              "preds.append(out.detach().cpu())"),
       Fault::kHealthy, ""},
      {"a window of the last three",
       looped("rtx-3060", "simple_conv", 32, 64, 16, true, "last = []",
              "last = (last + [loss.detach()])[-3:]"),
       Fault::kHealthy, ""},
  });
}

TEST_CASE("A leak is told with its slope, its makers and the line that keeps it") {
  const Diagnosis diagnosis = diagnosis_of(
      looped("rtx-3060", "simple_conv", 32, 64, 12, true, "losses = []", "losses.append(loss)"));
  REQUIRE(diagnosis.growth);
  CHECK(diagnosis.growth->bytes_per_step == 512);  // one block of the least size a step
  // What lies beyond the run's end is said to be extrapolated.
  CHECK(diagnosis.finding.find(" Extrapolated at this rate, the device is full after some ") !=
        std::string::npos);
  REQUIRE_FALSE(diagnosis.growth->holders.empty());
  CHECK(diagnosis.growth->holders.front().maker == "nll_loss_forward");
  REQUIRE(diagnosis.smallest);
  CHECK(diagnosis.tried[*diagnosis.smallest].change.text ==
        "line 20: losses.append(loss)  ->  losses.append(loss.detach().cpu())");
}

TEST_CASE("The largest batch fits, the next does not, and holes below it are told") {
  const auto source = [](std::vector<Override> overrides) {
    return open_scenario("configs/scenarios/gpt2.yaml", std::move(overrides));
  };
  const FitOptions options{.over = "batch"};
  const FitResult result = fit(source({}), options);
  CHECK(result.path == "params.batch_size");
  REQUIRE(result.best);
  const auto fits = [&](std::int64_t batch) {
    return try_scenario(source({{"batch_size", std::to_string(batch)}})).fits();
  };
  CHECK(fits(*result.best));
  CHECK_FALSE(fits(*result.best + 1));
  for (const std::int64_t hole : result.holes) {
    CHECK(hole < *result.best);
    CHECK_FALSE(fits(hole));
  }
  CHECK_FALSE(result.holes.empty());  // two batches below fail where this one happens to fit
}

TEST_CASE("Headroom stays free") {
  const ScenarioSource source = open_scenario("configs/scenarios/gpt2.yaml", {{"device", "a10"}});
  FitOptions options{.over = "batch"};
  const FitResult all = fit(source, options);
  options.headroom_ppm = 100'000;
  const FitResult less = fit(source, options);
  REQUIRE(all.best);
  REQUIRE(less.best);
  CHECK(*less.best < *all.best);
  const Scenario scenario = read_scenario(source);
  for (const FitProbe& probe : less.probes) {
    if (probe.fits) CHECK(probe.spare * 10 >= scenario.device.total_bytes);
  }
}

TEST_CASE("What cannot be varied is refused by name") {
  const ScenarioSource source = open_scenario("configs/scenarios/gpt2.yaml", {});
  const auto message = [&](std::string over) {
    try {
      fit(source, {.over = std::move(over)});
    } catch (const InputError& error) {
      return render_problem(error.problems().front());
    }
    return std::string("accepted");
  };
  CHECK(message("batchsize") ==
        "error: --over batchsize: is no parameter with an integer value; did you mean "
        "'batch_size'?\n");
  const ScenarioSource small = open_scenario("configs/scenarios/simple_conv.yaml", {});
  try {
    fit(small, {.over = "batch"});
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(render_problem(error.problems().front()) ==
          "error: --over batch: the scenario gives one a step; set a single value\n");
  }
}

TEST_CASE("A change composes with those before it, and says how to make it") {
  const ScenarioSource source = open_scenario("configs/scenarios/gpt2.yaml", {});
  ScenarioSource now = source;
  std::string options;
  for (const std::string_view id : {"fused-optimizer", "micro-batch", "expandable-segments"}) {
    const Remedy* remedy = find_remedy(id);
    REQUIRE(remedy != nullptr);
    const auto change = remedy->change(now, read_scenario(now), 1);
    REQUIRE(change);
    options += change_options(*change) + "\n";
    now = changed(now, *change);
    if (remedy->levels == 1) CHECK_FALSE(remedy->change(now, read_scenario(now), 1));
  }
  CHECK(options ==
        "--set 'train.optimizer=\"AdamW(lr=1e-3, fused=True)\"'\n"
        "--set train.batch=4 --set train.accumulate=2\n"
        "--set 'allocator.conf=\"expandable_segments:True\"'\n");
  CHECK(try_scenario(now).fits());
  CHECK(find_remedy("no-such") == nullptr);
}

}  // namespace tidemark
