#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "sim/study/advice/advice.h"
#include "sim/study/advice/remedy.h"

using namespace tidemark;

namespace {

ScenarioSource script(std::string text, EditedFiles others = {}) {
  ScenarioSource source{
      std::make_shared<const SourceText>(SourceText{
          "s.yaml", "schema_version: 1\nscript: s.py\ndevice: a100-80gb\npytorch: \"2.11\"\n"}),
      ".",
      {},
      {}};
  for (const auto& [path, other] : others) source.imported.push_back(path);
  others["s.py"] = std::move(text);
  source.edited = std::make_shared<const EditedFiles>(std::move(others));
  return source;
}

/// The files that a remedy changes; none: it does not apply.
EditedFiles changed_by(std::string_view id, const ScenarioSource& source, unsigned level = 1) {
  const auto change = find_remedy(id)->change(source, read_scenario(source), level);
  return change ? change->files : EditedFiles();
}

/// A script after a remedy; empty: it does not apply.
std::string after(std::string_view id, std::string text, unsigned level = 1) {
  EditedFiles files = changed_by(id, script(std::move(text)), level);
  return files.empty() ? std::string() : files.at("s.py");
}

constexpr std::string_view kLoop =
    "import torch\n"
    "net = Net().cuda()\n"
    "opt = torch.optim.AdamW(net.parameters(), lr=1e-3)\n"
    "for i, (x, y) in enumerate(loader):\n"
    "    x = x.cuda()\n"
    "    # what it says\n"
    "    out = net(x)\n"
    "    loss = cross_entropy(out, y, '''a\n"
    "b''')\n"
    "    opt.zero_grad()\n"
    "    loss.backward()\n"
    "    opt.step()\n";

}  // namespace

TEST_CASE("A step in parts goes through what the turn made anew, and clears gradients once") {
  CHECK(after("micro-batch", std::string(kLoop), 2) ==
        "import torch\n"
        "net = Net().cuda()\n"
        "opt = torch.optim.AdamW(net.parameters(), lr=1e-3)\n"
        "for i, (x, y) in enumerate(loader):\n"
        "    x = x.cuda()\n"
        "    # what it says\n"
        "    opt.zero_grad()\n"
        "    parts = list(zip(x.chunk(4), y.chunk(4)))\n"
        "    for x, y in parts:\n"
        "        out = net(x)\n"
        "        loss = cross_entropy(out, y, '''a\n"
        "b''')\n"
        "        (loss / len(parts)).backward()\n"
        "    opt.step()\n");
}

TEST_CASE("A batch that is made once keeps its name, its parts have another") {
  CHECK(after("micro-batch",
              "import torch\nnet = Net()\nx = torch.randn(8, 4, device='cuda')\n"
              "opt = torch.optim.SGD(net.parameters())\nfor _ in range(3):\n"
              "  net(x).sum().backward()\n  opt.step()\n") ==
        "import torch\nnet = Net()\nx = torch.randn(8, 4, device='cuda')\n"
        "opt = torch.optim.SGD(net.parameters())\nfor _ in range(3):\n"
        "  parts = x.chunk(2)\n"
        "  for x_part in parts:\n"
        "      (net(x_part).sum() / len(parts)).backward()\n  opt.step()\n");
}

TEST_CASE("A batch of names is parted value by value") {
  const std::string text = after("micro-batch",
                                 "for batch in loader:\n"
                                 "    loss = model(**batch).loss\n"
                                 "    accelerator.backward(loss)\n");
  CHECK(text ==
        "for batch in loader:\n"
        "    parts = [{key: value.chunk(2)[i] for key, value in batch.items()} for i in "
        "range(2)]\n"
        "    for batch in parts:\n"
        "        loss = model(**batch).loss\n"
        "        accelerator.backward(loss / len(parts))\n");
}

TEST_CASE("What parts would change is not parted") {
  // Two losses of one turn.
  CHECK(after("micro-batch",
              "for x in loader:\n    a = d(x)\n    a.backward()\n    b = g(x)\n    b.backward()\n")
            .empty());
  // The turn is left on the way.
  CHECK(after("micro-batch",
              "for x in loader:\n    a = net(x)\n    if a.isnan():\n        continue\n"
              "    loss = a.sum()\n    loss.backward()\n")
            .empty());
  // Two statements on a line.
  CHECK(after("micro-batch", "for x in loader:\n    loss = net(x); loss.backward()\n").empty());
}

TEST_CASE("The forward pass is put within autocast, wherever backward stands") {
  CHECK(after("autocast",
              "import torch\nfrom torch import nn\ndef step(net, x, scaler):\n"
              "    out = net(x)\n    loss = out.sum()\n    if scaler:\n"
              "        scaler.scale(loss).backward()\n    else:\n        loss.backward()\n"
              "net.train()\n") ==
        "import torch\nfrom torch import nn\ndef step(net, x, scaler):\n"
        "    with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
        "        out = net(x)\n        loss = out.sum()\n    if scaler:\n"
        "        scaler.scale(loss).backward()\n    else:\n        loss.backward()\n"
        "net.train()\n");
  CHECK(after("autocast", "from torch import autocast\nloss = f(x)\nloss.backward()\n").empty());
}

TEST_CASE("A repeated module of the user's is checkpointed in its own file") {
  const std::string module =
      "import torch.nn as nn\nclass Inner(nn.Module):\n    def forward(self, x):\n"
      "        return x\nclass Block(nn.Module):\n    def __init__(self):\n"
      "        self.inner = [Inner() for _ in range(2)]\n    def forward(self, x):\n"
      "        return x\n";
  const ScenarioSource source =
      script("import torch\nfrom net import Block\nnet = [Block() for _ in range(4)]\n",
             {{"net.py", module}});
  const EditedFiles files = changed_by("checkpoint", source);
  REQUIRE(files.size() == 1);
  CHECK(files.at("net.py") ==
        "import torch.nn as nn\nimport torch.utils.checkpoint\nclass Inner(nn.Module):\n"
        "    def forward(self, x):\n        return x\nclass Block(nn.Module):\n"
        "    def __init__(self):\n        self.inner = [Inner() for _ in range(2)]\n"
        "    def forward(self, *args, **kwargs):\n"
        "        return torch.utils.checkpoint.checkpoint(\n"
        "            self._forward, *args, use_reentrant=False, **kwargs)\n\n"
        "    def _forward(self, x):\n        return x\n");
  // A module that is made once is none that repeats.
  CHECK(after("checkpoint",
              "class Net(nn.Module):\n    def forward(self, x):\n        return x\nnet = Net()\n")
            .empty());
}

TEST_CASE("Every optimizer of the program is given the argument, and others keep their rate") {
  CHECK(after("fused-optimizer",
              "import torch.optim as optim\na = optim.Adam(p)\nb = optim.Adam(q, foreach=True)\n"
              "c = optim.AdamW(r, 1e-3)\n") ==
        "import torch.optim as optim\na = optim.Adam(p, fused=True)\n"
        "b = optim.Adam(q, foreach=True)\nc = optim.AdamW(r, 1e-3, fused=True)\n");
  CHECK(after("sgd", "import torch\nc = torch.optim.AdamW(r, betas=(0, 1), lr=f(2))\n") ==
        "import torch\nc = torch.optim.SGD(r, lr=f(2))\n");
}

TEST_CASE("Only what outlives its turn is kept as a number") {
  CHECK(after("keep-numbers", "def forward(x):\n    x = x + f(x)\n    return x\n").empty());
  CHECK(after("keep-numbers", "for x in loader:\n    kept += net(x)\n") ==
        "for x in loader:\n    kept += net(x).detach().cpu()\n");
  // Terms of a loss, summed in a loop before backward, or in a function that gives them back.
  CHECK(after("keep-numbers",
              "for x in loader:\n    loss = f(x)\n    for h in heads:\n        loss += h(x)\n"
              "    loss.backward()\n")
            .empty());
  CHECK(after("keep-numbers",
              "def forward(x):\n    aux = 0\n    for b in blocks:\n        aux += b(x)\n"
              "    return aux\n")
            .empty());
  CHECK_FALSE(after("keep-numbers",
                    "def test(net):\n    net.eval()\n    sum = 0\n    for x in loader:\n"
                    "        sum += net(x)\n    return sum\n")
                  .empty());
}

TEST_CASE("A function that evaluates keeps no graph; one that trains does") {
  CHECK(after("no-grad",
              "import torch\ndef test(net):\n    net.eval()\n    return net(x)\n"
              "def fit(net):\n    net(x).backward()\n    net.eval()\n") ==
        "import torch\n@torch.no_grad()\ndef test(net):\n    net.eval()\n    return net(x)\n"
        "def fit(net):\n    net(x).backward()\n    net.eval()\n");
  CHECK(after("no-grad", "import torch\nprint(net(x))\n") ==
        "import torch\ntorch.set_grad_enabled(False)\nprint(net(x))\n");
}

TEST_CASE("A smaller batch is at least one") {
  CHECK(after("smaller-batch",
              "from torch.utils.data import DataLoader\n"
              "a = DataLoader(d, batch_size=args.n)\n",
              2) ==
        "from torch.utils.data import DataLoader\na = DataLoader(d, batch_size=max(1, args.n // "
        "4))\n");
  CHECK(after("smaller-batch",
              "from torch.utils.data import DataLoader\na = DataLoader(d, batch_size=2)\n", 2)
            .empty());
}

TEST_CASE("A script's advice edits it, to the end of the program, and comes to what it says") {
  const ScenarioSource source = script(
      "import torch\nfrom torch import nn\nnet = nn.Linear(4096, 4096).cuda()\n"
      "opt = torch.optim.AdamW(net.parameters())\nkept = []\nfor _ in range(4):\n"
      "    out = net(torch.randn(1024, 4096, device='cuda'))\n    out.sum().backward()\n"
      "    opt.step()\n    opt.zero_grad()\n    kept.append(out)\n");
  AdviceOptions options;
  options.dearest = Price::kTime;
  const Advice advice = advise(source, options);
  REQUIRE_FALSE(advice.meeting.empty());
  const auto kept =
      std::find_if(advice.meeting.begin(), advice.meeting.end(), [](const AdvisedChange& change) {
        return change.remedies.size() == 1 && change.remedies[0]->id == "keep-numbers";
      });
  REQUIRE(kept != advice.meeting.end());
  // Three outputs of 1024 * 4096 * 4 bytes = 16 MiB fewer: the last is there in any case.
  CHECK(kept->saved_bytes >= 32 * static_cast<std::int64_t>(kMiB));
  const std::vector<ChangedFile> files = changed_files(source, kept->change);
  REQUIRE(files.size() == 1);
  CHECK(files[0].after.find("kept.append(out.detach().cpu())") != std::string::npos);
}

TEST_CASE("Each weight steps in backward where nothing looks at all gradients together") {
  const std::string edited = after("step-in-backward", std::string(kLoop));
  CHECK(edited ==
        "import torch\n"
        "net = Net().cuda()\n"
        "opt = {own_weight: torch.optim.AdamW([own_weight], lr=1e-3) for own_weight in "
        "net.parameters() if own_weight.requires_grad}\n"
        "\n\n"
        "def step_in_backward(own_weight):\n"
        "    opt[own_weight].step()\n"
        "    opt[own_weight].zero_grad()\n"
        "\n\n"
        "for own_weight in opt:\n"
        "    own_weight.register_post_accumulate_grad_hook(step_in_backward)\n"
        "for i, (x, y) in enumerate(loader):\n"
        "    x = x.cuda()\n"
        "    # what it says\n"
        "    out = net(x)\n"
        "    loss = cross_entropy(out, y, '''a\n"
        "b''')\n"
        "    loss.backward()\n");
  CHECK(after("step-in-backward", edited).empty());
  CHECK(after("micro-batch", edited).empty());  // each part would step
  const auto with = [](std::string_view before, std::string_view now) {
    std::string text(kLoop);
    text.replace(text.find(before), before.size(), now);
    return after("step-in-backward", text);
  };
  CHECK(with("    opt.step()\n", "    clip_grad_norm_(net.parameters(), 1)\n    opt.step()\n")
            .empty());
  CHECK(with("    opt.step()\n", "    if i % 4 == 3:\n        opt.step()\n").empty());
  CHECK(with("for i", "schedule = StepLR(opt, 10)\nfor i").empty());
  CHECK(with("    opt.step()\n", "    opt.step(closure)\n").empty());
}
