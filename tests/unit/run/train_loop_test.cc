#include <catch2/catch.hpp>

#include <string>

#include "sim/run/train_loop.h"

namespace tidemark {
namespace {

TrainSpec plain() {
  TrainSpec spec;
  spec.batch = {{"64"}, false};
  spec.inputs = {{"torch.zeros(batch, 784)", true, 2}};
  spec.target = {"torch.zeros(batch, dtype=torch.long)", false, 1};
  return spec;
}

/// The lines from the one that begins with `first` (spaces aside) to the end.
std::string from(const std::string& text, const std::string& first) {
  const std::size_t at = text.find(first);
  REQUIRE(at != std::string::npos);
  const std::size_t line = text.rfind('\n', at);
  return text.substr(line == std::string::npos ? 0 : line + 1);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the plain loop is the goldens' loop") {
  CHECK(train_to_loop(plain(), "mlp(hidden=1024)") ==
        R"(batch = 64
model = mlp(hidden=1024)
model.train()
with phase("model"):
    model = model.to("cuda")
with phase("optimizer_init"):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    with phase(f"zero_grad {step}"):
        opt.zero_grad(set_to_none=True)
    with phase(f"inputs {step}"):
        x = torch.zeros(batch, 784).to("cuda")
        y = torch.zeros(batch, dtype=torch.long).to("cuda")
    with phase(f"forward {step}"):
        out = model(x)
        loss = F.cross_entropy(out, y)
    with phase(f"backward {step}"):
        loss.backward()
    with phase(f"optimizer {step}"):
        opt.step()
    with phase(f"item {step}"):
        loss.item()
)");
}

TEST_CASE(
    "mixed precision with a scaler, clipping, accumulation, in-place zeroing before backward") {
  TrainSpec spec = plain();
  spec.precision = TrainSpec::Precision::kAmpFp16;
  spec.clip = std::string("1.0");
  spec.clip_foreach = false;
  spec.accumulate = std::string("4");
  spec.zero_grad_at = TrainSpec::ZeroGradAt::kBeforeBackward;
  spec.set_to_none = false;
  spec.decay_groups = true;
  spec.loss = std::string("F.cross_entropy(out.view(-1, out.size(-1)), y.view(-1))");
  spec.loss_is_expression = true;
  CHECK(from(train_to_loop(spec, "M()"), "with phase(\"optimizer_init\")") ==
        R"(with phase("optimizer_init"):
    params = list(model.parameters())
    params = [{"params": [p for p in params if p.dim() >= 2], "weight_decay": 0.1},
              {"params": [p for p in params if p.dim() < 2], "weight_decay": 0.0}]
    opt = torch.optim.AdamW(params, lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
for step in range(3):
    for micro in range(4):
        with phase(f"inputs {step}.{micro}"):
            x = torch.zeros(batch, 784).to("cuda")
            y = torch.zeros(batch, dtype=torch.long).to("cuda")
        with phase(f"forward {step}.{micro}"):
            with torch.autocast("cuda", torch.float16):
                out = model(x)
                loss = F.cross_entropy(out.view(-1, out.size(-1)), y.view(-1))
                loss = loss / 4
        if micro == 0:
            with phase(f"zero_grad {step}.{micro}"):
                opt.zero_grad(set_to_none=False)
        with phase(f"backward {step}.{micro}"):
            scaler.scale(loss).backward()
    with phase(f"clip {step}"):
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
    with phase(f"optimizer {step}"):
        scaler.step(opt)
        scaler.update()
    with phase(f"item {step}"):
        loss.item()
)");
}

TEST_CASE("several inputs by size lists, metric, deleted outputs, validation, emptying") {
  TrainSpec spec = plain();
  spec.steps = std::string("2");
  spec.batch = {{"8"}, false};
  spec.seq = {{"128", "64"}, true};
  spec.inputs = {{"torch.zeros(batch, seq, dtype=torch.long)", false, 2},
                 {"torch.ones(batch, seq, dtype=torch.long)", false, 2}};
  spec.metric = TrainSpec::Metric::kHost;
  spec.del_outputs = true;
  spec.validate_every = std::string("2");
  spec.empty_cache = true;
  spec.zero_grad_at = TrainSpec::ZeroGradAt::kEnd;
  const std::string text = train_to_loop(spec, "M()");
  CHECK(has(text, "batch = 8\nseqs = [128, 64]\nmodel = M()\n"));
  CHECK(from(text, "for step in") ==
        R"(for step in range(2):
    seq = seqs[step]
    with phase(f"inputs {step}"):
        x1 = torch.zeros(batch, seq, dtype=torch.long).to("cuda")
        x2 = torch.ones(batch, seq, dtype=torch.long).to("cuda")
        y = torch.zeros(batch, dtype=torch.long).to("cuda")
    with phase(f"forward {step}"):
        out = model(x1, x2)
        loss = F.cross_entropy(out, y)
    with phase(f"backward {step}"):
        loss.backward()
    with phase(f"optimizer {step}"):
        opt.step()
    with phase(f"zero_grad {step}"):
        opt.zero_grad(set_to_none=True)
    with phase(f"item {step}"):
        loss.item()
    with phase(f"metric {step}"):
        pred = out.argmax(dim=1).cpu()
        (pred == y.cpu()).float().mean()
    with phase(f"end {step}"):
        del out, loss
    with phase(f"empty_cache {step}"):
        torch.cuda.empty_cache()
    if (step + 1) % 2 == 0:
        with phase(f"validate {step}"):
            model.eval()
            with torch.no_grad():
                for i in range(2):
                    x1 = torch.zeros(batch, seq, dtype=torch.long).to("cuda")
                    x2 = torch.ones(batch, seq, dtype=torch.long).to("cuda")
                    y = torch.zeros(batch, dtype=torch.long).to("cuda")
                    out = model(x1, x2)
                    loss = F.cross_entropy(out, y)
                    loss.item()
            model.train()
)");
}

TEST_CASE(
    "a failed request ends the loop, or the step after emptying the cache inside the handler") {
  TrainSpec spec = plain();
  spec.on_oom = TrainSpec::OnOom::kNext;
  const std::string next = train_to_loop(spec, "M()");
  CHECK(has(next, "for step in range(3):\n    try:\n        with phase(f\"zero_grad {step}\"):\n"));
  CHECK(from(next, "except") ==
        R"(    except torch.OutOfMemoryError as e:
        with phase(f"oom {step}"):
            torch.cuda.empty_cache()
        continue
)");
  spec.on_oom = TrainSpec::OnOom::kStop;
  CHECK(from(train_to_loop(spec, "M()"), "except") ==
        "    except torch.OutOfMemoryError as e:\n        break\n");
}

TEST_CASE("one sample, expanded in every step") {
  TrainSpec spec = plain();
  spec.expand = true;
  spec.batch = {{"64", "8"}, true};
  spec.steps = std::string("2");
  const std::string text = train_to_loop(spec, "M()");
  CHECK(has(text, R"(batch = batches[0]
with phase("inputs"):
    batch = 1
    one_x = torch.zeros(batch, 784).to("cuda")
    one_y = torch.zeros(batch, dtype=torch.long).to("cuda")
for step in range(2):
    batch = batches[step]
)"));
  CHECK(has(text,
            "        x = one_x.expand(batch, *one_x.shape[1:])\n"
            "        y = one_y.expand(batch, *one_y.shape[1:])\n"));
  spec.batch = {{"64"}, false};
  CHECK(has(train_to_loop(spec, "M()"), "for step in range(2):\n    batch = 64\n"));
}

TEST_CASE("a batch from the model's file goes through one list, cast on the device by a function") {
  TrainSpec spec;
  spec.batch = {{"64"}, false};
  spec.data = std::string("host_batch(batch)");
  spec.loss = std::string("class_loss");
  spec.precision = TrainSpec::Precision::kFp16;
  spec.cast = TrainSpec::Cast::kDevice;
  spec.channels_last = true;
  const std::string text = train_to_loop(spec, "M()");
  CHECK(text.substr(0, text.find("with phase(\"optimizer_init\")")) ==
        R"(def prepare(t):
    t = t.to(memory_format=torch.channels_last) if t.dim() == 4 else t
    return t
def to_device(t):
    t = t.to("cuda")
    return t.to(torch.float16) if t.is_floating_point() else t
dev = []
def get_batch():
    for i, t in enumerate(host_batch(batch)):
        if i < len(dev):
            dev[i] = to_device(prepare(t))
        else:
            dev.append(to_device(prepare(t)))
batch = 64
model = M()
model = model.to(memory_format=torch.channels_last)
model.train()
with phase("model"):
    model = model.to("cuda")
    model = model.to(torch.float16)
)");
  CHECK(has(text, "        get_batch()\n"));
  CHECK(has(text, "        out = model(*dev[:-1])\n        loss = class_loss(out, dev[-1])\n"));
}

TEST_CASE("inference has neither optimizer nor loss") {
  TrainSpec spec = plain();
  spec.no_grad = true;
  spec.training_mode = false;
  spec.precision = TrainSpec::Precision::kAmpBf16;
  CHECK(train_to_loop(spec, "M()") ==
        R"(batch = 64
model = M()
model.eval()
with phase("model"):
    model = model.to("cuda")
for step in range(3):
    with phase(f"inputs {step}"):
        x = torch.zeros(batch, 784).to("cuda")
        y = torch.zeros(batch, dtype=torch.long).to("cuda")
    with phase(f"forward {step}"):
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
            out = model(x)
)");
  spec.no_grad = false;
  spec.forward_only = true;
  spec.precision = TrainSpec::Precision::kBf16;
  spec.checkpoint = TrainSpec::Checkpoint::kEvery2;
  const std::string text = train_to_loop(spec, "M()");
  CHECK(has(text,
            "model = M()\nif not hasattr(model, \"checkpoint_mode\"):\n    raise AttributeError("));
  CHECK(has(text,
            "\nmodel.checkpoint_mode = \"every-2\"\nmodel = model.to(torch.bfloat16)\n"
            "model.eval()\n"));
  CHECK(has(text, "        x = torch.zeros(batch, 784).to(torch.bfloat16).to(\"cuda\")\n"));
  CHECK(has(text, "    with phase(f\"forward {step}\"):\n        out = model(x)\n"));
  CHECK_FALSE(has(text, "no_grad"));
}

TEST_CASE("a loop of one's own finds the model on the device") {
  CHECK(model_prologue("SimpleConv(image=32)") ==
        "model = SimpleConv(image=32)\nwith phase(\"model\"):\n    model = model.to(\"cuda\")\n");
}

}  // namespace tidemark
