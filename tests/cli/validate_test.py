#!/usr/bin/env python3
"""validate and record as a user meets them, with no PyTorch: validate_test.py PATH/TO/tidemark"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "validation" / "scenarios"
RECORDED = ROOT / "validation" / "recorded"
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "tidemark"


def tidemark(*words, **variables):
    env = {k: v for k, v in os.environ.items() if k not in ("TIDEMARK_TORCH", "TIDEMARK_ORACLE")}
    return subprocess.run([PROGRAM] + [str(w) for w in words], env={**env, **variables}, text=True, cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def recorded_scenarios():
    return [SCENARIOS / (p.stem + ".yaml") for p in sorted(RECORDED.glob("*.json"))]


class Recorded(unittest.TestCase):
    def test_the_recorded_runs_are_simulated_exactly(self):
        scenarios = recorded_scenarios()
        self.assertGreaterEqual(len(scenarios), 5)
        done = tidemark("validate", *scenarios, "--against", "recorded:%s" % RECORDED)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("%d of %d cases exact; 0 of " % (len(scenarios), len(scenarios)), done.stdout)
        self.assertIn("yes, foreseen", done.stdout)

    def test_another_setting_is_told_with_its_first_difference(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:%s" % RECORDED, "--set", "batch=257")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 of 1 cases exact", done.stdout)
        self.assertRegex(done.stdout, r"First difference: event \d+, differs in bytes")

    def test_a_smaller_device_makes_the_verdict_wrong(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:%s" % RECORDED, "--set", "device.total=500MiB",
                        "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["summary"]["wrong_oom_verdicts"], 1)
        self.assertTrue(answer["cases"][0]["oom_simulated"])
        self.assertLess(answer["cases"][0]["peak_reserved"]["error_ppm"], 0)
        self.assertEqual(answer["summary"]["peak_reserved"]["under"], 1)

    def test_the_page_is_well_formed_and_holds_both_curves(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:%s" % RECORDED, "--format", "html")
        picture = done.stdout[done.stdout.index("<svg"):done.stdout.index("</svg>") + 6]
        lines = [e.getAttribute("class") for e in xml.dom.minidom.parseString(picture).getElementsByTagName("polyline")]
        self.assertEqual(sorted(lines), ["measured", "measured free", "simulated", "simulated free"])

    def test_a_snapshot_of_the_same_program_is_exact(self):
        with tempfile.TemporaryDirectory() as folder:
            snapshot = pathlib.Path(folder) / "s.pickle"
            self.assertEqual(tidemark("run", SCENARIOS / "mlp.yaml", "--snapshot", snapshot).returncode, 0)
            done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "snapshot:%s" % snapshot)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"by segment and offset: 0 of \d+ allocations lie elsewhere")


class Refusals(unittest.TestCase):
    def test_no_pytorch_is_77(self):
        with tempfile.TemporaryDirectory() as folder:
            done = tidemark("validate", SCENARIOS / "mlp.yaml", TIDEMARK_CACHE=folder)
        self.assertEqual(done.returncode, 77)
        self.assertEqual(done.stderr, "no PyTorch was found; validation/pretend/environment.py FOLDER makes one that needs no GPU, and "
                                      "TIDEMARK_TORCH=FOLDER names it\n")

    def test_an_unknown_target_is_named(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "tourch")
        self.assertEqual((done.returncode, done.stderr), (2, "error: --against: expected torch, cuda, recorded:FOLDER or snapshot:FILE, "
                                                             "found 'tourch'; did you mean 'torch'?\n"))

    def test_a_folder_without_the_case_is_named(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:nowhere")
        self.assertEqual(done.returncode, 4)
        self.assertIn("nowhere/mlp.json: No such file or directory", done.stderr)

    def test_record_runs_python_alone(self):
        done = tidemark("record", "--", "torchrun", "train.py")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "record: 'torchrun' is no Python program; what it starts cannot be watched. Give the script itself: "
                             "-- python train.py (of several ranks, one process)\n"))

    def test_record_says_when_the_script_is_not_there(self):
        done = tidemark("record", "--", "python3", "no-such-script.py")
        self.assertEqual((done.returncode, done.stderr), (4, "record: no-such-script.py: no such file\n"))

    def test_record_refuses_a_device_smaller_than_its_context(self):
        done = tidemark("record", "--device-bytes", "100MiB", "--", "python3", "x.py")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "error: --device-bytes: the CUDA context alone takes more than that\n"))


if __name__ == "__main__":
    unittest.main()
