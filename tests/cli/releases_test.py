#!/usr/bin/env python3
"""What a user meets of PyTorch's releases: releases_test.py TIDEMARK [Releases|Recordings]

Recordings: public recordings of real GPUs under 2.6, 2.9 and 2.11, where they are: TIDEMARK_SHARED, or ../shared. Exit code 77: they are not.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
SNAPSHOTS = pathlib.Path(os.environ.get("TIDEMARK_SHARED", ROOT.parent / "shared")) / "snapshots"
PROGRAMS = sorted((ROOT / "validation" / "snapshots").glob("*.yaml"))
MLP = """\
schema_version: 1
device: h100
%s
model:
  code: |
    def make():
        return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
  function: make
loop: |
  opt = torch.optim.%s(model.parameters())
  x = torch.zeros(32, 64, device="cuda")
  loss = torch.tensor_split(model(x), 2)[0].sum()
  loss.backward()
  opt.step()
"""


def run(*words, **variables):
    env = {k: v for k, v in os.environ.items() if k not in ("TIDEMARK_TORCH", "TIDEMARK_ORACLE")}
    return subprocess.run([TIDEMARK, *map(str, words)], cwd=ROOT, env={**env, **variables}, capture_output=True, text=True, check=False)


class Releases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = self.folder / "s.yaml"
        self.write("")

    def write(self, pytorch, optimizer="AdamW", more=""):
        self.scenario.write_text(MLP % (pytorch, optimizer) + more)

    def device(self, *words):
        done = run("run", self.scenario, "--format", "json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["devices"][0]

    def test_a_scenario_that_names_none_is_told_which_was_taken(self):
        self.assertIn("; PyTorch 2.15 by default; ", run("run", self.scenario).stdout)
        taken = self.device()
        self.assertEqual((taken["pytorch"], taken["pytorch_by_default"]), ("2.15", True))
        named = self.device("--set", "pytorch=2.15")
        self.assertEqual((named.pop("pytorch_by_default"), taken.pop("pytorch_by_default")), (False, True))
        self.assertEqual(named, taken)
        self.assertIn("; PyTorch 2.11; ", run("run", self.scenario, "--set", "pytorch=2.11").stdout)

    def test_a_release_that_is_not_known_is_refused_and_another_may_stand_for_it(self):
        refused = run("run", self.scenario, "--pytorch", "2.16")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the newest that Tidemark knows is 2.15; `tidemark run --pytorch-like 2.15` takes its rules", refused.stderr)
        self.write('pytorch: "2.16"')
        self.assertEqual(run("run", self.scenario).returncode, 2)
        taken = run("run", self.scenario, "--pytorch-like", "2.15")
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertEqual(taken.stderr, "note: PyTorch 2.15 stands for the release that runs the program\n")

    def test_what_a_release_lacks_is_refused_by_name(self):
        for optimizer, last, first in (("Muon", "2.8", "2.9"), ("Adafactor", "2.4", "2.5")):
            self.write("", optimizer)
            refused = run("run", self.scenario, "--set", "pytorch=" + last)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"has no attribute '{optimizer}'", refused.stderr)
            self.assertIn(f"torch.optim.{optimizer} is there since PyTorch {first}", refused.stderr)
            done = run("run", self.scenario, "--set", "pytorch=" + first)
            # Muon takes matrices alone, and says so.
            self.assertNotIn("has no attribute", done.stderr)

    def test_names_and_arguments_of_later_releases_are_refused_with_the_release_that_has_them(self):
        attention = "q = torch.zeros(1, 4, 8, 8, device='cuda')\ntorch.nn.functional.scaled_dot_product_attention(q, q, q, enable_gqa=True)\n"
        for line, hint in (
            ("from torch.optim import Muon", "torch.optim.Muon is there since PyTorch 2.9"),
            ("from torch.optim import Adafactor", "torch.optim.Adafactor is there since PyTorch 2.5"),
            ("from torch.nn import Buffer", "torch.nn.Buffer is there since PyTorch 2.5"),
            (attention, "'enable_gqa' is there since PyTorch 2.5"),
        ):
            with self.subTest(line):
                script = self.folder / "later.py"
                script.write_text("import torch\n" + line + "\n")
                refused = run("run", script, "--device", "h100-sxm-80gb", "--set", "pytorch=2.4")
                self.assertEqual(refused.returncode, 2)
                self.assertIn(hint, refused.stderr)
                done = run("run", script, "--device", "h100-sxm-80gb", "--set", "pytorch=2.9")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_operators_that_are_not_known_to_be_exact_are_told_by_name(self):
        line = "Not yet known to be exact under PyTorch 2.4: tensor_split\n"
        self.assertIn(line, run("run", self.scenario, "--set", "pytorch=2.4").stdout)
        document = json.loads(run("run", self.scenario, "--set", "pytorch=2.4", "--format", "json").stdout)
        self.assertEqual(document["unproven_operators"], ["tensor_split"])
        self.assertNotIn("Not yet known", run("run", self.scenario, "--set", "pytorch=2.5").stdout)
        document = json.loads(run("run", self.scenario, "--set", "pytorch=2.5", "--format", "json").stdout)
        self.assertNotIn("unproven_operators", document)

    def test_operators_that_ran_on_the_host_alone_are_not_told(self):
        script = self.folder / "host.py"
        text = "import torch\nx = torch.ones(8, device=%r)\nx.random_()\nx.abs_()\n"
        for device, told in (("cpu", []), ("cuda", ["abs_", "random_"])):
            script.write_text(text % device, encoding="utf-8")
            document = json.loads(run("run", script, "--device", "t4", "--format", "json").stdout)
            self.assertEqual(document.get("unproven_operators", []), told)

    def test_several_releases_are_compared_a_line_each(self):
        done = run("run", self.scenario, "--pytorch", "2.6,2.11,2.15")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[1:4]], ["2.6", "2.11", "2.15"])

    def test_a_sweep_has_releases_as_an_axis(self):
        releases = ["2.6", "2.11", "2.12", "2.15"]
        self.write("", more='sweep: {grid: {pytorch: %s, allocator.conf: ["", "roundup_power2_divisions:4"]}}\n' % json.dumps(releases))
        done = run("sweep", self.scenario, "--out", self.folder / "out.sqlite")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(run("results", self.folder / "out.sqlite", "--format", "json").stdout)
        self.assertEqual(len(rows), 2 * len(releases))
        for row in rows:
            alone = self.device("--set", "pytorch=%s" % row["pytorch"], "--set", "allocator.conf=%s" % json.dumps(row["allocator.conf"]))
            self.assertEqual((row["peak_reserved"], row["peak_allocated"]), (alone["peak_reserved"]["bytes"], alone["peak_allocated"]["bytes"]), row)
        # The workspaces of cuBLASLt alone make them differ.
        self.assertGreater(len({row["peak_allocated"] for row in rows}), 2)

    def test_a_measurement_brings_its_own_release(self):
        name = "mlp"
        scenario = ROOT / "validation" / "scenarios" / (name + ".yaml")
        recorded = ROOT / "validation" / "recorded"
        self.assertTrue(json.loads((recorded / (name + ".json")).read_text())["provenance"]["torch"].startswith("2.11."))
        self.assertEqual(run("validate", scenario, "--against", "recorded:%s" % recorded).returncode, 0)
        refused = run("validate", scenario, "--against", "recorded:%s" % recorded, "--set", "pytorch=2.15")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the scenario asks for PyTorch 2.15, the other side is of 2.11.0", refused.stderr)

    def test_validate_takes_the_release_that_it_is_asked_for(self):
        program = self.folder / "torch-2.6.0" / "run"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\nexit 77\n")
        program.chmod(0o755)
        done = run("validate", self.scenario, "--torch", "2.6.0", TIDEMARK_CACHE=str(self.folder))
        self.assertEqual(done.returncode, 77)
        self.assertIn("%s sees no CUDA device" % program, done.stderr)
        done = run("validate", self.scenario, "--torch", "2.6.0", "--against", "recorded:%s" % self.folder)
        self.assertIn("--torch: is for --against torch", done.stderr)


class Recordings(unittest.TestCase):
    def test_programs_equal_what_was_recorded_of_them_on_real_gpus(self):
        self.assertGreaterEqual(len(PROGRAMS), 5)
        for program in PROGRAMS:
            with self.subTest(program.stem):
                done = run("validate", program, "--against", "snapshot:%s" % (SNAPSHOTS / (program.stem + ".pickle")))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("1 of 1 cases exact; 0 of ", done.stdout)


if __name__ == "__main__":
    TIDEMARK = os.path.abspath(sys.argv.pop(1))
    if "Recordings" in sys.argv and not SNAPSHOTS.is_dir():
        print("skipped: no recordings of real GPUs in %s" % SNAPSHOTS)
        sys.exit(77)
    unittest.main()
