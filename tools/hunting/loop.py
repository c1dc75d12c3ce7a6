"""Puts a drawn loop, precision, optimizer, device and allocator around a drawn model."""

from . import host_values
from .case import Case
from .rand import indent

OPTIMIZERS = (
    ("SGD", 3, ("lr=0.1",), ("momentum=0.9", "weight_decay=1e-4", "foreach=False", "maximize=True", "fused=True"), ("momentum=0.9, nesterov=True", "momentum=0.9, dampening=0.1")),
    ("Adam", 4, ("lr=1e-3",), ("weight_decay=0.01", "amsgrad=True", "foreach=False", "fused=True", "betas=(0.5, 0.999)", "maximize=True", "capturable=True", "eps=1e-6"), ()),
    ("AdamW", 6, ("lr=3e-4",), ("weight_decay=0.1", "amsgrad=True", "foreach=False", "fused=True", "betas=(0.9, 0.95)", "maximize=True", "capturable=True"), ()),
    ("RMSprop", 1, ("lr=1e-3",), ("momentum=0.9", "centered=True", "weight_decay=1e-5", "foreach=False", "alpha=0.9"), ()),
    ("Adagrad", 0.7, ("lr=0.01",), ("lr_decay=0.1", "weight_decay=1e-4", "foreach=False", "fused=True"), ()),
    ("Adadelta", 0.5, (), ("rho=0.8", "weight_decay=1e-4", "foreach=False"), ()),
    ("Adamax", 0.5, ("lr=2e-3",), ("weight_decay=1e-4", "foreach=False"), ()),
    ("NAdam", 0.7, ("lr=2e-3",), ("weight_decay=1e-4", "foreach=False", "decoupled_weight_decay=True"), ()),
    ("RAdam", 0.7, ("lr=1e-3",), ("weight_decay=1e-4", "foreach=False", "decoupled_weight_decay=True"), ()),
    ("ASGD", 0.3, ("lr=0.01",), ("weight_decay=1e-4", "foreach=False"), ()),
    ("Rprop", 0.3, ("lr=0.01",), ("foreach=False",), ()),
    ("Adafactor", 0.4, ("lr=0.01",), ("weight_decay=0.01", "foreach=False"), ()),
)
SCHEDULERS = ("torch.optim.lr_scheduler.StepLR(opt, 1)", "torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)",
              "torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 1 / (s + 1))", "torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=100)",
              "torch.optim.lr_scheduler.LinearLR(opt)", "torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)")
CONFS = ("expandable_segments:True", "roundup_power2_divisions:4", "max_split_size_mb:32", "garbage_collection_threshold:0.6",
         "expandable_segments:True,garbage_collection_threshold:0.8", "roundup_power2_divisions:8,max_split_size_mb:64")
DEVICES = {"h100-sxm-80gb": 5, "a100-sxm-80gb": 2, "t4": 1.2, "rtx-4090": 1.2}
BLACKWELL = {"b200": 1.2, "rtx-5090": 1.2}
BLACKWELL_SINCE = (2, 8)  # PyPI's wheels before it have no kernels for these


def optimizer(r, model):
    name, _, given, options, sets = r.choices(OPTIMIZERS, [o[1] for o in OPTIMIZERS])[0]
    words = list(given) + (r.some(options, 1, 2) if options and r.chance(0.5) else [])
    if sets and r.chance(0.3) and not any(w.startswith("momentum") for w in words):
        words.append(r.choice(sets))
    text = " ".join(words)
    if "fused" in text:
        words = [w for w in words if w not in ("foreach=False", "capturable=True")]
    params = "model.parameters()"
    kind = r.weighted(one=7, decay=1.5, filter=1)
    if kind == "decay":
        params = ("[{'params': [p for p in model.parameters() if p.ndim >= 2], 'weight_decay': 0.1}, "
                  "{'params': [p for p in model.parameters() if p.ndim < 2], 'weight_decay': 0.0}]")
        words = [w for w in words if not w.startswith("weight_decay")]
        if name == "Rprop":
            params = "model.parameters()"
    elif kind == "filter":
        params = "[p for p in model.parameters() if p.requires_grad]"
    if model.sparse:
        return "torch.optim.SGD(model.parameters(), lr=0.1)"
    return "torch.optim.%s(%s%s)" % (name, params, "".join(", " + w for w in words))


def devices_of(release):
    """the devices that a release is drawn with, and their weights"""
    knows_blackwell = tuple(int(part) for part in release.split(".")[:2]) >= BLACKWELL_SINCE
    return {**DEVICES, **BLACKWELL} if knows_blackwell else DEVICES


def case_of(r, model, release):
    """the whole program of a drawn model"""
    precisions = {"fp32": 6, "amp-bf16": 3 if model.amp else 0, "amp-fp16": 2 if model.amp else 0, "bf16": 1.5 if model.half else 0, "fp16": 0.7 if model.half else 0,
                  "fp64": 0.5 if model.double else 0}
    precision = r.weighted(**{k.replace("-", "_"): v for k, v in precisions.items()}).replace("_", "-")
    cast = {"bf16": ".bfloat16()", "fp16": ".half()", "fp64": ".double()"}.get(precision, "")
    last = model.images and r.chance(0.15)
    make = "    model = %s%s\n" % (model.net, cast)
    if last:
        make += "    model = model.to(memory_format=torch.channels_last)\n"
    if r.chance(0.07):
        make += "    for p in list(model.parameters())[:%d]:\n        p.requires_grad_(False)\n" % r.pick(1, 2, 4)
    code = model.code.rstrip() + "\n\n\ndef make():\n" + make + "    return model\n"
    devices = devices_of(release)
    device = r.choices(list(devices), list(devices.values()))[0]
    case = Case(code, "", device=device, name=model.name + ", " + precision, pytorch=release)
    if r.chance(0.2):
        case.conf = r.choice(CONFS)
    if r.chance(0.05):
        case.backends = r.pick({"cudnn": False}, {"flash": False}, {"efficient": False, "flash": False}, {"tf32": True}, {"cudnn": "benchmark"})
    if model.loop:
        case.loop, case.total = model.loop, model.total
        return case
    b = r.choice(model.batch)
    if r.chance(0.1):
        b += r.pick(1, 3, 5)

    def host(expression):
        text = expression
        if cast and "dtype" not in expression:
            text += cast
        if last and expression.count(",") == 3:
            text += ".to(memory_format=torch.channels_last)"
        return text

    names = ["x%d" % i for i in range(len(model.inputs))]
    inputs = "".join("%s = %s.to('cuda')\n" % (n, host(e)) for n, e in zip(names, model.inputs))
    if model.target:
        inputs += "y = %s.to('cuda')\n" % host(model.target)
    if r.chance(0.2):
        inputs = inputs.replace(".to('cuda')", ".cuda()")
    call = "out = model(%s)\nloss = %s\n" % (", ".join(names), model.loss)
    accumulate = r.pick(2, 3) if r.chance(0.15) else 1
    if accumulate > 1:
        call += "loss = loss / %d\n" % accumulate
    if precision.startswith("amp"):
        dtype = "torch.bfloat16" if precision == "amp-bf16" else "torch.float16"
        call = "with torch.autocast('cuda', %s):\n" % r.pick("dtype=" + dtype, dtype) + indent(call)
    scaler = precision == "amp-fp16" and r.chance(0.85)
    zero = "opt.zero_grad(%s)\n" % r.pick("", "", "", "set_to_none=False", "set_to_none=True")
    place = r.weighted(start=3, before=2, end=2)
    clip = r.weighted(none=7, norm=2, value=0.7, plain=0.4)
    ema, sched, valid = r.chance(0.1), r.chance(0.2), r.chance(0.15)
    head = "opt = %s\n" % optimizer(r, model)
    if scaler:
        head += r.pick("scaler = torch.amp.GradScaler('cuda')\n", "scaler = torch.cuda.amp.GradScaler()\n", "scaler = torch.amp.GradScaler('cuda', init_scale=1024.0)\n")
    if sched:
        head += "sched = %s\n" % r.choice(SCHEDULERS)
    if ema:
        head += "import copy\nema = copy.deepcopy(model)\nfor p in ema.parameters():\n    p.requires_grad_(False)\n"
    if r.chance(0.05):
        inputs_first, inputs = inputs.replace("b,", "%d," % b), ""
        head += inputs_first
    if r.chance(0.1):
        return _inference(r, model, case, names, inputs, call, b)
    step = zero if place == "start" else ""
    micro = inputs + call + (zero if place == "before" and accumulate == 1 else "")
    micro += "scaler.scale(loss).backward()\n" if scaler else "loss.backward()\n"
    step += micro if accumulate == 1 else "for micro in range(%d):\n" % accumulate + indent(micro)
    if clip != "none":
        if scaler:
            step += "scaler.unscale_(opt)\n"
        step += {"norm": "nn.utils.clip_grad_norm_(model.parameters(), 1.0%s)\n" % r.pick("", "", ", foreach=False", ", norm_type=1.0", ", norm_type=float('inf')"),
                 "value": "nn.utils.clip_grad_value_(model.parameters(), 0.5)\n",
                 "plain": "total = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5\n"}[clip]
    step += "scaler.step(opt)\nscaler.update()\n" if scaler else "opt.step()\n"
    if place == "end" or (place == "before" and accumulate > 1):
        step += zero
    if sched:
        step += "sched.step()\n"
    if ema:
        step += r.pick("with torch.no_grad():\n    for p, q in zip(ema.parameters(), model.parameters()):\n        p.mul_(0.99).add_(q, alpha=0.01)\n",
                       "with torch.no_grad():\n    for p, q in zip(ema.parameters(), model.parameters()):\n        p.lerp_(q, 0.01)\n",
                       "for p, q in zip(ema.parameters(), model.parameters()):\n    p.data = 0.99 * p.data + 0.01 * q.data\n")
    step += r.pick("", "", "loss.item()\n", "print(loss.item())\n", "total = loss.detach()\n", "del loss, out\n", "torch.cuda.empty_cache()\n")
    if valid:
        step += "model.eval()\nwith torch.no_grad():\n" + indent(inputs.replace("(b,", "(b // 2 + 1,") + call) + "model.train()\n"
    steps = r.pick(2, 3, 3)
    if r.chance(0.3):
        head, step = host_values.add(r, head, step)
        case.host_random = True
    if r.chance(0.3):
        sizes = "[%s]" % ", ".join(str(max(1, int(b * f))) for f in r.choices((1, 1, 0.5, 2, 0.75, 1.5), k=steps))
        case.loop = head + "for b in %s:\n" % sizes + indent(step)
    else:
        case.loop = "b = %d\n" % b + head + "for step in range(%d):\n" % steps + indent(step)
    return case


def _inference(r, model, case, names, inputs, call, b):
    context = r.pick("torch.no_grad()", "torch.inference_mode()")
    lines = [line for line in call.splitlines() if "loss" not in line]
    case.loop = "b = %d\nmodel.eval()\nfor step in range(2):\n    with %s:\n" % (b, context) + indent(inputs + "\n".join(lines) + "\n", 8)
    case.name += ", inference"
    return case
