#!/usr/bin/env python3
"""Turns the configuration of a recorded training run (config.json of a training golden) into a scenario.

    golden_scenario.py CONFIG.json                       the scenario on standard output
    golden_scenario.py CONFIG.json -o scenario.yaml      to a file; paths in it are relative to the file's folder
    golden_scenario.py CONFIG.json --models zoo.py       models of one's own: a file that registers workloads with
                                                         `@workload(...)` of models.py, or has WORKLOADS itself

Exit codes: 0 done, 2 the configuration is of no known form, 4 a file cannot be read or written.
"""
import argparse
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "configs", "models", "models.py")

# name -> class in torch.optim, its arguments
OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.01}),
    "sgd-momentum": ("SGD", {"lr": 0.01, "momentum": 0.9}),
    "sgd-nesterov": ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-4}),
    "sgd-fused": ("SGD", {"lr": 0.01, "momentum": 0.9, "fused": True}),
    "adam": ("Adam", {"lr": 1e-3}),
    "adam-fused": ("Adam", {"lr": 1e-3, "fused": True}),
    "adam-foreach=False": ("Adam", {"lr": 1e-3, "foreach": False}),
    "adam-amsgrad": ("Adam", {"lr": 1e-3, "amsgrad": True}),
    "adamw": ("AdamW", {"lr": 1e-3}),
    "adamw-fused": ("AdamW", {"lr": 1e-3, "fused": True}),
    "adamw-foreach=False": ("AdamW", {"lr": 1e-3, "foreach": False}),
    "rmsprop": ("RMSprop", {"lr": 1e-3}),
    "adagrad": ("Adagrad", {"lr": 1e-2}),
    "adadelta": ("Adadelta", {"lr": 1.0}),
    "adamax": ("Adamax", {"lr": 1e-3}),
    "nadam": ("NAdam", {"lr": 1e-3}),
    "radam": ("RAdam", {"lr": 1e-3}),
    "adafactor": ("Adafactor", {"lr": 1e-2}),
    "asgd": ("ASGD", {"lr": 1e-2}),
    "rprop": ("Rprop", {"lr": 1e-2}),
    "sparse-adam": ("SparseAdam", {"lr": 1e-3}),
}

GAN_LOOP = """\
G, D = model.generator, model.discriminator
bce = F.binary_cross_entropy_with_logits
with phase("optimizer_init"):
    opt_d, opt_g = torch.optim.{optimizer}(D.parameters(){arguments}), torch.optim.{optimizer}(G.parameters(){arguments})
batches = {batches}
for step in range({steps}):
    with phase(f"inputs {{step}}"):
        batch = batches[step]
        real = {data}[0]{prepared}.to("cuda")
        ones = torch.ones(batch, device="cuda")
        zeros = torch.zeros(batch, device="cuda")
    with phase(f"zero_grad d {{step}}"):
        opt_d.zero_grad()
    with phase(f"forward d {{step}}"):
        loss_real = bce(D(real).view(-1), ones)
    with phase(f"backward d {{step}}"):
        loss_real.backward()
    with phase(f"forward d {{step}}"):
        noise = torch.randn(batch, model.z, 1, 1, device="cuda")
        fake = G(noise)
        loss_fake = bce(D(fake.detach()).view(-1), zeros)
    with phase(f"backward d {{step}}"):
        loss_fake.backward()
    with phase(f"optimizer d {{step}}"):
        opt_d.step()
    with phase(f"zero_grad g {{step}}"):
        opt_g.zero_grad()
    with phase(f"forward g {{step}}"):
        loss_g = bce(D(fake).view(-1), ones)
    with phase(f"backward g {{step}}"):
        loss_g.backward()
    with phase(f"optimizer g {{step}}"):
        opt_g.step()
    with phase(f"item {{step}}"):
        (loss_real.item(), loss_fake.item(), loss_g.item())
"""


class Refused(Exception):
    """the configuration cannot be expressed"""


def parse_value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False, "None": None}.get(text, text)


def optimizer_of(config):
    name, _, extra = config.get("optimizer", "adamw").partition(":")
    if name not in OPTIMIZERS:
        raise Refused("unknown optimizer '%s'; known are %s" % (name, ", ".join(OPTIMIZERS)))
    kind, arguments = OPTIMIZERS[name]
    arguments = {**arguments, **dict((k, parse_value(v)) for k, v in (p.split("=", 1) for p in extra.split(",") if p))}
    return kind, "".join(", %s=%r" % item for item in arguments.items())


def scalar(value):
    """one value as YAML; texts are always quoted"""
    return json.dumps(value)


def flow(value):
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (k, flow(v)) for k, v in value.items())
    if isinstance(value, list):
        return "[%s]" % ", ".join(flow(v) for v in value)
    return scalar(value)


def gan_model(config, function):
    """what makes the model, and what is done to a batch on the host: that loop knows neither autocast nor a scaler"""
    cast = {"bf16": ".to(torch.bfloat16)", "fp16": ".to(torch.float16)"}.get(config.get("precision"), "")
    if cast and config.get("cast", "host") == "device":
        raise Refused("a gan cast on the device")
    layout = ".to(memory_format=torch.channels_last)" if config.get("channels_last") else ""
    changes = cast + layout + (".eval()" if config.get("mode") == "eval" else "")
    return "(lambda **a: %s(**a)%s)" % (function, changes) if changes else function, cast + layout


def scenario_of(config, models, folder):
    """the scenario as text; paths in it are relative to `folder`"""
    if config.get("ddp") and config["model"] == "gan":
        raise Refused("a gan of several ranks (ddp: %s)" % config["ddp"])
    given = config.get
    workload = 'WORKLOADS["%s"]' % config["model"]
    arguments = {k: v for k, v in config["model_arguments"].items() if k not in ("batch", "image", "seq")}
    data = "%s.host_batch(batch, %s, %s%s)" % (
        workload, "image" if given("image") or given("images") else "None",
        "seq" if given("seq") or given("seqs") else "None", "".join(", %s=%r" % item for item in arguments.items()))

    defines_all = os.path.realpath(models) == os.path.realpath(MODELS) or re.search(r"(?m)^WORKLOADS\b", open(models).read()) is not None
    stem = os.path.splitext(os.path.basename(models))[0]
    imports = "from %s import WORKLOADS" % stem if defines_all else "import %s; from models import WORKLOADS" % stem
    folders = [os.path.dirname(os.path.abspath(models))]
    if not defines_all:
        folders.append(os.path.dirname(os.path.abspath(MODELS)))
    folders = [os.path.relpath(f, folder) for f in folders]

    sdpa, cudnn = given("sdpa", "default"), given("cudnn_used", given("cudnn", "on"))
    backends = {"cudnn_sdp": False}
    if sdpa != "default":
        backends.update(flash=sdpa == "flash", efficient=sdpa == "efficient", math=sdpa == "math")
    if cudnn != "on":
        backends["cudnn"] = "benchmark" if cudnn == "benchmark" else False
    allocator = {"conf": given("alloc_conf") or ""}
    if given("memory_fraction"):
        allocator["memory_fraction"] = config["memory_fraction"]
    device = given("device", "h100")
    if given("total_bytes"):
        device = {"name": device, "total": config["total_bytes"]}

    function = workload + ".build"
    if config["model"] == "gan":
        function, prepared = gan_model(config, function)

    lines = ["schema_version: 1"]
    if given("name"):
        lines.append("name: " + scalar(config["name"]))
    lines += ["device: " + flow(device), 'pytorch: "%s"' % ".".join(given("torch", "2.11").split(".")[:2]),
              "allocator: " + flow(allocator), "backends: " + flow(backends),
              "model:", "  code: " + scalar(imports), "  path: " + flow(folders),
              "  function: " + scalar(function), "  args: " + flow(arguments)]
    kind, optimizer_arguments = optimizer_of(config)

    if config["model"] == "gan":
        steps = config["steps"]
        loop = GAN_LOOP.format(optimizer=kind, arguments=optimizer_arguments, steps=steps, data=data, prepared=prepared,
                               batches=given("batches") or [config["batch"]] * steps)
        for name in ("image", "seq"):
            if given(name):
                loop = "%s = %d\n%s" % (name, config[name], loop)
        return "\n".join(lines + ["loop: |"] + ["  " + line for line in loop.splitlines()]) + "\n"

    train = {"steps": config["steps"], "batch": given("batches") or config["batch"]}
    for one, many in (("seq", "seqs"), ("image", "images")):
        if given(many) or given(one):
            train[one] = given(many) or config[one]
    train["data"] = data
    train["loss"] = workload + ".loss"
    if not (given("no_grad") or given("with_grad_forward")):
        train["optimizer"] = "%s(%s)" % (kind, optimizer_arguments[2:])
    default = {"param_groups": "one", "precision": "fp32", "cast": "host", "checkpoint": "none", "accumulate": 1,
               "clip": None, "metric": "none", "mode": "eval" if given("no_grad") else "train",
               "channels_last": False, "expand": False, "del_outputs": False}
    for key, usual in default.items():
        if given(key, usual) != usual:
            train[key] = config[key]
    if given("no_scaler"):
        train["scaler"] = False
    if given("ddp"):
        train["ddp"] = {"world_size": config["ddp"], "gradient_as_bucket_view": True} if given("ddp_view") else config["ddp"]
    if given("clip_foreach", "default") != "default":
        train["clip_foreach"] = config["clip_foreach"] == "true"
    train["zero_grad"] = given("zero_grad_at", "start")
    if given("zero_grad", "set-to-none") != "set-to-none":
        train["set_to_none"] = False
    if given("no_grad"):
        train["no_grad"] = True
    elif given("with_grad_forward"):
        train["forward_only"] = True
    if given("validate_every"):
        train["validate_every"] = config["validate_every"]
        train["validate_batches"] = given("validate_batches", 2)
    if given("empty_cache_between"):
        train["empty_cache"] = "each_step"
    train["oom"] = given("oom", "stop")
    lines.append("train:")
    lines += ["  %s: %s" % (key, flow(value)) for key, value in train.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Turns a training golden's config.json into a scenario.")
    parser.add_argument("config", metavar="CONFIG.json")
    parser.add_argument("--models", metavar="FILE.py", default=MODELS)
    parser.add_argument("-o", "--out", metavar="FILE.yaml", help="default: standard output")
    arguments = parser.parse_args()
    try:
        with open(arguments.config) as file:
            config = json.load(file)
        folder = os.path.dirname(os.path.abspath(arguments.out)) if arguments.out else os.getcwd()
        text = scenario_of(config, arguments.models, folder)
        if arguments.out:
            with open(arguments.out, "w") as file:
                file.write(text)
        else:
            sys.stdout.write(text)
    except OSError as error:
        print("%s: %s" % (error.filename, error.strerror), file=sys.stderr)
        return 4
    except (Refused, KeyError, ValueError, AttributeError, TypeError) as error:
        print("%s: not a configuration that a scenario can be made of: %s" % (arguments.config, error), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
