#!/usr/bin/env python3
"""Imports the configurations beside it and compares every event with what Hugging Face's own models did.

    hf_test.py PATH/TO/tidemark
"""

import csv
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop(1)


def imported_events(name, folder):
    scenario, events = folder / f"{name}.yaml", folder / f"{name}.csv"
    subprocess.run([PROGRAM, "import", "hf", HERE / f"{name}.json", "--output", scenario], check=True, capture_output=True)
    sets = ["steps=2", "batch_size=2", "backends.cudnn_sdp=false"] + ([] if name == "vit" else ["seq_len=128"])
    options = [word for item in sets for word in ("--set", item)]
    subprocess.run([PROGRAM, "run", scenario, "--events", events, *options], check=True, capture_output=True)
    with open(events, newline="", encoding="utf-8") as file:
        return [f"{row['action']},{row['address']},{row['bytes']}" for row in csv.DictReader(file)]


class HuggingFace(unittest.TestCase):
    def test_imported_models_have_the_events_of_the_real_ones(self):
        expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
        self.assertEqual(len(expected), 6)
        with tempfile.TemporaryDirectory() as folder:
            for name, wanted in expected.items():
                with self.subTest(name):
                    rows = imported_events(name, pathlib.Path(folder))
                    self.assertEqual(len(rows), wanted["events"])
                    self.assertEqual(hashlib.sha256("\n".join(rows).encode()).hexdigest(), wanted["sha256"])


if __name__ == "__main__":
    unittest.main()
