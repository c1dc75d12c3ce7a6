#!/usr/bin/env python3
"""tools/budget_check, which the action and the pre-commit hook call: what holds, what is broken, and where it is told.

    budget_test.py TIDEMARK
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
HOLDS = "configs/scenarios/simple_conv.yaml --assert 'peak_reserved < 200MiB'\n"


class Budgets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, text, env=None):
        file = self.folder / "tidemark.budget"
        file.write_text(text, encoding="utf-8")
        plain = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        return subprocess.run([sys.executable, ROOT / "tools/budget_check", file, "--tidemark", TIDEMARK, "--sarif", self.folder / "o.sarif"],
                              cwd=ROOT, capture_output=True, text=True, check=False, env={**plain, **(env or {})})

    def results(self):
        return json.loads((self.folder / "o.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]

    def test_what_holds_is_told_with_its_figures(self):
        done = self.check("# a comment\n\n" + HOLDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f"{self.folder}/tidemark.budget:3: holds: NVIDIA H100 80GB HBM3, 110 MiB, 78.6 GiB\n")
        self.assertEqual(self.results(), [])

    def test_what_is_broken_is_told_at_its_line(self):
        script = self.folder / "train.py"
        script.write_text("import torch\nx = torch.zeros(2**30, device='cuda')\ny = torch.zeros(3) @ torch.zeros(4)\n", encoding="utf-8")
        text = (HOLDS + "configs/scenarios/simple_conv.yaml --assert 'peak_reserved < 20MiB'\n"
                + "configs/scripts/train.py --device rtx-3060 -- --batch-size 64\n" + f"{script} --device a10g\n" + "configs/scripts/train.py --device rtx-3061\n")
        summary = self.folder / "summary.md"
        done = self.check(text, {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        own = f"{self.folder}/tidemark.budget"
        told = [(each["ruleId"], each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
                 each["locations"][0]["physicalLocation"]["region"]["startLine"]) for each in self.results()]
        self.assertEqual(told, [("assertion", own, 2), ("out-of-memory", own, 3), ("error", str(script), 3), ("error", own, 5)])
        self.assertIn(f"::error file={own},line=2,col=1,title=Tidemark assertion::peak_reserved < 20MiB: peak_reserved is 110.00 MiB (115343360 bytes)\n", done.stdout)
        self.assertIn(f"::error file={script},line=3,col=", done.stdout)
        table = summary.read_text(encoding="utf-8")
        self.assertTrue(table.startswith("### Memory: 4 of 5 budgets broken\n"), table)
        self.assertIn("| NVIDIA GeForce RTX 3060 | 9.22 GiB |  | **out of memory at step 0, backward: NllLossBackward0: 3.06 GiB asked for, 2.39 GiB free** |", table)
        self.assertEqual(table.count("\n|"), 2 + 5)

    def test_a_file_that_is_not_there_is_told(self):
        done = subprocess.run([sys.executable, ROOT / "tools/budget_check", "none.budget", "--tidemark", TIDEMARK], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "error: none.budget: No such file or directory\n"))

    def test_the_action_and_the_hook_call_what_is_there(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        self.assertEqual(action["runs"]["using"], "composite")
        # A checkout whose program is built, as the action's cache brings it.
        checkout = self.folder / "checkout"
        (checkout / "build/release/bin").mkdir(parents=True)
        shutil.copytree(ROOT / "tools", checkout / "tools")
        (checkout / "build/release/bin/tidemark").symlink_to(TIDEMARK)
        summary = self.folder / "summary.md"
        for given in ("", TIDEMARK):
            inputs = {"budgets": self.budget(), "sarif": str(self.folder / "a.sarif"), "tidemark": given}
            played = self.play(action, inputs, {"GITHUB_ACTION_PATH": str(checkout), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true"})
            self.assertEqual(played, ["Check the budgets"] if given else ["Keep what was built", "Build", "Check the budgets"])
            self.assertIn("| holds |", summary.read_text(encoding="utf-8"))
            self.assertEqual(json.loads((self.folder / "a.sarif").read_text(encoding="utf-8"))["version"], "2.1.0")
        hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]
        self.assertTrue(os.access(ROOT / hook["entry"], os.X_OK))

    def play(self, action, inputs, variables):
        """Plays the steps as a runner does, but for `uses`; the names of those that it plays."""
        self.assertEqual(set(inputs), set(action["inputs"]))

        def filled(text):
            return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)

        played = []
        for step in action["runs"]["steps"]:
            condition = step.get("if", "true")
            self.assertIn(condition, ("true", "inputs.tidemark == ''"))
            if condition != "true" and inputs["tidemark"]:
                continue
            played.append(step["name"])
            if "uses" in step:
                continue
            own = {name: filled(value) for name, value in step.get("env", {}).items()}
            done = subprocess.run([step["shell"], "-e", "-c", filled(step["run"])], cwd=ROOT, capture_output=True, text=True, check=False,
                                  env={**os.environ, **variables, **own})
            self.assertEqual((done.returncode, done.stderr), (0, ""), step["name"])
        return played

    def budget(self):
        file = self.folder / "b.budget"
        file.write_text(HOLDS, encoding="utf-8")
        return str(file)


if __name__ == "__main__":
    TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() else 1)
