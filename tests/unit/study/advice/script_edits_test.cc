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
}

TEST_CASE("A program without gradients runs its models in inference mode") {
  CHECK(after("no-grad",
              "import torch\n"
              "from net import Net\n"
              "net = Net().cuda().eval()\n"
              "sizes = [1, 2]\n"
              "for n in sizes:\n"
              "    print(net(torch.zeros(n)))\n"
              "print('done')\n") ==
        "import torch\n"
        "from net import Net\n"
        "net = Net().cuda().eval()\n"
        "sizes = [1, 2]\n"
        "with torch.inference_mode():\n"
        "    for n in sizes:\n"
        "        print(net(torch.zeros(n)))\n"
        "print('done')\n");
  // All that the program does is one function: it is decorated, not what it calls.
  CHECK(after("no-grad",
              "import torch\n"
              "def answer(net, x):\n"
              "    return net(x)\n"
              "def main():\n"
              "    net = Net()\n"
              "    answer(net, torch.zeros(4))\n"
              "if __name__ == '__main__':\n"
              "    main()\n") ==
        "import torch\n"
        "def answer(net, x):\n"
        "    return net(x)\n"
        "@torch.inference_mode()\n"
        "def main():\n"
        "    net = Net()\n"
        "    answer(net, torch.zeros(4))\n"
        "if __name__ == '__main__':\n"
        "    main()\n");
  // From the first line that runs a model to the last; a model by its method, too.
  CHECK(after("no-grad",
              "from vae import Vae\n"
              "vae = Vae()\n"
              "vae.eval()\n"
              "x = picture()\n"
              "code = vae.encode(x)\n"
              "print(code.shape)\n"
              "y = vae.decode(code)\n"
              "save(y)\n") ==
        "from vae import Vae\n"
        "import torch\n"
        "vae = Vae()\n"
        "vae.eval()\n"
        "x = picture()\n"
        "with torch.inference_mode():\n"
        "    code = vae.encode(x)\n"
        "    print(code.shape)\n"
        "    y = vae.decode(code)\n"
        "save(y)\n");
  // Where no call looks like one of a model: all behind the definitions.
  CHECK(after("no-grad", "import torch\nx = torch.nn.Linear(2, 2)\ny = x.weight @ x.weight\n") ==
        "import torch\nwith torch.inference_mode():\n    x = torch.nn.Linear(2, 2)\n"
        "    y = x.weight @ x.weight\n");
}

TEST_CASE("Weights in bfloat16 take inputs of that type, where they must") {
  const std::string text =
      "import torch\n"
      "net = Net()\n"
      "opt = torch.optim.SGD(net.parameters(), lr=1)\n"
      "for x, y in loader:\n"
      "    loss = f(net(x + 1, y[0], mask=None), y)\n"
      "    loss.backward()\n";
  CHECK(after("bf16", text, 1).find("net = Net()\nnet.to(torch.bfloat16)\n") != std::string::npos);
  CHECK(after("bf16", text, 1).find("net(x + 1, y[0], mask=None)") != std::string::npos);
  CHECK(after("bf16", text, 2)
            .find("net((x + 1).to(torch.bfloat16), y[0].to(torch.bfloat16), mask=None), y)") !=
        std::string::npos);
  CHECK(after("bf16", text, 3).find("y[0].to(torch.bfloat16), mask=None).float(), y)") !=
        std::string::npos);
  CHECK(find_remedy("bf16")->kind == Levels::kWays);
}

TEST_CASE("What a library's trainer is given is the model, not the trainer") {
  const std::string edited = after("low-rank",
                                   "from transformers import Trainer\n"
                                   "from net import Net\n"
                                   "net = Net()\n"
                                   "trainer = Trainer(model=net, args=args)\n"
                                   "trainer.train()\n");
  CHECK(edited.find("net = Net()\nlearn_low_rank(net)\ntrainer = Trainer(") != std::string::npos);
  CHECK(edited.find("learn_low_rank(trainer)") == std::string::npos);
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

namespace {

/// What a remedy leaves of a script behind the code that it puts in; empty: it does not apply.
std::string end_of(std::string_view id, std::string text, std::size_t lines) {
  const std::string edited = after(id, std::move(text));
  std::size_t at = edited.size();
  for (std::size_t i = 0; i <= lines && at != std::string::npos; ++i)
    at = at == 0 ? 0 : edited.rfind('\n', at - 1);
  return edited.substr(at == std::string::npos ? 0 : at + 1);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr std::string_view kAttention =
    "import torch\nimport torch.nn.functional as F\nclass A(torch.nn.Module):\n"
    "    def forward(self, q, k, v):\n"
    "        att = q @ k.transpose(-2, -1) / self.scale\n"
    "        att = att.masked_fill(self.mask == 0, float('-inf'))\n"
    "        att = F.softmax(att, dim=-1)\n"
    "        att = F.dropout(att, p=self.p, training=self.training)\n"
    "        y = att @ v\n";

}  // namespace

TEST_CASE("Small layers learn from where the optimizer first takes the model") {
  const std::string text = after("low-rank", std::string(kLoop));
  CHECK(text.starts_with("import torch\n\n\nclass LowRank(torch.nn.Module):\n"));
  CHECK(has(text,
            "net = Net().cuda()\nlearn_low_rank(net)\nopt = torch.optim.AdamW(net.parameters()"));
  CHECK(has(after("low-rank-four-bits", std::string(kLoop)),
            "learn_low_rank(net)\nrest_in_four_bits(net)\nopt = "));
  // Twice is once too often.
  CHECK(after("low-rank", text).empty());
}

TEST_CASE("What wraps a model is no second model") {
  const std::string text = after("low-rank",
                                 "import torch\nnet = Net()\nwrapped = torch.compile(net)\n"
                                 "opt = torch.optim.SGD(wrapped.parameters())\n"
                                 "for x in loader:\n    wrapped(x).sum().backward()\n");
  CHECK(has(text, "net = Net()\nlearn_low_rank(net)\nwrapped = torch.compile(net)\nopt"));
}

TEST_CASE("Adam in eight bits keeps what was said of it") {
  CHECK(
      has(after("eight-bit-adam",
                "import torch\nopt = torch.optim.AdamW(net.parameters(), 1e-3, betas=(0.9, 0.95), "
                "weight_decay=0.1, fused=True)\n"),
          "\nopt = EightBitAdam(net.parameters(), lr=1e-3, betas=(0.9, 0.95), "
          "weight_decay=0.1)\n"));
  CHECK(after("eight-bit-adam", "import torch\nopt = torch.optim.SGD(net.parameters())\n").empty());
}

TEST_CASE("An optimizer goes to the host where nothing scales its gradients") {
  const std::string text = "import torch\nopt = torch.optim.SGD(net.parameters(), lr=1)\n";
  CHECK(has(after("optimizer-on-host", text),
            "\nopt = on_host(torch.optim.SGD)(net.parameters(), lr=1)\n"));
  CHECK(after("optimizer-on-host", text + "scaler = torch.amp.GradScaler()\n").empty());
  CHECK(after("optimizer-on-host", "import torch\nopt = torch.optim.SGD([a, b], lr=1)\n").empty());
}

TEST_CASE("Cross entropy is parted where its arguments are ones that parts can have") {
  const std::string begin = "import torch\nfrom torch.nn import functional as F\n";
  CHECK(has(after("chunked-loss", begin + "loss = F.cross_entropy(a.view(-1, v), b, "
                                          "ignore_index=0)\n"),
            "\nloss = chunked_cross_entropy(a.view(-1, v), b, ignore_index=0)\n"));
  CHECK(has(after("chunked-loss", begin + "loss = torch.nn.CrossEntropyLoss()(a, b)\n"),
            "\nloss = ChunkedLoss()(a, b)\n"));
  CHECK(after("chunked-loss", begin + "loss = F.cross_entropy(a, b, weight=w)\n").empty());
}

TEST_CASE("Attention that is written out becomes one call") {
  CHECK(end_of("attention-kernel", std::string(kAttention), 2) ==
        "    def forward(self, q, k, v):\n"
        "        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, "
        "attn_mask=(self.mask == 0).logical_not(), "
        "dropout_p=self.p if self.training else 0.0, scale=1 / (self.scale))\n");
  // Somebody takes the weights.
  CHECK(after("attention-kernel", std::string(kAttention) + "        return y, att\n").empty());
  CHECK(has(after("attention-kernel",
                  "import torch\nclass A(torch.nn.Module):\n    def __init__(self):\n"
                  "        self.attend = torch.nn.MultiheadAttention(8, 2)\n"
                  "    def forward(self, x):\n        h, _ = self.attend(x, x, x)\n"),
            "h, _ = self.attend(x, x, x, need_weights=False)\n"));
}

TEST_CASE("What a turn makes goes behind the last line that reads it") {
  CHECK(after("del-outputs",
              "import torch\nfor x, y in loader:\n    x = x.cuda()\n    out = net(x)\n"
              "    with torch.autocast('cuda'):\n        loss = f(out, y)\n    loss.backward()\n"
              "    if log:\n        print(loss.item())\n    n = 1\n") ==
        "import torch\nfor x, y in loader:\n    x = x.cuda()\n    out = net(x)\n    del x\n"
        "    with torch.autocast('cuda'):\n        loss = f(out, y)\n    del out\n"
        "    loss.backward()\n"
        "    if log:\n        print(loss.item())\n    del loss\n    n = 1\n");
  // What is read after the loop, or carried from turn to turn, stays.
  CHECK(after("del-outputs",
              "import torch\nh = start()\nfor x in loader:\n    h = net(x, h)\n"
              "    loss = h.sum()\n    loss.backward()\nprint(loss)\n")
            .empty());
}

TEST_CASE("Checkpoints keep products where they are asked to") {
  const std::string text = after("selective-checkpoint",
                                 "import torch\nclass B(torch.nn.Module):\n"
                                 "    def forward(self, x):\n        return x\n"
                                 "blocks = [B() for _ in range(3)]\n");
  CHECK(has(text, "def keep_products():\n"));
  CHECK(
      has(text, "self._forward, *args, use_reentrant=False, context_fn=keep_products, **kwargs)"));
}

TEST_CASE("A model without blocks of the user's has its rows checkpointed") {
  CHECK(has(after("checkpoint",
                  "import torch\nnet = torch.nn.Transformer()\nfor x in loader:\n"
                  "    net.train()\n    net(x).sum().backward()\n"),
            "net = torch.nn.Transformer()\ncheckpoint_blocks(net)\n"));
}

TEST_CASE("A Trainer's samples are packed by its collator") {
  CHECK(has(after("packing",
                  "import transformers\nt = transformers.Trainer(model=m, data_collator=pad)\n"),
            "data_collator=transformers.DataCollatorWithFlattening())\n"));
}

TEST_CASE("A model is shared among processes before its optimizer takes it, where one runs alone") {
  const std::string script =
      "import torch\nnet = torch.nn.Linear(8, 8).cuda()\nopt = torch.optim.SGD(net.parameters())\n"
      "for x in loader:\n    net(x).sum().backward()\n    opt.step()\n";
  const std::string text = after("shard", script);
  CHECK(has(text, "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))\n"));
  CHECK(has(text, ".cuda()\nshare_model(net)\nopt = "));
  CHECK(after("shard", "import torch.distributed as dist\n" + script).empty());
  std::string pinned = script;
  pinned.replace(pinned.find(".cuda()"), 7, ".to('cuda:0')");
  CHECK(after("shard", pinned).empty());
}
