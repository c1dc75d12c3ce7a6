"""Runs programs in the real PyTorch: one line of JSON in for each, one out. Started by oracle.py, with PyTorch's Python.

PyTorch is imported once; every program runs in a child of its own, forked before the device is opened, so that each starts from
nothing. Names of operators come from a second run with stacks, on request.
"""

import gc
import importlib.metadata
import json
import os
import random
import re
import signal
import sys
import traceback

import numpy
import torch
import torch._dynamo  # noqa: F401  what the first optimizer would import
import torch.distributed  # noqa: F401
import torch.nn.functional as F
import torch.utils.checkpoint  # noqa: F401
from torch import nn


UNSEEDED = 67280421310721  # Tidemark's seed of a program that seeds nothing; of random and numpy.random it is 0
DRAWS = re.compile(r"\brand|\brandom\b|normal_?\(|uniform_?\(|bernoulli|multinomial|RandomSampler")


def without_values():
    """initialisers of modules: where the program draws no numbers of its own, their values do not matter, and take the most time"""
    for name in ("kaiming_uniform_", "uniform_", "normal_", "xavier_uniform_", "xavier_normal_", "kaiming_normal_", "trunc_normal_",
                 "zeros_", "ones_", "constant_", "orthogonal_"):
        setattr(nn.init, name, lambda t, *a, **k: t)
    nn.Embedding.reset_parameters = lambda self: None
    nn.EmbeddingBag.reset_parameters = lambda self: None


def without_found_inf():
    """no kernel wrote what .item() reads: whether a step is skipped would be chance"""
    def steps(self, optimizer, state, *args, **kwargs):
        sum(found.item() for found in state["found_inf_per_device"].values())
        return optimizer.step(*args, **kwargs)

    torch.amp.GradScaler._maybe_opt_step = steps


def without_counted_batches():
    """no kernel counts the batches: a momentum of None would divide by the zero that .item() reads"""
    forward = nn.modules.batchnorm._BatchNorm.forward

    def given_a_momentum(self, input):
        if self.momentum is not None or self.num_batches_tracked is None:
            return forward(self, input)
        if self.training and self.track_running_stats:
            float(self.num_batches_tracked)
        self.momentum = 0.1
        try:
            return forward(self, input)
        finally:
            self.momentum = None

    nn.modules.batchnorm._BatchNorm.forward = given_a_momentum


def give_wheels_cudnn():
    """PyTorch chooses by cuDNN's version: the pretend one says that it is the one that the wheel asks for"""
    for need in importlib.metadata.requires("torch") or ():
        found = re.match(r"nvidia-cudnn[\w-]* ?\(?==(\d+)\.(\d+)\.(\d+)", need)
        if found:
            major, minor, patch = map(int, found.groups())
            os.environ.setdefault("FAKECUDA_CUDNN_VERSION", str(major * 10000 + minor * 100 + patch))


def flatten(trace, stacks):
    events, ops, phase = [], [], ""
    for e in trace:
        phase = e.get("user_metadata") or phase  # from 2.11 on
        events.append([e["action"], e.get("addr", e.get("device_free", 0)), e["size"], e["stream"], phase])
        if stacks:
            ops.append(describe(e.get("frames") or []))
    return events, ops


def describe(frames):
    """the program's line, and the operators, outermost first"""
    place, chain = "", []
    for f in frames:
        name, file = f["name"], f["filename"]
        if file in ("<code>", "<loop>") and not place:
            place = "%s:%d" % (file, f["line"])
        for mark in ("at::_ops::", "torch::autograd::generated::"):
            if mark in name:
                word = name.split(mark, 1)[1].split("(")[0].split("::")[0]
                if word not in chain:
                    chain.append(word)
    return place + " " + ">".join(reversed(chain))


def run(job):
    case = job["case"]
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = case["conf"]
    backends = {"cudnn_sdp": False, **case["backends"]}
    torch.backends.cuda.enable_cudnn_sdp(bool(backends["cudnn_sdp"]))
    torch.backends.cuda.enable_flash_sdp(backends.get("flash", True))
    torch.backends.cuda.enable_mem_efficient_sdp(backends.get("efficient", True))
    torch.backends.cuda.enable_math_sdp(backends.get("math", True))
    cudnn = backends.get("cudnn", True)
    torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark = cudnn is not False, cudnn == "benchmark"
    torch.backends.cuda.matmul.allow_tf32 = backends.get("tf32", False)
    if backends.get("deterministic"):
        torch.use_deterministic_algorithms(True)
    if case["fraction"]:
        torch.cuda.set_per_process_memory_fraction(case["fraction"])
    if not DRAWS.search(case["code"] + case["loop"]):
        without_values()
    torch.manual_seed(UNSEEDED)
    random.seed(0)
    numpy.random.seed(0)
    gc.collect()
    gc.disable()
    torch.cuda.init()
    import warnings
    warnings.simplefilter("ignore")
    torch.cuda.memory._record_memory_history(enabled="all", context="all" if job["stacks"] else None, stacks="all", max_entries=10**7)

    class phase:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            if hasattr(torch.cuda.memory, "_set_memory_metadata"):
                torch.cuda.memory._set_memory_metadata(self.name)

        def __exit__(self, *error):
            return False

    import math
    names = {"torch": torch, "nn": nn, "F": F, "math": math, "phase": phase, "__name__": "case"}
    answer = {"error": "", "oom": ""}
    module = sys.modules["case"] = type(sys)("case")
    module.__dict__.update(names)
    space = module.__dict__
    try:
        exec(compile(case["code"], "<code>", "exec"), space)
        space["model"] = space["make"]()
        with phase("model"):
            space["model"] = space["model"].to("cuda")
        exec(compile(case["loop"], "<loop>", "exec"), space)
    except torch.OutOfMemoryError as error:
        answer["oom"] = str(error)
        answer["kept"] = [error]
    except BaseException as error:  # noqa: BLE001  whatever the program does is its answer
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename in ("<code>", "<loop>")]
        answer["error"] = "%s: %s (line %s)" % (type(error).__name__, str(error)[:500], lines[-1:] or "?")
        answer["raised_by"] = traceback.extract_tb(error.__traceback__)[-1].name
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    answer.pop("kept", None)
    answer["events"], answer["ops"] = flatten(trace, job["stacks"])
    return answer


def serve():
    give_wheels_cudnn()
    without_found_inf()
    without_counted_batches()
    torch._dynamo.config.suppress_errors = True
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"torch": torch.__version__}), file=out, flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            signal.alarm(job["limit_s"])
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            answer = run(job)
            with open(job["answer"], "w") as file:
                json.dump(answer, file)
            os._exit(0)
        print(os.waitpid(pid, 0)[1], file=out, flush=True)


serve()
