#!/usr/bin/env python3
"""endless_test.py TIDEMARK: loops that have no end of their own, left by what is not known."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = os.path.abspath(sys.argv.pop(1))
HEAD = "import math, torch\nx = torch.randn(4, 8, device='cuda')\n"


class EndlessLoops(unittest.TestCase):
    def run_script(self, body, *options):
        """the report as JSON, or the text of the refusal"""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text(HEAD + body, encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--format", "json", *options],
                                  capture_output=True, text=True, check=False, cwd=folder)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def test_a_loop_without_an_end_that_an_unknown_value_alone_leaves_is_refused(self):
        start = ("import itertools\ndef again(items):\n    while True:\n        for each in items:\n            yield each\nn = 0\n")
        body = "    n += 1\n    if x.sum() < 0%s: break\n%sprint(n)\n"
        heads = ("while True:\n", "for i in itertools.count():\n", "for i, _ in enumerate(again([1, 2])):\n",
                 "for i in zip(itertools.count(), again('ab')):\n", "for i in (2 * k for k in itertools.count()):\n")
        for head in heads:
            with self.subTest(head):
                refused = self.run_script(start + head + body % ("", ""))
                self.assertIn("how often this loop runs depends on a value that is not known: x.sum() < 0", refused)
                self.assertIn("--assume s.py:11=false*TURNS", refused)
                given = self.run_script(start + head + body % ("", ""), "--assume", "s.py:11=false*7")
                self.assertEqual(given["printed"], "8\n")
                # Another way out, or an end of its own, is waited for.
                self.assertEqual(self.run_script(start + head + body % (" or n > 4", ""))["printed"], "5\n")
                self.assertEqual(self.run_script(start + head + body % ("", "    if n > 5: break\n"))["printed"], "6\n")
        bounded = self.run_script(start + "for i in zip(range(3), itertools.count()):\n" + body % ("", ""))
        self.assertEqual(bounded["printed"], "3\n")

    def test_a_script_is_ended_at_a_simulated_time(self):
        body = ("net = torch.nn.Linear(4, 4, device='cuda')\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nwhile True:\n"
                "    net(torch.randn(2, 4, device='cuda')).sum().backward()\n    optimizer.step()\n")
        asked = []
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text("import torch\n" + body, encoding="utf-8")

            def run(until):
                return subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--until", until, "--format", "json"],
                                      capture_output=True, text=True, check=False, cwd=folder)
            short, long, wrong = run("1ms"), run("0.005s"), run("5")
            for key in ("steps: 3", "until: 1ms", "until: 5"):
                text = "schema_version: 1\ndevice: h100-sxm-80gb\nscript: {file: s.py, %s}\n" % key
                (pathlib.Path(folder) / "s.yaml").write_text(text, encoding="utf-8")
                asked.append(subprocess.run([TIDEMARK, "run", "s.yaml", "--format", "json"], capture_output=True, text=True,
                                            check=False, cwd=folder))
        ended = []
        for done, seconds in ((short, "0.001"), (long, "0.005")):
            self.assertEqual(done.returncode, 0, done.stderr)
            told = [n["text"] for n in json.loads(done.stdout)["notes"] if "--until" in n["text"]]
            self.assertEqual(len(told), 1)
            self.assertIn(f"is ended at {seconds} s of simulated time, as --until or script.until asks: what follows is cut", told[0])
            ended.append(int(re.search(r"(\d+) steps? of an optimizer", told[0])[1]))
        self.assertGreater(ended[0], 0)
        self.assertGreater(ended[1], 4 * ended[0] - 4)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("expected a time with its unit, found '5'", wrong.stderr)
        notes = [[n["text"] for n in json.loads(done.stdout)["notes"]] for done in asked[:2]]
        self.assertIn("the program is ended after 3 steps, as --steps or script.steps asks", notes[0])
        self.assertIn(f"{ended[0]} steps of an optimizer had ended", " ".join(notes[1]))
        self.assertIn("s.yaml:3:29: error: script.until: expected a time with its unit, found '5'", asked[2].stderr)


if __name__ == "__main__":
    unittest.main()
