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
    sets = ["pytorch=2.11", "steps=2", "batch_size=2", "backends.cudnn_sdp=false"] + ([] if name == "vit" else ["seq_len=128"])
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


    def test_the_type_of_the_weights_is_honoured(self):
        config = {**json.loads((HERE / "gpt2.json").read_text(encoding="utf-8")), "torch_dtype": "bfloat16"}
        with tempfile.TemporaryDirectory() as folder:
            given, scenario = pathlib.Path(folder) / "config.json", pathlib.Path(folder) / "s.yaml"
            peaks = []
            for one in (config, {**config, "torch_dtype": "float32"}):
                given.write_text(json.dumps(one))
                subprocess.run([PROGRAM, "import", "hf", given, "--output", scenario], check=True, capture_output=True)
                done = subprocess.run([PROGRAM, "run", scenario, "--set", "seq_len=128", "--format", "json"], check=True, capture_output=True)
                peaks.append(json.loads(done.stdout)["devices"][0]["peak_allocated"]["by_category"]["parameters_bytes"])
                scenario.unlink()
                scenario.with_suffix(".py").unlink()
            self.assertLess(peaks[0], 0.51 * peaks[1])
            given.write_text(json.dumps({**config, "torch_dtype": "int4"}))
            done = subprocess.run([PROGRAM, "import", "hf", given, "--output", scenario], check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("torch_dtype: 'int4' is no type that weights are made in here", done.stderr)

    def test_a_model_without_the_switch_is_not_said_to_be_checkpointed(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "s.yaml"
            subprocess.run([PROGRAM, "import", "hf", HERE / "gpt2.json", "--output", scenario], check=True, capture_output=True)
            done = subprocess.run([PROGRAM, "run", scenario, "--set", "train.checkpoint=every-block"], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("s.yaml (train):4:5: error: AttributeError: train.checkpoint: GPT2LMHeadModel has no switch checkpoint_mode; "
                      "give its class checkpoint_mode = None and let forward() heed it\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
