#!/usr/bin/env python3
"""Compiled programs run as eager: Tidemark's peaks lie above those of the real PyTorch 2.11 by no more than it says.

    compile_test.py TIDEMARK

A line of list.txt is a recording of the oracle: `NAME: SCRIPT OPTIONS`; expected.json has its peaks.
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop(1)
SETTING = ["--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false", "--compile", "eager"]


def recordings():
    """name, script and the script's own arguments of each"""
    lines = [x for x in (HERE / "list.txt").read_text().splitlines() if not x.startswith("#")]
    for line in lines:
        name, rest = line.split(": ")
        options, _, arguments = rest.partition(" -- ")
        yield name, options.split()[0], arguments.split()


class RunAsEager(unittest.TestCase):
    def test_the_error_is_within_what_the_result_says(self):
        expected = json.loads((HERE / "expected.json").read_text())
        self.assertEqual(sorted(expected), sorted(name for name, _, _ in recordings()))
        worst = {}
        for name, script, arguments in recordings():
            with self.subTest(name):
                command = [PROGRAM, "run", HERE / script, *SETTING, "--format", "json", "--", *arguments]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout)
                bounds = {
                    what: (int(low), int(high))
                    for low, high, what in re.findall(r"([+-]\d+) to ([+-]\d+) % of (\w+)", " ".join(note["text"] for note in report["notes"]))
                }
                self.assertEqual(sorted(bounds), ["allocated", "reserved"])
                for what, (low, high) in bounds.items():
                    real = expected[name]["peak_" + what]
                    error = 100 * (report["devices"][0]["peak_" + what]["bytes"] / real - 1)
                    self.assertTrue(low <= error <= high, f"{what}: {error:+.1f} % is not in {low}..{high}")
                    worst[what] = max(worst.get(what, low), error)
        # The upper bounds were measured on the worst of these programs.
        for what, (_, high) in bounds.items():
            self.assertGreater(worst[what], high - 1)


if __name__ == "__main__":
    unittest.main()
