#!/usr/bin/env python3
"""What the real PyTorch asks its CPU allocator for, of the scripts beside this one, into expected.json.

    record.py [SCRIPT...]

Needs PyTorch 2.11 and a GPU, or a pretend one. Changes of fewer than 64 bytes are left out: numbers that operators wrap for the length of
a call, and single values.
"""
import json
import pathlib
import sys

import torch
from torch.profiler import ProfilerActivity, profile

HERE = pathlib.Path(__file__).resolve().parent
LEAST = 64


def changes(script):
    code = compile(script.read_text(), str(script), "exec")
    names = {"__name__": "__main__"}
    torch.zeros(1, device="cuda")
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as told:
        exec(code, names)
    events = [e for e in told.profiler.kineto_results.events() if e.name() == "[memory]" and "CPU" in str(e.device_type())]
    return [e.nbytes() for e in sorted(events, key=lambda e: e.start_ns()) if abs(e.nbytes()) >= LEAST]


path = HERE / "expected.json"
expected = json.loads(path.read_text()) if path.exists() else {}
scripts = [HERE / name for name in sys.argv[1:]] or sorted(p for p in HERE.glob("*.py") if p.name not in ("record.py", "host_test.py"))
for script in scripts:
    expected[script.name] = changes(script)
    print(script.name, len(expected[script.name]), "changes")
path.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(expected[name])}" for name in sorted(expected)) + "\n}\n")
