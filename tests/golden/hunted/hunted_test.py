#!/usr/bin/env python3
"""Runs every case that tools/hunt found once and that is mended: Tidemark's events must be those that PyTorch gave.

    hunted_test.py TIDEMARK
"""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tools"))
from hunting import compare  # noqa: E402
from hunting.case import read_scenario  # noqa: E402

PROGRAM = sys.argv.pop(1)


class Hunted(unittest.TestCase):
    def test_every_case_is_exact(self):
        paths = sorted(HERE.glob("*.yaml"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.stem):
                rows, refusal, crash = compare.run_tidemark(PROGRAM, read_scenario(path.read_text()))
                self.assertEqual((refusal, crash), ("", ""))
                expected = compare.read_events(path.with_suffix(".events.gz"))
                found = compare.first_difference(expected, rows)
                self.assertIsNone(found, found and compare.words(expected, rows, found[0]))


if __name__ == "__main__":
    unittest.main()
