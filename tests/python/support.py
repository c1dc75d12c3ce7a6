"""What the package's tests share: the program beside it, and scenarios small enough to compare whole."""
import json
import os
import pathlib
import subprocess

PROGRAM = os.environ.get("TIDEMARK_PROGRAM", "tidemark")
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs" / "scenarios"
SIMPLE = CONFIGS / "simple_conv.yaml"
TRACES = pathlib.Path(__file__).resolve().parents[1] / "golden" / "allocator"

MLP = """\
schema_version: 1
device: h100-sxm-80gb
params: {width: 512}
layers: [Linear(784, width), ReLU(), Linear(width, 10)]
train: {batch: 64, input: [784], target: [], loss: cross_entropy, optimizer: Adam(lr=1e-3)}
sweep:
  grid:
    batch: [16, 64]
    width: [256, 512, 1024]
"""


def program(*words):
    """what the command line prints"""
    done = subprocess.run([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def document(*words):
    return json.loads(program(*words, "--format", "json"))
