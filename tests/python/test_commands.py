"""advise(), tune(), describe(), diff(), report(), validate(), the program: the command line's answers as objects."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import CONFIGS, MLP, SIMPLE, document, program

import tidemark

ROOT = CONFIGS.parents[1]
OPTIONS = {"batch": 4096, "device.total": "2GiB"}
WORDS = ("--set", "batch=4096", "--set", "device.total=2GiB")
SCRIPT = """\
import torch
from torch import nn
model = nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    loss = model(torch.randn(64, 512, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


class Advise(unittest.TestCase):
    def test_changes_are_the_command_lines(self):
        advice = tidemark.advise(SIMPLE, set=OPTIONS, allow="numerics")
        self.assertEqual(advice.document, document("advise", SIMPLE, *WORDS, "--allow", "numerics"))
        self.assertFalse(advice.fits)
        self.assertTrue(advice.best.fits)
        self.assertEqual([change.number for change in advice.changes], list(range(1, len(advice.changes) + 1)))
        self.assertEqual(list(advice.frame()["number"]), [change.number for change in advice.changes])
        self.assertIn("<table", advice._repr_html_())

    def test_what_is_written_runs(self):
        with tempfile.TemporaryDirectory(dir=CONFIGS) as folder:
            path = os.path.join(folder, "fits.yaml")
            tidemark.advise(SIMPLE, set=OPTIONS).write(path)
            self.assertTrue(tidemark.run(path).fits)

    def test_of_a_script_it_is_a_patch(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train.py"
            path.write_text(SCRIPT, encoding="utf-8")
            advice = tidemark.advise(path, device="t4")
            number = next(change.number for change in advice.changes if change.remedies == ("step-in-backward",))
            self.assertIn("+    optimizer[own_weight].step()", advice.diff(number))


class Others(unittest.TestCase):
    def test_tune(self):
        tuning = tidemark.tune(SIMPLE, shuffles=1)
        self.assertEqual(tuning.document, document("tune", SIMPLE, "--shuffles", "1"))
        self.assertEqual(tuning.frame()["alloc_conf"][0], tuning.settings[0]["alloc_conf"])
        self.assertIn(tuning.best, str(tuning))

    def test_describe(self):
        model = ROOT / "configs" / "models" / "simple_conv.py"
        found = tidemark.describe(model, model_class="SimpleConv", args=["image=32"], inputs=["64,3,32,32"])
        self.assertEqual(found.parameters, 42442)
        self.assertEqual(list(found.frame()["path"])[:2], ["SimpleConv", "conv1"])
        self.assertEqual(tidemark.describe(tidemark.Scenario.from_text(MLP)).parameters, 784 * 512 + 512 + 512 * 10 + 10)

    def test_diff(self):
        self.assertTrue(tidemark.diff(SIMPLE, set_b={"batch": 64}).differs)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "e.csv")
            program("run", SIMPLE, "--events", path)
            self.assertFalse(tidemark.diff(path, path).differs)

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            page = tidemark.report(SIMPLE, os.path.join(folder, "r.html"), set={"batch": 8})
            self.assertTrue(page.html.startswith("<!DOCTYPE html>") or page.html.startswith("<!doctype html>"))
            self.assertIn("<iframe", page._repr_html_())

    def test_validate(self):
        recorded = "recorded:" + str(ROOT / "validation" / "recorded")
        found = tidemark.validate(ROOT / "validation" / "scenarios" / "mlp.yaml", against=recorded)
        self.assertTrue(found.exact)
        self.assertEqual(len(found.frame()), 1)

    def test_wrong_input_is_an_error_with_its_place(self):
        with self.assertRaises(tidemark.InputError) as raised:
            tidemark.describe(ROOT / "configs" / "models" / "simple_conv.py", model_class="Nothing")
        self.assertTrue(raised.exception.problems)
        with self.assertRaises(OSError):
            tidemark.tune("nothing.yaml")

    def test_the_package_brings_the_program(self):
        ours = os.path.join(os.path.dirname(sys.executable), "tidemark")
        done = subprocess.run([ours, "run", str(SIMPLE)], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, program("run", SIMPLE))


if __name__ == "__main__":
    unittest.main()
