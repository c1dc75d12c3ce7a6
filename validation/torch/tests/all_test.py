#!/usr/bin/env python3
"""`tidemark validate --all` end to end on the pretend GPU, with PyTorch and the harness: all_test.py PATH/TO/tidemark

Environment: as torch_test.py and harness_test.py. Exit codes: 0 passed, 1 failed, 77 there is no PyTorch or no CUDA toolkit.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "cuda" / "tests"))
import harness_test  # noqa: E402  it takes the program out of the command line

PROGRAM, SCENARIOS, TORCH = harness_test.PROGRAM, harness_test.SCENARIOS, os.environ.get("TIDEMARK_TORCH") or os.environ.get("TIDEMARK_ORACLE")
CASES = ("mlp", "conv_batches")


class All(harness_test.Built):
    def command(self, report, *words, cases=CASES):
        return [str(w) for w in (PROGRAM, "validate", "--all", "--report", report, "--device", "a100-sxm-80gb", *words,
                                 *(SCENARIOS / (name + ".yaml") for name in cases))]

    def variables(self, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FAKECUDA_")}
        return {**env, "TIDEMARK_TORCH": TORCH, "TIDEMARK_CUDA": str(self.harness), "LD_LIBRARY_PATH": str(self.stubs), **variables}

    def all(self, report, *words, cases=CASES, **variables):
        return subprocess.run(self.command(report, *words, cases=cases), env=self.variables(**variables), capture_output=True, text=True, check=False)

    def made(self, report):
        """when each case was measured"""
        return {path.stem: path.stat().st_mtime_ns for path in pathlib.Path(str(report) + ".results").glob("*-*.json")}

    def test_a_run_that_is_interrupted_goes_on_and_a_whole_one_begins_anew(self):
        report = self.folder / "box.md"
        process = subprocess.Popen(self.command(report), env=self.variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        began = time.monotonic()
        while len(self.made(report)) < 2 and process.poll() is None and time.monotonic() - began < 500:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.assertNotEqual(process.returncode, 0)
        first = self.made(report)
        self.assertTrue(2 <= len(first) < 4, first)
        self.assertFalse(report.exists())
        done = self.all(report)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        second = self.made(report)
        self.assertEqual(sorted(second), ["cuda-conv_batches", "cuda-mlp", "torch-conv_batches", "torch-mlp"])
        self.assertEqual({name: second[name] for name in first}, first)
        text = report.read_text()
        for line in ("# What this box says\n", "## PyTorch ran each scenario's own program\n", "## The harness executed each scenario's plan\n",
                     "## Times of a step\n", "## The card, calibrated\n", "- peaks of reserved memory told too low: 0 of 2\n",
                     "- wrong verdicts, fits or does not: 0 of 2\n", "Measured inside a process of PyTorch\n", "(the pretend GPU: "):
            self.assertIn(line, text)
        for name in CASES:
            self.assertRegex(text, r"\| %s \| \d+ \| 0 \| 0 \| 0 \| 0 \| right \|" % name)
        self.assertNotIn("Not done", text)
        self.assertLess(time.monotonic() - began, 3600)
        again = self.folder / "again.json"
        os.rename(str(report) + ".results", str(again) + ".results")  # whole: nothing of it is taken
        done = self.all(again, "--minutes", "0")
        self.assertEqual((done.returncode, self.made(again)), (75, {}), done.stderr)
        self.assertEqual(json.loads(again.read_text())["unfinished"], 5)  # four cases, the calibration

    def test_what_differs_and_what_fails_is_told_and_measured_again(self):
        report = self.folder / "bad.md"
        done = self.all(report, cases=("mlp",), FAKECUDA_LOST_AFTER="20")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("| mlp | not compared: ", report.read_text())
        done = self.all(report, cases=("mlp",), FAKECUDA_FAIL_MEMORY="3-")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(report.read_text(), r"\| mlp \| \d+ \| [1-9]\d* \|.*\| WRONG \|")


if __name__ == "__main__":
    if not TORCH or harness_test.environment.toolkit() is None or harness_test.nvcc() is None:
        print("skipped: no PyTorch, or no CUDA toolkit here")
        sys.exit(77)
    unittest.main()
