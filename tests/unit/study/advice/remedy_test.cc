#include "sim/study/advice/remedy.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "sim/study/advice/orders.h"
#include "sim/yaml/yaml.h"

using namespace tidemark;

namespace {

ScenarioSource looping(std::string_view loop, std::string_view more = {}) {
  std::string text = fmt::format("schema_version: 1\ndevice: a100-80gb\n{}loop: |\n", more);
  while (!loop.empty()) {
    const std::size_t end = std::min(loop.find('\n'), loop.size() - 1) + 1;
    text += "  " + std::string(loop.substr(0, end));
    loop.remove_prefix(end);
  }
  return {std::make_shared<const SourceText>(SourceText{"case.yaml", std::move(text)}),
          "configs/scenarios",
          {},
          {}};
}

/// The loop after a remedy; empty: it does not apply.
std::string after(std::string_view id, std::string_view loop, unsigned level = 1) {
  const ScenarioSource source = looping(loop);
  const auto change = find_remedy(id)->change(source, read_scenario(source), level);
  if (!change) return {};
  return read_scenario(changed(source, *change)).loop->text;
}

}  // namespace

TEST_CASE("Words in strings and comments change nothing and stay as they are") {
  CHECK(after("set-to-none", "# opt.zero_grad(set_to_none=False)\ns = 'set_to_none=False'\n")
            .empty());
  CHECK(after("set-to-none", "print('set_to_none=False')\nopt.zero_grad(set_to_none = False)\n") ==
        "print('set_to_none=False')\nopt.zero_grad(set_to_none = True)\n");
  CHECK(after("keep-numbers", "# kept.append(out)\ns = '''\nkept.append(out)\n'''\n").empty());
  CHECK(after("fused-optimizer", "s = 'torch.optim.Adam(p)'\n").empty());
  CHECK(after("no-grad", "# loss.backward()\nprint('no_grad')\nout = model(x)\n") ==
        "# loss.backward()\nprint('no_grad')\nwith torch.inference_mode():\n    out = model(x)\n");
  CHECK(after("no-grad", "out = model(x)\nout . backward ()\n").empty());
}

TEST_CASE("A model is sharded over more GPUs than there are") {
  const auto world_after = [](std::string_view more, unsigned level) {
    const ScenarioSource source{
        std::make_shared<const SourceText>(
            SourceText{"case.yaml",
                       fmt::format("schema_version: 1\ndevice: t4\nlayers: [Linear(8, 8)]\n{}"
                                   "train: {{batch: 2, input: [8], target: [8], loss: mse_loss}}\n",
                                   more)}),
        "configs/scenarios",
        {},
        {}};
    const auto change = find_remedy("shard")->change(source, read_scenario(source), level);
    if (!change) return 0;
    const Scenario sharded = read_scenario(changed(source, *change));
    CHECK(sharded.train->parallel);
    return sharded.rank->world;
  };
  CHECK(world_after("", 1) == 2);
  CHECK(world_after("", 3) == 8);
  CHECK(world_after("ranks: {world: 4}\n", 2) == 0);
  CHECK(world_after("ranks: {world: 4}\n", 3) == 8);
}

TEST_CASE("Layers of a plan are split over more GPUs than share them") {
  const auto after_split = [](std::string_view world, std::string_view parallel, unsigned level) {
    const ScenarioSource source{
        std::make_shared<const SourceText>(SourceText{
            "case.yaml",
            fmt::format("schema_version: 1\ndevice: t4\nlayers: [Linear(8, 8)]\n"
                        "ranks: {{world: {}}}\ntrain: {{batch: 2, input: [8], target: [8], "
                        "loss: mse_loss, parallel: {{{}}}}}\n",
                        world, parallel)}),
        "configs/scenarios",
        {},
        {}};
    const auto change = find_remedy("split-layers")->change(source, read_scenario(source), level);
    if (!change) return std::string();
    const Scenario split = read_scenario(changed(source, *change));
    return fmt::format("{} of {}", split.train->parallel->tp, split.rank->world);
  };
  CHECK(after_split("1", "plan: {'0': colwise}", 1) == "2 of 2");
  CHECK(after_split("4", "plan: {'0': colwise}", 2) == "4 of 16");
  CHECK(after_split("4", "tp: 2, plan: {'0': colwise}", 3) == "8 of 16");
  CHECK(after_split("4", "tp: 2, plan: {'0': colwise}", 1).empty());
  CHECK(after_split("4", "fsdp: 4", 1).empty());
}

TEST_CASE("An optimizer is found by any name, and its call may have any form") {
  CHECK(after("fused-optimizer", "from torch import optim as o\nopt = o.AdamW(p,\n   lr=1)\n") ==
        "from torch import optim as o\nopt = o.AdamW(p,\n   lr=1, fused=True)\n");
  CHECK(after("fused-optimizer", "opt = torch.optim.Adam(p, foreach=True)\n").empty());
  CHECK(after("fused-optimizer", "opt = torch.optim.Adam(p, **options)\n").empty());
  CHECK(after("fused-optimizer", "opt = torch.optim.Adam(p)  # fused\n") ==
        "opt = torch.optim.Adam(p, fused=True)  # fused\n");
  CHECK(after("fused-optimizer", "from mine import Adam\nopt = Adam(p)\n").empty());
}

TEST_CASE("What a loop keeps is told from what it does not, in the order of the text") {
  const std::string loop =
      "kept.append( (a + b) * c )\n"
      "total += loss\n"
      "n += 1\n"
      "names.append('x')\n"
      "values.append(loss.item())\n"
      "total = total + (x if big else y)\n"
      "table[i]=[out]\n"
      "y = kept.append\n";
  CHECK(
      after("keep-numbers", loop, 1).starts_with("kept.append( ((a + b) * c).detach().cpu() )\n"));
  CHECK(after("keep-numbers", loop, 2).find("\ntotal += loss.detach().cpu()\nn += 1\n") !=
        std::string::npos);
  CHECK(after("keep-numbers", loop, 3).find("total + ((x if big else y).detach().cpu())\n") !=
        std::string::npos);
  CHECK(after("keep-numbers", loop, 4).find("table[i]=[out.detach().cpu()]\n") !=
        std::string::npos);
  CHECK(after("keep-numbers", loop, 5).empty());
}

TEST_CASE("Autocast is put before the phase that runs forward, however it is spaced") {
  CHECK(after("autocast", "with  phase( f'forward {i}' ):\n    out = model(x)\n") ==
        "with  torch.autocast(\"cuda\", torch.bfloat16), phase( f'forward {i}' ):\n"
        "    out = model(x)\n");
  CHECK(after("autocast", "with (\n  phase('forward'),\n):\n    out = model(x)\n") ==
        "with (\n  torch.autocast(\"cuda\", torch.bfloat16), phase('forward'),\n):\n"
        "    out = model(x)\n");
  CHECK(after("autocast", "with phase('backward'):\n    pass\n").empty());
  CHECK(after("autocast", "with torch.autocast('cuda'), phase('forward'):\n    pass\n").empty());
}

TEST_CASE("Lists that a loop goes through change their order, others and their text do not") {
  const ScenarioSource source = looping(
      "lengths = [ 3, 1,\n   2, ]  # [9, 9, 9]\n"
      "unused = [7, 8, 9]\n"
      "note = 'for n in unused'\n"
      "for n in lengths:\n    x = torch.zeros(n)\n");
  const std::vector<StepOrder> orders = step_orders(source, 0);
  REQUIRE(orders.size() == 3);
  CHECK(read_scenario(overridden(source, orders[1].overrides)).loop->text ==
        "lengths = [ 1, 2, 3, ]  # [9, 9, 9]\n"
        "unused = [7, 8, 9]\n"
        "note = 'for n in unused'\n"
        "for n in lengths:\n    x = torch.zeros(n)\n");
}
