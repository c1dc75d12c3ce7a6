#!/usr/bin/env python3
"""What is said of times: times_test.py PATH/TO/tidemark"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["COLUMNS"] = "160"  # sentences stand in one line
SCENARIOS = ROOT / "validation" / "scenarios"
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "tidemark"


def tidemark(*words, **variables):
    env = {k: v for k, v in os.environ.items() if k not in ("TIDEMARK_TORCH", "TIDEMARK_ORACLE", "TIDEMARK_CUDA")}
    return subprocess.run([PROGRAM] + [str(w) for w in words], env={**env, **variables}, text=True, cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class Times(unittest.TestCase):
    def step(self, program, *words):
        """the simulated ms of what stands between two marks, on an RTX 3090 where no other is named"""
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "s.py"
            script.write_text("import torch\nimport torch.nn.functional as F\ntorch.cuda.synchronize()\n" + program + "torch.cuda.synchronize()\n")
            done = tidemark("run", script, *(words or ("--device", "rtx-3090")), "--format", "json")
        return json.loads(done.stdout)["end_ns"] / 1e6

    def test_time_follows_the_precision_that_is_computed_in(self):
        product = "x = torch.empty(8192, 8192, device='cuda', dtype=torch.%s)\nfor _ in range(8):\n    x @ x\n"
        a100 = ("--device", "a100-sxm-80gb")
        tf32 = "torch.backends.cuda.matmul.allow_tf32 = True\n"
        self.assertGreater(self.step(product % "float32", *a100), 5 * self.step(tf32 + product % "float32", *a100))
        accumulated = "torch.backends.cuda.matmul.allow_fp16_accumulation = True\n" + product % "float16"
        half = self.step(product % "float16")
        self.assertAlmostEqual(half / self.step(accumulated), 2, delta=0.1)  # a GeForce sums up in fp16 at twice the rate
        self.assertEqual(self.step(product % "float16", *a100), self.step(accumulated, *a100))  # a data center's card does not
        layer = ("c = torch.nn.Conv2d(64, 64, 3, padding=1).cuda().%s\nx = torch.empty(64, 64, 56, 56, device='cuda', dtype=torch.%s)\n"
                 "%sfor _ in range(64):\n    c(x)\n")
        whole = layer % ("float()", "float32", "")
        self.assertGreater(self.step("torch.backends.cudnn.allow_tf32 = False\n" + whole, *a100), 3 * self.step(whole, *a100))
        last = "c = c.to(memory_format=torch.channels_last)\nx = x.to(memory_format=torch.channels_last)\n"
        self.assertGreater(self.step(layer % ("half()", "float16", "")), 1.1 * self.step(layer % ("half()", "float16", last)))

    def test_a_step_of_small_kernels_waits_for_the_host(self):
        small = "x = torch.empty(8, device='cuda')\nfor _ in range(%d):\n    x = x + 1\n"
        few, many = self.step(small % 100), self.step(small % 1100)
        self.assertAlmostEqual(many - few, 5.0, delta=0.1)  # 1,000 kernels, 5 us of the host each: launch_overhead_ns

    def test_work_on_two_streams_overlaps(self):
        work = ("a = torch.empty(1 << 28, device='cuda')\nb = torch.empty(1 << 28, pin_memory=True)\nc = torch.empty(1 << 28, device='cuda')\n"
                "side = torch.cuda.Stream()\n%s    c.copy_(b, non_blocking=True)\nfor _ in range(40):\n    a.add_(1)\n")
        one, two = (self.step(work % head) for head in ("if True:\n", "with torch.cuda.stream(side):\n"))
        copy = self.step("c = torch.empty(1 << 28, device='cuda')\nb = torch.empty(1 << 28, pin_memory=True)\nc.copy_(b, non_blocking=True)\n")
        self.assertGreater(one - two, 0.8 * min(copy, two))

    def test_each_time_has_a_band(self):
        done = tidemark("run", SCENARIOS / "mlp.yaml", "--format", "json")
        time = json.loads(done.stdout)["time"]
        band = time["time_band"]
        self.assertEqual(band["basis"], "published")
        self.assertGreaterEqual(band["measurements"], 20)
        for figure in ("end", "step"):
            self.assertEqual(time[figure]["low_ns"], time[figure]["ns"] * band["low_thousandths"] // 1000)
            self.assertEqual(time[figure]["high_ns"], time[figure]["ns"] * band["high_thousandths"] // 1000)
        self.assertLess(time["step"]["ns"], time["end"]["ns"])
        text = tidemark("run", SCENARIOS / "mlp.yaml").stdout
        self.assertRegex(text, r"\nA step takes [0-9.]+ [mu]s \([0-9.]+ to [0-9.]+ [mu]s\): 8 of 10 published times lie so, docs/trust.md\n")


if __name__ == "__main__":
    unittest.main()
