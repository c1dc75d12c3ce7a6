#!/usr/bin/env python3
"""What --why, --equation, --process, fit and torch.cuda.memory_summary() print, as a user gets it.

    why_test.py TIDEMARK
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line


def run(*words):
    return subprocess.run([TIDEMARK, *words], cwd=ROOT, capture_output=True, text=True, check=False)


class Why(unittest.TestCase):
    def test_a_refusal_is_explained_without_asking(self):
        done = run("run", "configs/scenarios/gpt2.yaml", "--set", "batch_size=400", "--fail-on-oom")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("Why: activations at forward (forward 0, blocks.7.c_attn: addmm)", done.stdout)
        self.assertIn("Forward holds 75.86 GiB of activations; live and asked for come to 79.30 GiB of 78.66 GiB.", done.stdout)
        options = re.search(r"tidemark run SCENARIO (--set .*)", done.stdout).group(1).split()
        again = run("run", "configs/scenarios/gpt2.yaml", "--set", "batch_size=400", *options)
        self.assertIn("FITS.", again.stdout)

    def test_a_healthy_run_is_called_so_with_its_headroom(self):
        done = run("run", "configs/scenarios/simple_conv.yaml", "--why")
        self.assertIn("Why: healthy\n", done.stdout)
        self.assertIn("78.6 GiB (84,348,764,160 bytes)", done.stdout)
        self.assertNotIn("Tried", done.stdout)

    def test_the_equation_and_what_it_leaves_out_come_to_the_peak(self):
        done = run("run", "configs/scenarios/simple_conv.yaml", "--equation")
        part = done.stdout[done.stdout.index("Memory equation"):]
        last = {line.split("  ")[1].strip(): int(line.split()[-1].replace(",", ""))
                for line in part.splitlines() if re.search(r"[\d,]+$", line) and line.startswith("  ")}
        left_out = ("library workspaces", "temporaries", "rounding inside blocks")
        self.assertEqual(last["= equation"] + sum(last[name] for name in left_out), last["= peak allocated"])
        self.assertEqual(last["= peak allocated"], 91404288)  # the article's model, step 0: what PyTorch reports

    def test_a_batch_made_on_the_device_is_the_batch(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train.py"
            path.write_text("""import torch
model = torch.nn.Linear(1000, 1000).cuda()
for step in range(2):
    batch = torch.randn(64, 1000, device="cuda")
    model(batch).sum().backward()
""")
            done = run("run", str(path), "--device", "t4", "--equation")
        line = next(each for each in done.stdout.splitlines() if "+ batch" in each)
        self.assertEqual(line.split()[-2:], ["512,000", "256,000"])  # 64 x 1000 floats, the last step's beside the one before

    def test_the_process_view_is_context_and_reserved(self):
        done = run("run", "configs/scenarios/simple_conv.yaml", "--process")
        self.assertIn("this process          638MiB  668,991,488", done.stdout)
        self.assertIn("Uncertain: ", done.stdout)

    def test_json_has_the_class_the_proof_and_what_was_tried(self):
        done = run("run", "configs/scenarios/gpt2.yaml", "--set", "batch_size=400", "--why", "--format", "json")
        found = json.loads(done.stdout)
        self.assertEqual((found["kind"], found["fault"]), ("diagnosis", "activations"))
        best = found["tried"][found["smallest"]]
        self.assertEqual((best["remedies"], best["undoes"]), (["micro-batch"], True))
        self.assertEqual(best["overrides"], {"train.batch": "50", "train.accumulate": "8"})
        self.assertEqual(next(line["bytes"] for line in found["proof"] if line["what"] == "asked for"), 1887436800)

    def test_formats_that_cannot_hold_them_are_refused(self):
        for option, message in (("--why", "is for --format text and json"), ("--equation", "is for --format text")):
            done = run("run", "configs/scenarios/simple_conv.yaml", option, "--format", "csv")
            self.assertEqual((done.returncode, done.stderr), (2, f"error: {option}: {message}\n"))


class Fit(unittest.TestCase):
    def test_json_has_the_answer_and_every_run(self):
        done = run("fit", "configs/scenarios/gpt2.yaml", "--format", "json", "--window", "3")
        found = json.loads(done.stdout)
        by_value = {probe["value"]: probe["fits"] for probe in found["probes"]}
        self.assertTrue(by_value[found["best"]])
        self.assertFalse(by_value[found["best"] + 1])
        self.assertEqual(found["holes"], [value for value, fits in by_value.items() if value < found["best"] and not fits])

    def test_the_smallest_gpu_is_found(self):
        done = run("fit", "configs/scenarios/gpt2.yaml", "--over", "device")
        rows = [line.split() for line in done.stdout.splitlines()[2:]]
        first = next(row[0] for row in rows if "fits" in row)
        self.assertTrue(done.stdout.startswith(f"{first} is the smallest GPU that fits\n"), done.stdout)

    def test_a_wrong_share_is_refused(self):
        done = run("fit", "configs/scenarios/gpt2.yaml", "--headroom", "five")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "error: --headroom: expected a share from 0% to below 100%, found 'five'\n"))


class Summary(unittest.TestCase):
    def test_memory_summary_is_pytorchs_character_by_character(self):
        golden = ROOT / "tests/golden/reports"
        real = gzip.decompress((golden / "memory_summary.txt.gz").read_bytes()).decode()
        done = run("run", str(golden / "memory_summary.yaml"))
        self.assertEqual(done.stdout[: len(real)].splitlines(), real.splitlines())


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    unittest.main()
