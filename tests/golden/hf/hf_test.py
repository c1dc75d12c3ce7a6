#!/usr/bin/env python3
"""Imports the configurations beside it and compares every event with what Hugging Face's own models did.

    hf_test.py PATH/TO/tidemark
"""

import csv
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop(1)


def imported_events(config, folder, packages=()):
    scenario, events = folder / f"{config.stem}.yaml", folder / f"{config.stem}.csv"
    sources = [word for one in packages for word in ("--packages", one)]
    subprocess.run([PROGRAM, "import", "hf", config, "--output", scenario, *sources], check=True, capture_output=True)
    length = ["seq_len=128"] if "seq_len" in scenario.read_text(encoding="utf-8") else []
    sets = ["pytorch=2.11", "steps=2", "batch_size=2", "backends.cudnn_sdp=false", *length]
    options = [word for item in sets for word in ("--set", item)]
    subprocess.run([PROGRAM, "run", scenario, "--events", events, *options, *sources], check=True, capture_output=True)
    with open(events, newline="", encoding="utf-8") as file:
        return [f"{row['action']},{row['address']},{row['bytes']}" for row in csv.DictReader(file)]


class HuggingFace(unittest.TestCase):
    def compare(self, configs, packages=()):
        expected = json.loads((configs / "expected.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            for name, wanted in expected.items():
                with self.subTest(name):
                    rows = imported_events(configs / f"{name}.json", pathlib.Path(folder), packages)
                    self.assertEqual(len(rows), wanted["events"])
                    self.assertEqual(hashlib.sha256("\n".join(rows).encode()).hexdigest(), wanted["sha256"])
        return len(expected)

    def test_imported_models_have_the_events_of_the_real_ones(self):
        self.assertEqual(self.compare(HERE), 6)

    def test_the_classes_of_transformers_have_them_too(self):
        packages = [one for one in os.environ.get("TIDEMARK_TEST_PACKAGES", "").split(":") if (pathlib.Path(one) / "transformers").is_dir()]
        if not packages:
            self.skipTest("TIDEMARK_TEST_PACKAGES names no folder with transformers")
        self.assertEqual(self.compare(HERE / "library", packages), 5)

    def test_classes_that_the_library_alone_knows(self):
        """What stands in for transformers here has the names that an import asks for, and no model."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "site" / "transformers").mkdir(parents=True)
            (folder / "site" / "transformers" / "__init__.py").write_text(
                "from torch import nn\nclass AutoConfig:\n    @staticmethod\n    def for_model(kind, **values): return (kind, values)\n"
                "class TinyForCausalLM(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
                "        assert config == ('tiny', {'nested': {'a': [1, None, True, 'q\"\\n']}, 'vocab_size': 5, 'name': 'x: y'}), config\n"
                "        self.head = nn.Linear(7, 5)\n    _from_config = classmethod(lambda cls, config: cls(config))\n")
            config = {"model_type": "tiny", "architectures": ["TinyForCausalLM"], "vocab_size": 5, "name": "x: y", "nested": {"a": [1, None, True, 'q"\n']}}

            def done(change, *words):
                (folder / "c.json").write_text(json.dumps({**config, **change}))
                return subprocess.run([PROGRAM, "import", "hf", "c.json", "--packages", "site", *words], cwd=folder, check=False, capture_output=True, text=True)

            answer = done({}, "--output", "s.yaml")
            self.assertEqual((answer.stdout, answer.stderr), ("s.yaml and s.py: TinyForCausalLM, 40 parameters\n", ""))
            self.assertIn("what a TinyForAudio is fed is not known here", done({"architectures": ["TinyForAudio"]}).stderr)
            self.assertIn("what a TinyForCausalLM is fed is not known here", done({"vision_config": {}}).stderr)
            self.assertIn("'a; b' is no name of a class", done({}, "--class", "a; b").stderr)
            self.assertIn("'architectures' is missing", done({"architectures": None}).stderr)
            self.assertIn("cannot import name 'OtherForCausalLM' from 'transformers'", done({}, "--class", "OtherForCausalLM").stderr)
            answer = subprocess.run([PROGRAM, "import", "hf", "c.json", "--packages", "."], cwd=folder, check=False, capture_output=True, text=True)
            self.assertIn("--packages: no folder has transformers' sources", answer.stderr)

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
