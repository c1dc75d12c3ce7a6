#include "sim/study/advice/advice.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/base/problem.h"
#include "sim/study/advice/fit.h"

using namespace tidemark;

namespace {

ScenarioSource scenario(std::string text, std::vector<Override> overrides = {}) {
  return {std::make_shared<const SourceText>(SourceText{"case.yaml", std::move(text)}),
          "configs/scenarios",
          std::move(overrides),
          {}};
}

ScenarioSource gpt2(std::vector<Override> overrides) {
  return open_scenario("configs/scenarios/gpt2.yaml", std::move(overrides));
}

/// A wide network trained with Adam, with `more` of the file and of train.
std::string wide(std::string_view more = {}, std::string_view train = {}) {
  return fmt::format(
      "schema_version: 1\ndevice: rtx-3060\nparams: {{width: 2048}}\n{}layers: [Linear(width, "
      "width), Linear(width, width), Linear(width, 10)]\ntrain: {{batch: 64, input: [width], "
      "target: [], loss: cross_entropy, optimizer: Adam(lr=1e-3){}}}\n",
      more, train);
}

const AdvisedChange* change_of(const std::vector<AdvisedChange>& changes, std::string_view id) {
  for (const AdvisedChange& change : changes) {
    if (change.remedies.size() == 1 && change.remedies.front()->id == id) return &change;
  }
  return nullptr;
}

/// Each change, made and run again, comes to what is told of it.
void check_again(const ScenarioSource& source, const std::vector<AdvisedChange>& changes) {
  for (const AdvisedChange& change : changes) {
    INFO(change.change.text);
    const Trial trial = try_scenario(changed(source, change.change), false, true);
    CHECK(trial.error.empty());
    CHECK(trial.peak_reserved == change.standing.peak_reserved);
    CHECK(trial.spare == change.standing.spare);
  }
}

}  // namespace

TEST_CASE("What does not fit gets what makes it fit, the cheapest first") {
  const ScenarioSource source = gpt2({{"batch_size", "128"}});
  const Advice advice = advise(source, {});
  CHECK_FALSE(advice.before.meets);
  CHECK(advice.before.need > advice.total);
  REQUIRE(advice.meeting.size() > 2);
  check_again(source, advice.meeting);
  for (std::size_t i = 0; i < advice.meeting.size(); ++i) {
    const AdvisedChange& change = advice.meeting[i];
    INFO(change.change.text);
    CHECK(change.standing.meets);
    CHECK(change.saved_bytes == static_cast<std::int64_t>(advice.before.need) -
                                    static_cast<std::int64_t>(change.standing.need));
    if (i > 0) CHECK(advice.meeting[i - 1].price <= change.price);
  }
  for (const AdvisedChange& change : advice.saving) {
    CHECK_FALSE(change.standing.meets);
    CHECK(change.saved_bytes > 0);
  }
  for (const AdvisedChange& change : advice.useless)
    CHECK((change.saved_bytes <= 0 || !change.standing.error.empty()));
}

TEST_CASE("A smaller batch is the largest that fits, a larger device the smallest") {
  const Advice advice = advise(gpt2({{"batch_size", "128"}}), {});
  const AdvisedChange* batch = change_of(advice.meeting, "smaller-batch");
  REQUIRE(batch != nullptr);
  const FitResult fitting = fit(gpt2({}), {.over = "batch"});
  REQUIRE(fitting.best);
  CHECK(batch->change.text == fmt::format("batch 128 -> {}", *fitting.best));
  const AdvisedChange* device = change_of(advice.meeting, "larger-device");
  REQUIRE(device != nullptr);
  CHECK(device->price == Price::kMachine);
  CHECK(advice.meeting.back().price == Price::kMachine);
}

TEST_CASE("Remedies that are not enough alone are put together, without what is not needed") {
  // 8190 halves once. 648 MiB are needed, 436 with half the batch, 520 under autocast, 414 with
  // both: as much as 498 MiB leave beside the context of 84.
  const ScenarioSource source = scenario(
      "schema_version: 1\ndevice: {name: rtx-3060, total: 498MiB}\npytorch: \"2.11\"\n"
      "params: {width: 2048}\nlayers: "
      "[Linear(width, width), ReLU(), Linear(width, width), ReLU(), Linear(width, width), ReLU(), "
      "Linear(width, 10)]\ntrain: {batch: 8190, input: [width], target: [], loss: cross_entropy, "
      "optimizer: Adam(lr=1e-3), set_to_none: false}\n");
  const Advice advice = advise(source, {.dearest = Price::kNumbers});
  CHECK_FALSE(advice.before.meets);
  CHECK(advice.before.need == 648 * kMiB);
  check_again(source, advice.meeting);
  const auto both =
      std::find_if(advice.meeting.begin(), advice.meeting.end(), [](const AdvisedChange& change) {
        return change.remedies.size() == 2 && change.remedies[0]->id == "micro-batch" &&
               change.remedies[1]->id == "autocast";
      });
  REQUIRE(both != advice.meeting.end());
  CHECK(both->price == Price::kNumbers);
  CHECK(both->standing.need == 414 * kMiB);
  CHECK(both->standing.spare == 0);
  const AdvisedChange* parts = change_of(advice.saving, "micro-batch");
  REQUIRE(parts != nullptr);
  CHECK(parts->standing.need == 436 * kMiB);
  const AdvisedChange* half = change_of(advice.saving, "autocast");
  REQUIRE(half != nullptr);
  CHECK(half->standing.need == 520 * kMiB);
  // None has a part that another of them does without.
  for (const AdvisedChange& change : advice.meeting) CHECK(change.remedies.size() <= 2);
}

TEST_CASE("Where it fits already remedies are ranked by price and what they save") {
  const ScenarioSource source = scenario(wide());
  const Advice advice = advise(source, {});
  CHECK(advice.before.meets);
  CHECK(advice.saving.empty());
  REQUIRE_FALSE(advice.meeting.empty());
  for (std::size_t i = 1; i < advice.meeting.size(); ++i) {
    const AdvisedChange& a = advice.meeting[i - 1];
    const AdvisedChange& b = advice.meeting[i];
    CHECK(std::pair(a.price, -a.saved_bytes) <= std::pair(b.price, -b.saved_bytes));
  }
  CHECK(change_of(advice.meeting, "fused-optimizer") != nullptr);
  CHECK(change_of(advice.meeting, "larger-device") == nullptr);
}

TEST_CASE("Headroom is a goal, and a price can be forbidden") {
  AdviceOptions options;
  options.headroom_ppm = 900'000;  // of 12 GiB: 1.2 may be taken
  const ScenarioSource source = scenario(wide(), {{"width", "6144"}});
  const Advice advice = advise(source, options);
  CHECK_FALSE(advice.before.meets);
  CHECK(advice.headroom == advice.total * 9 / 10);
  for (const AdvisedChange& change : advice.meeting) {
    if (change.price < Price::kMachine) CHECK(change.standing.spare >= advice.headroom);
  }
  options.dearest = Price::kNothing;
  const Advice free = advise(source, options);
  for (const auto* changes : {&free.meeting, &free.saving, &free.useless}) {
    for (const AdvisedChange& change : *changes) CHECK(change.price == Price::kNothing);
  }
}

TEST_CASE("Advice is the same whatever the number of threads") {
  const ScenarioSource source = gpt2({{"batch_size", "128"}, {"layers", "4"}, {"device", "a10"}});
  const Advice one = advise(source, {.over = "batch", .threads = 1});
  const Advice four = advise(source, {.over = "batch", .threads = 4});
  REQUIRE(one.meeting.size() == four.meeting.size());
  for (std::size_t i = 0; i < one.meeting.size(); ++i) {
    CHECK(one.meeting[i].change.text == four.meeting[i].change.text);
    CHECK(one.meeting[i].time_cost_ns == four.meeting[i].time_cost_ns);
    CHECK(one.meeting[i].reaches == four.meeting[i].reaches);
  }
}

TEST_CASE("Places that keep a tensor are mended together") {
  const std::string text =
      "schema_version: 1\ndevice: {name: rtx-3060, total: 1GiB}\nparams: {batch: 64}\n"
      "model: {file: ../models/simple_conv.py, class: SimpleConv, args: {image: 32}}\nloop: |\n"
      "  kept, more = [], []\n"
      "  for i in range(12):\n"
      "      with phase(f\"forward {i}\"):\n"
      "          x = torch.zeros(batch, 3, 32, 32).to(\"cuda\")\n"
      "          out = model(x)\n"
      "      kept.append(out)\n"
      "      more.append(out * 2)\n";
  const Advice advice = advise(scenario(text), {.dearest = Price::kNothing});
  const bool both =
      std::any_of(advice.meeting.begin(), advice.meeting.end(), [](const AdvisedChange& change) {
        return change.change.text.find("kept.append(out.detach().cpu())") != std::string::npos &&
               change.change.text.find("more.append((out * 2).detach().cpu())") !=
                   std::string::npos;
      });
  CHECK(both);
}

TEST_CASE("The changed scenario is written so that it keeps the promise, or not at all") {
  const ScenarioSource source = gpt2({{"batch_size", "128"}});
  const Advice advice = advise(source, {.dearest = Price::kTime});
  REQUIRE_FALSE(advice.meeting.empty());
  const AdvisedChange& change = advice.meeting.front();
  const std::string text =
      applied_scenario(source, change, "# a comment\n", "configs/new.yaml").text;
  CHECK(text.starts_with("# a comment\n# GPT-2 small (124 M parameters)"));
  CHECK(text.find("file: models/gpt2.py") != std::string::npos);
  const ScenarioSource written{
      std::make_shared<const SourceText>(SourceText{"new.yaml", text}), "configs", {}, {}};
  const Trial trial = try_scenario(written);
  CHECK(trial.fits());
  CHECK(trial.peak_reserved == change.standing.peak_reserved);
  AdvisedChange wrong = change;
  wrong.standing.peak_reserved += 512;
  CHECK_THROWS_WITH(applied_scenario(source, wrong, "", "configs/new.yaml"),
                    Catch::Contains("the scenario does something else when it is read from there"));
}

TEST_CASE("A wrong scenario is refused") {
  const ScenarioSource source =
      scenario("schema_version: 1\ndevice: t4\nloop: |\n  x = undefined\n");
  CHECK_THROWS_WITH(advise(source, {}), Catch::Contains("name 'undefined' is not defined"));
}

TEST_CASE("Quantities are found by what people call them") {
  const auto path = [](const std::string& text, std::string_view word) {
    const auto found = find_quantity(scenario(text), word);
    return found ? fmt::format("{} = {}", found->path, found->value) : "none";
  };
  const std::string head = "schema_version: 1\ndevice: t4\n";
  CHECK(path(wide(), "batch") == "train.batch = 64");
  CHECK(path(wide(), "width") == "params.width = 2048");
  CHECK(path(wide(), "layers") == "none");
  CHECK(path(wide({}, ", accumulate: 4"), "train.accumulate") == "train.accumulate = 4");
  CHECK(path(wide(), "train.accumulate") == "train.accumulate = 1");
  CHECK(path(wide(), "train.optimizer") == "none");
  CHECK(path(head + "params: {n_layer: 12, seq: 7}\nloop: x = 1\n", "layers") ==
        "params.n_layer = 12");
  CHECK(path(head + "params: {n_layer: 12, seq: 7}\nloop: x = 1\n", "length") == "params.seq = 7");
  CHECK(path(head + "model: {code: \"\", class: M, args: {depth: 3}}\nloop: x = 1\n", "layers") ==
        "model.args.depth = 3");
}
