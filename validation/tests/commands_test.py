#!/usr/bin/env python3
"""The commands of docs/validation.md, word by word in a fresh clone: commands_test.py PATH/TO/tidemark

Each line of its code blocks, in their order, in one folder. The pretend GPU stands for the card, a small scenario, script and trace for
the reader's own. Environment: as torch_test.py and harness_test.py. Exit codes: 0 passed, 1 failed, 77 there is no PyTorch that
environment.py made, or no CUDA toolkit.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent / "cuda" / "tests"))
import harness_test  # noqa: E402  it takes the program out of the command line

TORCH = os.environ.get("TIDEMARK_TORCH") or os.environ.get("TIDEMARK_ORACLE") or ""
SKIPPED = ("tidemark validate s.yaml --torch 2.6.0",  # takes 3 GB of the network
           "0 3 * * * ")  # of a crontab; what it calls is a command above
SCENARIO = """schema_version: 1
device: rtx-4090
model: {file: net.py, class: Net}
train: {batch: 64, steps: 3, input: [256], target: [], loss: cross_entropy, optimizer: Adam(lr=1e-3)}
"""
NET = """from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10))
    def forward(self, x):
        return self.layers(x)
"""
TRAIN = """import torch
x = torch.zeros(1 << 28, device="cuda")
for _ in range(3):
    x = x + 1
"""
TRACE = "tidemark-trace 1\nalloc 0 1000\nalloc 1 30000000\nfree 0\nalloc 2 5000000\n"


def commands():
    lines = (ROOT / "docs" / "validation.md").read_text().splitlines()
    return [line.strip() for line in lines if line.startswith("    ") and not line.strip().startswith("#")]


def profiled():
    """a trace of torch.profiler: products at half of the card's peak"""
    events = []
    for number, size in enumerate((2048, 3072, 4096, 6144)):
        args = {"External id": number, "Input Dims": [[size, size], [size, size]], "Input type": ["c10::BFloat16"] * 2}
        events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 1, "args": args},
                   {"ph": "X", "cat": "kernel", "name": "k", "ts": 0, "dur": 2 * size ** 3 / 80e12 * 1e6, "args": {"External id": number}}]
    return {"deviceProperties": [{"name": "NVIDIA GeForce RTX 4090", "computeMajor": 8, "computeMinor": 9}], "traceEvents": events}


class Commands(harness_test.Built):
    def setUp(self):
        self.clone = self.folder / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(self.clone)], check=True)
        home, programs = self.folder / "home", self.folder / "bin"
        home.mkdir()
        programs.mkdir()
        (home / "pretend").symlink_to(TORCH)  # made once
        (programs / "tidemark").symlink_to(harness_test.PROGRAM)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("FAKECUDA_", "TIDEMARK_"))}
        self.env.update(HOME=str(home), PATH="%s:%s:%s" % (programs, pathlib.Path(harness_test.nvcc()).parent, os.environ["PATH"]),
                        TIDEMARK_CUDA_FLAGS="-DTIDEMARK_CUDA_SHARED=ON -DCMAKE_CUDA_ARCHITECTURES=75", LD_LIBRARY_PATH=str(self.stubs), **harness_test.device.environment("rtx-4090"))
        for name, text in (("s.yaml", SCENARIO), ("net.py", NET), ("train.py", TRAIN), ("t.tmt", TRACE), ("trace.tmt", TRACE),
                           ("trace.json", json.dumps(profiled()))):
            (self.clone / name).write_text(text)

    def run_line(self, line):
        done = subprocess.run(["bash", "-c", line + "\nstatus=$?\nenv -0 >%s\nexit $status" % (self.folder / "env")], cwd=self.clone, env=self.env,
                              capture_output=True, text=True, check=False)
        self.env = dict(each.split("=", 1) for each in (self.folder / "env").read_text().split("\0") if "=" in each)
        return done

    def before(self, line):
        """what the reader has done or has by then"""
        if "--against snapshot:" in line:
            self.run_line("tidemark run s.yaml --set pytorch=2.11 --snapshot snapshot.pickle")
        if "--snapshot snapshot.pickle" in line:
            self.run_line("tidemark run s.yaml --set batch=2000000 --snapshot snapshot.pickle")
        if line == "tidemark run s.yaml --calibration calibration.yaml":
            self.run_line("tidemark calibrate --device rtx-4090")
        if line.startswith("validation/package.sh --take"):
            done = self.run_line("tar xf bundle.tar.gz && PYTHON=$HOME/pretend/run "
                                 "tidemark-bundle/measure && cp tidemark-bundle/results.tar.gz . && rm -r results")
            self.assertEqual(done.returncode, 0, done.stderr)

    def after(self, line):
        if line.startswith("cmake "):  # built with the runtime inside, which finds no card here: those of the pretend one take their place
            for program in (self.harness, self.probe):
                self.assertTrue((self.clone / "build" / "cuda" / program.name).exists())
                shutil.copy(program, self.clone / "build" / "cuda" / program.name)

    def test_each_works_as_it_stands(self):
        ran = 0
        for line in commands():
            if line.startswith(SKIPPED):
                continue
            self.before(line)
            done = self.run_line(line)
            self.assertEqual(done.returncode, 0, "%s\n%s%s" % (line, done.stdout[-2000:], done.stderr[-2000:]))
            self.after(line)
            ran += 1
        self.assertGreater(ran, 24)
        self.assertIn("# What this box says", (self.clone / "box.md").read_text())
        print("%d commands of docs/validation.md, %d left out" % (ran, len(commands()) - ran))


if __name__ == "__main__":
    if not os.path.isdir(TORCH) or harness_test.environment.toolkit() is None or harness_test.nvcc() is None:
        print("skipped: no PyTorch that environment.py made, or no CUDA toolkit here")
        sys.exit(77)
    unittest.main()
