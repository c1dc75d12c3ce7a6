#!/usr/bin/env python3
"""What a run rests on is told: branches on values that nobody knows, and how --assume sets them.

    assume_test.py PATH/TO/tidemark
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = sys.argv.pop(1)
HEAD = "import math, torch\nx = torch.randn(4, 8, device='cuda')\n"


class Assumptions(unittest.TestCase):
    def run_script(self, body, *options):
        """the report as JSON, or the text of the refusal"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "s.py"
            path.write_text(HEAD + body, encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--format", "json", *options],
                                  capture_output=True, text=True, check=False, cwd=folder)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def told(self, report):
        return [(a["line"], a["text"], a["direction"], a["kind"], a["times"]) for a in report.get("assumptions", [])]

    def test_a_branch_that_leaves_is_not_taken_and_told_with_its_count(self):
        report = self.run_script("for i in range(3):\n    if x.sum().item() > 5:\n        break\nprint(i)\n")
        self.assertEqual(report["printed"], "2\n")
        self.assertEqual(self.told(report), [(4, "x.sum().item() > 5", False, "branch", 3)])

    def test_where_the_other_branch_leaves_the_condition_holds(self):
        report = self.run_script("if x.sum() > 5:\n    print('goes on')\nelse:\n    raise ValueError\n")
        self.assertEqual(report["printed"], "goes on\n")
        self.assertEqual(self.told(report), [(3, "x.sum() > 5", True, "branch", 1)])

    def test_an_assertion_holds_whichever_way_it_is_written(self):
        report = self.run_script("assert x.sum() > 5\nassert not x.mean().item() > 3\n")
        self.assertEqual(self.told(report), [(3, "x.sum() > 5", True, "branch", 1),
                                             (4, "not x.mean().item() > 3", False, "branch", 1)])

    def test_checks_for_faults_find_none(self):
        report = self.run_script("loss = x.sum()\nprint(math.isnan(loss.item()), torch.isfinite(loss).all().item(), "
                                 "torch.allclose(x, x + 1), loss.item() < math.inf, torch.equal(x, x))\n")
        self.assertEqual(report["printed"], "False True True True True\n")
        self.assertEqual({kind for _, _, _, kind, _ in self.told(report)}, {"check"})

    def test_a_size_is_refused_with_its_line_unless_it_is_given(self):
        body = "n = int((x > 0).sum())\nprint(torch.zeros(n).shape)\n"
        text = self.run_script(body)
        self.assertIn("s.py:4:", text)
        self.assertIn("a size depends on a value that is not known, read at s.py:3", text)
        self.assertIn("--assume s.py:3=NUMBER", text)
        self.assertEqual(self.run_script(body, "--assume", "s.py:3=7")["printed"], "torch.Size([7])\n")

    def test_a_mask_whose_count_is_not_known_is_refused(self):
        text = self.run_script("print(x[x > 0].shape)\n")
        self.assertIn("a size depends on a value that is not known", text)
        self.assertEqual(self.run_script("print(x[x > 0].shape)\n", "--assume", "s.py:3=5")["printed"], "torch.Size([5])\n")

    def test_a_loop_without_another_end_is_refused_and_one_with_a_bound_runs_to_it(self):
        self.assertIn("how often this loop runs depends on a value that is not known",
                      self.run_script("while x.sum() > 0:\n    x = x * 2\n"))
        report = self.run_script("n = 0\nwhile x.sum() > 0 and n < 5:\n    n += 1\nprint(n)\n")
        self.assertEqual(report["printed"], "5\n")

    def test_a_condition_may_be_given(self):
        body = "if x.sum() > 5:\n    print('yes')\n"
        self.assertEqual(self.run_script(body)["printed"], "")
        report = self.run_script(body, "--assume", "s.py:3=true")
        self.assertEqual((report["printed"], self.told(report)[0][3]), ("yes\n", "given"))

    def test_numbers_made_of_unknown_ones_are_unknown_and_print_as_such(self):
        report = self.run_script("total = 0.0\nfor i in range(2):\n    total += x.sum().item()\n"
                                 "print(f'{total / 2:.3f}', max(total, 1), round(total), abs(total))\n")
        self.assertEqual(report["printed"], "? ? ? ?\n")
        self.assertEqual(self.told(report), [])

    def test_everything_unknown_may_count_as_zero(self):
        self.assertEqual(self.run_script("print(x.sum().item())\n", "--assume", "zeros")["printed"], "0.0\n")

    def test_a_place_that_is_no_place_is_told(self):
        self.assertIn("the line is not a number", self.run_script("", "--assume", "s.py:x=true"))


if __name__ == "__main__":
    unittest.main()
