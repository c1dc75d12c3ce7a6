#!/usr/bin/env python3
"""Programs that generate: the key-value cache, tokens as steps, and how far a script's own numbers go.

    generation_test.py TIDEMARK
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATE = ROOT / "configs" / "scripts" / "generate.py"
TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line
LAYERS, WIDTH, HALF = 24, 1024, 2

BUFFERS = """import torch
from torch import nn
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.kv = nn.Linear(64, 64), nn.Linear(64, 128)
        self.register_buffer("seen", torch.zeros(4, 128, 128))
    def forward(self, x, at):
        self.seen[:, at:at + x.shape[1]] = self.kv(x)
        k, v = self.seen[:, :at + x.shape[1]].chunk(2, dim=-1)
        return nn.functional.scaled_dot_product_attention(self.q(x), k, v)
model = nn.ModuleList([Attention(), Attention()]).cuda()
class Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers
    def forward(self, x, at):
        for layer in self.layers:
            x = x + layer(x, at)
        return x
model = Model(model)
with torch.no_grad():
    x = torch.randn(4, 16, 64, device="cuda")
    for at in range(16, 48):
        x = model(x, 0 if at == 16 else at)[:, -1:]
"""
DENOISE = """import torch
from torch import nn
model = nn.Sequential(nn.Conv2d(4, 32, 3, padding=1), nn.SiLU(), nn.Conv2d(32, 4, 3, padding=1)).cuda()
with torch.no_grad():
    x = torch.randn(2, 4, 64, 64, device="cuda")
    for t in range(10):
        x = x - 0.1 * model(x)
"""
NAMES = """import torch
from torch import nn
def make(width: int = 64):
    return nn.Sequential(nn.Linear(width, 4096), nn.Linear(4096, width)).cuda()
def main():
    rows = 256
    model = make(width=128)
    with torch.no_grad():
        model(torch.empty(rows, 128, device="cuda"))
main()
"""


def run(*words, code=0):
    done = subprocess.run([TIDEMARK, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}\n{done.stderr}{done.stdout}")
    return done.stdout if code == 0 else done.stderr


def document(*words):
    end = words.index("--") if "--" in words else len(words)
    return json.loads(run(*words[:end], "--format", "json", *words[end:]))


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, text):
        path = self.folder / "script.py"
        path.write_text(text, encoding="utf-8")
        return path

    def device(self, text):
        return document("run", self.script(text), "--device", "t4")["devices"][0]


class Generate(WithFolder):
    def test_a_step_is_a_token_and_adds_its_keys_and_values(self):
        found = document("run", GENERATE, "--device", "rtx-4090", "--", "--batch-size", 4, "--new-tokens", 40)["devices"][0]
        self.assertEqual([phase["name"] for phase in found["phases"]], ["model", *(f"inference {i}" for i in range(40))])
        cache = found["kv_cache"]
        self.assertEqual(cache["bytes_per_step"], LAYERS * 2 * 4 * WIDTH * HALF)
        # The loop holds the keys and values of the token before while those of the last are made.
        self.assertEqual(cache["peak_bytes"], cache["bytes_per_step"] * (128 + 38 + 128 + 39))
        self.assertGreaterEqual(found["peak_allocated"]["by_category"]["kv_cache_bytes"], cache["peak_bytes"])

    def test_the_text_says_so(self):
        text = run("run", GENERATE, "--device", "rtx-4090")
        self.assertRegex(text, r"\nKV cache: [\d.]+ MiB at its highest; each step, a call of the model, adds 768 KiB \(786,432 bytes\)\n")
        self.assertRegex(text, r"\n  kv cache +[\d.]+ MiB ")
        self.assertIn("\nA step takes ", text)

    def test_a_cache_is_no_leak(self):
        text = run("run", GENERATE, "--device", "rtx-4090", "--why")
        self.assertNotIn("leak", text)
        why = run("run", GENERATE, "--device", "rtx-4090", "--why", "--", "--batch-size", 400, "--new-tokens", 512)
        self.assertIn("The KV cache holds ", why)

    def test_a_buffer_that_is_filled_in_part_does_not_grow(self):
        found = self.device(BUFFERS)
        self.assertEqual(found["kv_cache"], {"peak_bytes": 2 * 4 * 128 * 128 * 4, "bytes_per_step": 0, "growing_steps": 0})
        self.assertIn("KV cache: 512 KiB at its highest; the steps do not make it grow\n", run("run", self.script(BUFFERS), "--device", "t4"))

    def test_what_a_model_gives_back_is_no_cache(self):
        found = self.device(DENOISE)
        self.assertNotIn("kv_cache", found)
        self.assertEqual(found["phases"][-1]["name"], "inference 9")

    def test_training_has_its_own_steps(self):
        text = DENOISE + "for t in range(3):\n    with torch.no_grad():\n        model(x)\n"
        training = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nwith torch.no_grad():"
        found = self.device(text.replace("with torch.no_grad():", training, 1))
        self.assertEqual([phase["name"] for phase in found["phases"]], ["model", "inference 0"])


class OwnLoop(WithFolder):
    SCENARIO = """schema_version: 1
device: t4
model: {file: m.py, class: Attention}
loop: |
  with torch.no_grad():
      past = None
      for i in range(10):
          with STEP:
              past = model(torch.zeros(4, 1, 64, device="cuda"), past)
"""
    MODEL = """import torch
from torch import nn
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x, past):
        return self.inner(x, past)
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(64, 64)
    def forward(self, x, past):
        k = self.key(x)
        return k if past is None else torch.cat([past, k], 1)
"""

    def test_a_scenario_names_its_steps_itself(self):
        (self.folder / "m.py").write_text(self.MODEL, encoding="utf-8")
        path = self.folder / "s.yaml"
        path.write_text(self.SCENARIO.replace("STEP", 'phase(f"inference {i}")'), encoding="utf-8")
        self.assertEqual(document("run", path)["devices"][0]["kv_cache"]["bytes_per_step"], 4 * 64 * 4)
        path.write_text(self.SCENARIO.replace("STEP", "torch.no_grad()"), encoding="utf-8")
        self.assertRegex(run("run", path), r"\nKV cache: [\d.]+ KiB at its highest\n")


class Fit(WithFolder):
    def small(self):
        """the same on two layers, and what it is run on"""
        text = GENERATE.read_text(encoding="utf-8").replace("layers=24", "layers=2")
        return ("fit", self.script(text), "--device", "rtx-3060", "--set", "device.total=1GiB", "--window", 0)

    def test_an_option_of_the_script(self):
        words = self.small()
        default = document(*words, "--over", "new_tokens")
        self.assertEqual(default["path"], "--new-tokens")
        given = document(*words, "--over", "--new-tokens", "--", "--new-tokens=100")
        self.assertEqual((given["path"], given["best"]), ("--new-tokens", default["best"]))
        best = default["best"]
        again = ("run", words[1], *words[2:6], "--fail-on-oom", "--", "--new-tokens")
        run(*again, best)
        run(*again, best + 1, code=3)

    def test_the_largest_batch_beside_several_lengths(self):
        words = (*self.small(), "--over", "batch,new_tokens")
        found = document(*words)
        self.assertEqual((found["path"], found["beside"]), ("--batch-size", "--new-tokens"))
        self.assertEqual([row["beside"] for row in found["rows"]], [16, 32, 64, 128, 256, 512])
        best = [row["best"] for row in found["rows"]]
        self.assertEqual(best, sorted(best, reverse=True))
        alone = document(*words[:-1], "batch", "--", "--new-tokens", 256)
        self.assertEqual(alone["best"], best[4])
        text = run(*words).splitlines()
        self.assertEqual(text[0], "The largest --batch-size that fits, beside each --new-tokens")
        self.assertRegex(text[-1], rf"^ +512 +{best[5]} ")

    def test_a_name_of_the_code_and_a_line(self):
        path = self.script(NAMES)
        by_name = document("fit", path, "--device", "t4", "--over", "rows", "--window", 0)
        self.assertEqual(by_name["path"], "rows at script.py:6")
        by_line = document("fit", path, "--device", "t4", "--over", "script.py:6", "--window", 0)
        self.assertEqual((by_line["path"], by_line["best"]), ("script.py:6", by_name["best"]))
        self.assertIn("2 integers are written there", run("fit", path, "--device", "t4", "--over", "script.py:4", code=2))
        self.assertIn("width at script.py:7", run("fit", path, "--device", "t4", "--over", "width", "--highest", 128, "--window", 0))
        wrong = run("fit", path, "--device", "t4", "--over", "row", code=2)
        self.assertIn("has an integer of that name", wrong)
        self.assertIn("did you mean 'rows'?", wrong)

    def test_numbers_that_differ_are_named_by_their_places(self):
        path = self.script(NAMES.replace("    rows = 256", "    rows = 256\n    rows = 128"))
        wrong = run("fit", path, "--device", "t4", "--over", "rows", code=2)
        self.assertIn("the script has several: 256 at script.py:6, 128 at script.py:7; name the place: --over script.py:6", wrong)


if __name__ == "__main__":
    TIDEMARK = os.path.abspath(sys.argv.pop(1))
    unittest.main()
