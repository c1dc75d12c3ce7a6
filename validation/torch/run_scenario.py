#!/usr/bin/env python3
"""Runs a scenario's own model and loop under the real PyTorch and writes what its allocator did.

    run_scenario.py OUT JOB.json...    JOB: what `tidemark validate` makes of a scenario; OUT: a folder, gets NAME.json, NAME.events.csv.gz

PyTorch is loaded once; each job runs in a child of its own, forked before the device is opened. The first that fails is the last.
Exit codes: 0 done (an out-of-memory error is a result too), 2 the program raised something else, 77 there is no CUDA device.
"""
import gc
import json
import math
import os
import random
import sys
import time
import traceback
import types
import warnings

import torch
import torch._dynamo  # noqa: F401  the first optimizer would import it, and then what its caller's frames hold would live until a collection
import torch.nn.functional as F
from torch import nn

import measured

LARGEST_HISTORY = 10**7
UNSEEDED = 67280421310721  # what a torch.Generator begins with


def seed_as_the_simulator_does():
    """a program that seeds nothing draws by chance: the seeds that the simulator takes, and notes"""
    torch.manual_seed(UNSEEDED)
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


def set_backends(given):
    torch.backends.cuda.enable_cudnn_sdp(given["cudnn_sdp"])
    torch.backends.cuda.enable_flash_sdp(given["flash"])
    torch.backends.cuda.enable_mem_efficient_sdp(given["efficient"])
    torch.backends.cuda.enable_math_sdp(given["math"])
    torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark = given["cudnn"], given["benchmark"]
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = given["tf32"], given["cudnn_tf32"]
    if given["fp16_accumulation"]:  # from 2.7 on
        torch.backends.cuda.matmul.allow_fp16_accumulation = True
    if given["deterministic"]:
        torch.use_deterministic_algorithms(True)


class Phase:
    """with phase("forward 0"): the name stands until the next one begins"""

    def __init__(self, name):
        self.name = name

    begins = {}  # of a step's first phase, by the host's clock: its loop waits for the device at each step's end

    def __enter__(self):
        step = self.name.rpartition(" ")[2].partition(".")[0]
        if step.isdigit():
            self.begins.setdefault(int(step), time.perf_counter_ns())
        set_metadata = getattr(torch.cuda.memory, "_set_memory_metadata", None)  # from 2.11 on
        if set_metadata:
            set_metadata(self.name)

    def __exit__(self, *error):
        return False


def step_ns():
    """a warm step: from the begin of the last but one to the last's; None where there are not three"""
    begins = [Phase.begins[step] for step in sorted(Phase.begins)]
    return begins[-1] - begins[-2] if len(begins) > 2 else None


def namespace(job):
    """what the program's texts share"""
    module = sys.modules["__main__" if job["is_script"] else "scenario"] = types.ModuleType("__main__" if job["is_script"] else "scenario")
    if job["is_script"]:
        module.__file__ = job["texts"][-1]["name"]
    else:
        module.__dict__.update(torch=torch, nn=nn, F=F, math=math, phase=Phase, mark=lambda name, device=None: None)
    return module.__dict__


def keep_the_recording(job):
    """the program's own calls that start and stop a recording are part of what it does, but this one goes on beside them"""
    real = torch.cuda.memory._record_memory_history
    real(enabled="all", context="all", stacks=job["stacks"], max_entries=LARGEST_HISTORY)
    torch.cuda.memory._record_memory_history = lambda *a, **k: None


def execute(job, space):
    """the program's end in words: kinds completed, oom, error"""
    try:
        for text in job["texts"]:
            exec(compile(text["text"], text["name"], "exec"), space)
    except torch.OutOfMemoryError as error:
        # Its traceback keeps what was live alive, as in a program that ends here.
        return {"ended_by_oom": True, "oom_message": str(error), "error": ""}, error
    except SystemExit as end:
        return {"ended_by_oom": False, "oom_message": "", "error": ""}, end  # an end like any other, whatever its code says
    except Exception as error:  # noqa: BLE001  whatever the program raises is its answer
        names = {text["name"] for text in job["texts"]}
        lines = ["%s:%d" % (f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename in names]
        return {"ended_by_oom": False, "oom_message": "", "error": "%s: %s (%s)" % (type(error).__name__, error, (lines or ["?"])[-1])}, error
    return {"ended_by_oom": False, "oom_message": "", "error": ""}, None


def run(job, out):
    """the exit code; the device is opened here"""
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = job["alloc_conf"]
    if not torch.cuda.is_available():
        print("no CUDA device", file=sys.stderr)
        return 77
    sys.path[:0] = job["import_folders"]
    os.environ.update(job.get("environment", {}))
    if job["is_script"]:
        sys.argv = [job["texts"][-1]["name"], *job["arguments"]]
    warnings.simplefilter("ignore")
    set_backends(job["backends"])
    if job["memory_fraction"] is not None:
        for device in range(torch.cuda.device_count()):
            torch.cuda.set_per_process_memory_fraction(float(job["memory_fraction"]), device)
    seed_as_the_simulator_does()
    os.dup2(2, 1)  # what the program prints is not the answer
    gc.collect()
    gc.disable()  # when it runs is no rule of PyTorch's
    torch.cuda.init()
    keep_the_recording(job)
    space = namespace(job)
    ended, kept = execute(job, space)
    traces = torch.cuda.memory._snapshot()["device_traces"][:torch.cuda.device_count()]
    own = {text["name"] for text in job["texts"]}
    measured.write(out, job["name"], traces, {**ended, "step_ns": step_ns()}, job["command"], own)
    del kept
    if ended["error"]:
        print("%s: %s" % (job["name"], ended["error"]), file=sys.stderr)
    return 2 if ended["error"] else 0


def main():
    out, jobs = sys.argv[1], sys.argv[2:]
    for path in jobs:
        with open(path, encoding="utf-8") as file:
            job = json.load(file)
        child = os.fork()
        if child == 0:
            code = run(job, out)
            sys.stderr.flush()
            os._exit(code)  # tearing down is not part of the run
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            return status if status > 0 else 128 - status
    return 0


if __name__ == "__main__":
    sys.exit(main())
