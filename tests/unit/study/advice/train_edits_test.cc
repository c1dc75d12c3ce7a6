#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "sim/study/advice/remedy.h"

using namespace tidemark;

namespace {

/// A language model whose text stands in the scenario, and its loop.
ScenarioSource with_loop(std::string_view loop) {
  return {
      std::make_shared<const SourceText>(SourceText{"case.yaml", fmt::format(R"(schema_version: 1
device: rtx-3060
pytorch: "2.11"
model:
  code: |
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)

        def forward(self, x):
            return x + self.down(F.gelu(self.up(x)))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(1000, 64), nn.Linear(64, 1000)
            self.blocks = nn.ModuleList([Block() for _ in range(4)])

        def forward(self, tokens):
            x = self.embed(tokens)
            for block in self.blocks:
                x = block(x)
            return self.head(x)
  class: Model
{})",
                                                                             loop)}),
      ".",
      {},
      {}};
}

ScenarioSource training(std::string_view more = {}) {
  return with_loop(
      fmt::format("train: {{steps: 2, batch: 8, input: {{shape: [32], dtype: long}}, "
                  "target: [32], loss: 'F.cross_entropy(out.view(-1, 1000), "
                  "y.view(-1))'{}}}\n",
                  more));
}

constexpr std::string_view kOwnLoop =
    "loop: |\n"
    "  opt = torch.optim.AdamW(model.parameters(), lr=1e-3)\n"
    "  for step in range(2):\n"
    "      tokens = torch.zeros(8, 32, dtype=torch.long).to('cuda')\n"
    "      out = model(tokens)\n"
    "      loss = F.cross_entropy(out.view(-1, 1000), tokens.view(-1))\n"
    "      loss.backward()\n"
    "      opt.step()\n"
    "      opt.zero_grad()\n";

std::optional<Change> change_of(std::string_view id, const ScenarioSource& source) {
  return find_remedy(id)->change(source, read_scenario(source), 1);
}

/// The value that a change gives a path; empty: none.
std::string value_at(const std::optional<Change>& change, std::string_view path) {
  if (!change) return {};
  for (const Override& one : change->overrides) {
    if (one.path == path) return one.value;
  }
  return {};
}

}  // namespace

TEST_CASE("Remedies of code are keys of train, or edits of the model's text") {
  struct Case {
    std::string_view id, path, text;
  };
  const ScenarioSource source = training();
  for (const Case& one : {Case{"step-in-backward", "train.step_in_backward", "true"},
                          {"offload", "train.save_on_cpu", "true"},
                          {"optimizer-on-host", "train.optimizer", "OptimizerOnHost(lr=1e-3)"},
                          {"eight-bit-adam", "train.optimizer", "EightBitAdam(lr=1e-3)"},
                          {"adafactor", "train.optimizer", "Adafactor(lr=1e-3)"},
                          {"chunked-loss", "train.loss", "chunked_cross_entropy(out.view"},
                          {"low-rank", "train.prepare", "learn_low_rank(model)"},
                          {"low-rank-four-bits", "train.prepare", "rest_in_four_bits(model)"},
                          {"checkpoint", "model.code", "self._forward"},
                          {"selective-checkpoint", "model.code", "context_fn=keep_products"}}) {
    INFO(one.id);
    const auto change = change_of(one.id, source);
    CHECK(value_at(change, one.path).find(one.text) != std::string::npos);
    if (!change) continue;
    const Trial trial = try_scenario(changed(source, *change));
    CHECK(trial.error.empty());
    CHECK(trial.fits());
  }
}

TEST_CASE("What such remedies make is there once, and one goes on top of another") {
  const ScenarioSource source = training();
  ScenarioSource now = source;
  for (const std::string_view id :
       {"selective-checkpoint", "chunked-loss", "eight-bit-adam", "low-rank"}) {
    const auto change = change_of(id, now);
    REQUIRE(change);
    now = changed(now, *change);
    INFO(id);
    CHECK_FALSE(change_of(id, now));
  }
  const std::string prepare = read_scenario(now).train->prepare;
  for (const std::string_view part : {"ChunkedCrossEntropy", "EightBitAdam", "LowRank"})
    CHECK(prepare.find(part) != std::string::npos);
  const Trial trial = try_scenario(now);
  CHECK(trial.error.empty());
  CHECK(trial.peak_reserved < try_scenario(source).peak_reserved);
}

TEST_CASE("No weight steps in backward where something needs all gradients") {
  for (const std::string_view more : {", clip: 1.0", ", accumulate: 2", ", param_groups: decay",
                                      ", precision: amp-fp16", ", ddp: 2", ", no_grad: true"}) {
    INFO(more);
    CHECK_FALSE(change_of("step-in-backward", training(more)));
    if (more.find("no_grad") != std::string::npos) continue;
    CHECK_THROWS_WITH(read_scenario(training(std::string(more) + ", step_in_backward: true")),
                      Catch::Contains("no step sees all gradients"));
  }
}

TEST_CASE("A loop of the user's own is edited as a script is") {
  const ScenarioSource source = with_loop(kOwnLoop);
  for (const auto& [id, text] :
       {std::pair<std::string_view, std::string_view>{"eight-bit-adam", "opt = EightBitAdam("},
        {"step-in-backward", "register_post_accumulate_grad_hook"},
        {"chunked-loss", "loss = chunked_cross_entropy("},
        {"bf16", "model.to(torch.bfloat16)\nopt = "},
        {"low-rank", "learn_low_rank(model)\nopt = "},
        {"micro-batch", "tokens.chunk(2)"},
        {"offload", "save_on_cpu"}}) {
    INFO(id);
    const auto change = change_of(id, source);
    REQUIRE(change);
    const ScenarioSource after = changed(source, *change);
    CHECK(read_scenario(after).loop->text.find(text) != std::string::npos);
    CHECK(try_scenario(after).error.empty());
  }
  CHECK(value_at(change_of("checkpoint", source), "model.code").find("self._forward") !=
        std::string::npos);
}
