#!/usr/bin/env python3
"""What the program tells of itself (devices, ops, models, optimizers, the schema of scenarios), and the scenario that `init` writes.

    first_steps_test.py TIDEMARK [Class...]        exit code 77 when everything was skipped
"""

import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line


def run(*words, folder=ROOT):
    return subprocess.run([TIDEMARK, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)


class Catalogues(unittest.TestCase):
    def rows(self, *words):
        done = run(*words, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = json.loads(done.stdout)
        table = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
        self.assertEqual([{key: str(value) for key, value in row.items()} for row in rows], table)
        return rows

    def test_devices_have_the_figures_of_their_files(self):
        rows = self.rows("devices")
        self.assertEqual(sorted(path.stem for path in (ROOT / "configs/devices").glob("*.yaml")), sorted(row["id"] for row in rows))
        h100 = next(row for row in rows if row["id"] == "h100-sxm-80gb")
        self.assertEqual(h100["total_bytes"], 85017755648)
        self.assertEqual(h100["context_bytes"], 553648128)
        self.assertEqual(h100["granularity_bytes"], 2097152)
        self.assertEqual(h100["compute_capability"], "9.0")
        text = run("devices", "h100-sxm").stdout
        self.assertIn("79.2 GiB (85,017,755,648)", text)
        self.assertEqual(len(text.splitlines()), 2)

    def test_devices_are_listed_by_what_people_call_them(self):
        def listed(name):
            return [line.split()[0] for line in run("devices", name).stdout.splitlines()[1:]]

        self.assertEqual(listed("NVIDIA GeForce RTX 4060 Ti"), ["rtx-4060-ti-16gb", "rtx-4060-ti-8gb"])
        self.assertEqual(listed("3080ti"), ["rtx-3080-ti"])
        self.assertEqual(listed("ND96asr_v4"), ["standard_nd96asr_v4"])
        self.assertIn("8 x NVIDIA A100-SXM4-40GB", run("devices", "p4d").stdout)
        a100 = next(row for row in self.rows("devices", "a100-sxm-40gb"))
        self.assertIn("p4d.24xlarge", a100["machines"].split())
        self.assertEqual(a100["total_rests_on"], "verified")

    def test_ops_are_those_of_the_language_page(self):
        page = (ROOT / "docs/language.md").read_text(encoding="utf-8")
        rows = self.rows("ops")
        self.assertGreater(len(rows), 500)
        for row in rows:
            self.assertIn(f"| `{row['signature']}` | {row['where']} |\n", page)
        self.assertTrue(all("softmax" in row["name"] for row in self.rows("ops", "softmax")))

    def test_optimizers_have_their_options_and_defaults(self):
        rows = self.rows("optimizers")
        defaults = {(row["optimizer"], row["option"]): row["default"] for row in rows}
        self.assertEqual(defaults["AdamW", "weight_decay"], "1e-2")
        self.assertEqual(defaults["Adam", "betas"], "(0.9, 0.999)")
        self.assertEqual(defaults["SGD", "foreach"], "None")
        self.assertFalse([row for row in rows if row["option"] in ("self", "params", "*")])
        names = sorted({row["optimizer"] for row in rows})
        # The list that a refused optimizer is answered with.
        refused = run("run", "configs/scenarios/simple_conv.yaml", "--set", "optimizer=Whatever()").stderr
        self.assertEqual(sorted(refused.split("known are ")[1].split(";")[0].split(", ")), names)
        text = run("optimizers").stdout
        self.assertEqual(len(text.splitlines()), 1 + len(names))

    def test_models_count_their_parameters(self):
        rows = self.rows("models")
        resnet = next(row for row in rows if row["name"] == "resnet18")
        self.assertEqual((resnet["parameters"], resnet["parameter_bytes"]), (11689512, 46758048))

    def test_a_part_that_no_name_has_is_refused(self):
        for words, message in [
            (["devices", "zz9000"], "error: no device has 'zz9000' in its name\n"),
            (["optimizers", "Adan"], "error: no optimizer has 'Adan' in its name; did you mean 'Adam'?\n"),
            (["ops", "sotfmax"], "error: no operator has 'sotfmax' in its name; did you mean 'softmax'?\n"),
        ]:
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", message))


@unittest.skipIf(jsonschema is None, "python3-jsonschema or python3-yaml is not installed")
class Schema(unittest.TestCase):
    def setUp(self):
        self.scenario = self.schema()
        self.device = self.schema("device")

    def schema(self, *words):
        done = run("schema", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        schema = json.loads(done.stdout)
        jsonschema.Draft7Validator.check_schema(schema)
        return jsonschema.Draft7Validator(schema)

    def problems(self, text):
        return [f"{'.'.join(map(str, error.path))}: {error.message}" for error in self.scenario.iter_errors(yaml.safe_load(text))]

    def test_every_file_that_is_there_is_valid(self):
        checked = 0
        for folder, validator in (("scenarios", self.scenario), ("articles", self.scenario), ("devices", self.device)):
            for path in sorted((ROOT / "configs" / folder).glob("*.yaml")):
                checked += 1
                problems = list(validator.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8"))))
                self.assertEqual(problems, [], path)
        for path in sorted((ROOT / "validation" / "scenarios").glob("*.yaml")):
            checked += 1
            self.assertEqual(self.problems(path.read_text(encoding="utf-8")), [], path)
        self.assertGreater(checked, 90)

    def test_what_the_reader_refuses_is_refused(self):
        good = ("schema_version: 1\ndevice: h100\nlayers: ['Linear(8, 8)']\nparams: {n: 4}\nallocator: {conf: ''}\n"
                "train: {steps: 2, batch: n, input: [8], target: []}\n")
        self.assertEqual(self.problems(good), [])
        for change in [
            ("schema_version: 1", "schema_version: 2"),
            ("schema_version: 1\n", ""),
            ("device: h100\n", ""),
            ("device: h100", "device: {nmae: h100}"),
            ("device: h100", "device: {name: h100, total: lots}"),
            ("layers:", "layer:"),
            ("steps: 2", "steps: 0"),
            ("steps: 2", "stesp: 2"),
            ("steps: 2", "steps: 2.5"),
            ("steps: 2", "steps: 2, precision: fp12"),
            ("input: [8]", "input: {shpae: [8]}"),
            ("steps: 2", "steps: 2, scaler: maybe"),
            ("batch: n", "batch: []"),
            ("conf: ''", "config: ''"),
            ("conf: ''", "memory_fraction: 1.5"),
            ("conf: ''", "backend: nativ"),
            ("params: {n: 4}", "params: {9n: 4}"),
        ]:
            bad = good.replace(*change)
            self.assertNotEqual(bad, good)
            self.assertNotEqual(self.problems(bad), [], change)
            self.assertEqual(self.reads(bad), 2, change)
        for change in [("steps: 2", "steps: n"), ("steps: 2", "precision: amp-bf16"), ("input: [8]", "input: 'torch.zeros(batch, 8)'"),
                       ("batch: n", "batch: [n, 2]"), ("device: h100", "device: {name: h100, total: 24GiB}"), ("conf: ''", "conf: null"),
                       ("steps: 2", "optimizer: SGD(lr=0.1)"), ("steps: 2", "clip: 1.0"), ("layers:", "variants: {a: {batch: 8}}\nlayers:")]:
            fine = good.replace(*change)
            self.assertNotEqual(fine, good)
            self.assertEqual(self.problems(fine), [], change)
            self.assertEqual(self.reads(fine), 0, change)

    def reads(self, text):
        return subprocess.run([TIDEMARK, "check", "-"], input=text, capture_output=True, text=True, check=False).returncode


class SchemaFiles(unittest.TestCase):
    def test_the_kept_copies_are_current(self):
        for words, path in ((["schema"], "configs/scenario.schema.json"), (["schema", "device"], "configs/device.schema.json")):
            self.assertEqual(run(*words).stdout, (ROOT / path).read_text(encoding="utf-8"), f"tidemark {' '.join(words)} >{path}")


NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.a, self.b = nn.Linear(8, width), nn.Linear(width, 10)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
"""


class Init(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "net.py").write_text(NET, encoding="utf-8")

    def tidemark(self, *words):
        return run(*words, folder=self.folder)

    def refused(self, code, message, *words):
        done = self.tidemark("init", *words)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", message), words)
        return done

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def accepted(self, name):
        for command in ("check", "run"):
            done = self.tidemark(command, name)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        if jsonschema is not None:
            schema = json.loads(run("schema").stdout)
            jsonschema.Draft7Validator(schema).validate(yaml.safe_load((self.folder / name).read_text(encoding="utf-8")))

    def test_every_model_of_the_zoo(self):
        names = [row["name"] for row in json.loads(run("models", "--format", "json").stdout)]
        for name in names:
            done = self.tidemark("init", f"{name}.yaml", "--model", name, "--batch", "2", "--steps", "1")
            if name == "gan":  # two models that train each other: no loop of one optimizer can
                self.assertEqual(done.returncode, 2)
                self.assertIn("--model: the zoo has no model 'gan' that a loop can train", done.stderr)
                continue
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertEqual(done.stdout, f"{name}.yaml and {name}.py: {name}\nNext: tidemark run {name}.yaml\n")
            self.accepted(f"{name}.yaml")

    def test_a_file_of_ones_own(self):
        done = self.tidemark("init", "own.yaml", "--file", "net.py", "--class", "Net", "--args", "width=32", "--input", "8", "--device", "t4",
                             "--batch", "[4, 2]", "--optimizer", "SGD(lr=0.1, momentum=0.9)", "--precision", "amp-fp16")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "own.yaml: Net of net.py\nNext: tidemark run own.yaml\n", ""))
        self.accepted("own.yaml")
        text = (self.folder / "own.yaml").read_text(encoding="utf-8")
        for line in ("device: t4 ", "  file: net.py ", "  class: Net\n", "    width: 32\n", "  batch: [4, 2] ", "  input: [8] ",
                     "  optimizer: SGD(lr=0.1, momentum=0.9) ", "  precision: amp-fp16 "):
            self.assertIn("\n" + line, text)
        # Settings of the command line reach it as any scenario's.
        self.assertEqual(self.tidemark("run", "own.yaml", "--set", "batch=[8, 8]").returncode, 0)

    def test_a_file_that_is_a_program_too_is_imported(self):
        (self.folder / "net.py").write_text(NET + "\n\nif __name__ == '__main__':\n    print('trained', Net().cuda())\n", encoding="utf-8")
        own = ["own.yaml", "--file", "net.py", "--class", "Net", "--input", "8"]
        self.assertEqual(self.tidemark("init", *own).returncode, 0)
        done = self.tidemark("run", "own.yaml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("trained", done.stdout)
        self.assertIn("trained", self.tidemark("run", "net.py", "--device", "t4").stdout)

    def test_what_is_there_is_not_written_over_without_force(self):
        words = ["s.yaml", "--model", "mlp"]
        self.assertEqual(self.tidemark("init", *words).returncode, 0)
        (self.folder / "s.yaml").write_text("mine", encoding="utf-8")
        self.refused(4, "error: s.yaml: is there already; --force writes over it\n", *words)
        self.assertEqual((self.folder / "s.yaml").read_text(encoding="utf-8"), "mine")
        self.refused(4, "error: net.py: is there already; --force writes over it\n", "net.yaml", "--model", "mlp")
        self.assertNotIn("net.yaml", self.files())
        self.assertEqual(self.tidemark("init", *words, "--force").returncode, 0)
        self.accepted("s.yaml")

    def test_refusals_name_the_option_and_write_nothing(self):
        see = "See 'tidemark help init'.\n"
        own = ["--file", "net.py", "--class", "Net", "--input", "8"]
        for words, message in [
            (["a.yaml"], "error: the model is missing; give --model NAME of the zoo, or --file FILE --class NAME --input SHAPE\n"),
            (["a.txt", "--model", "mlp"], "error: a.txt: expected a name that ends in .yaml\n"),
            (["a.yaml", "--model", "mlp", "--loss", "x"], "error: --loss: is for --file: models of the zoo have their own\n"),
            (["a.yaml", "--file", "net.py"], "error: --file: needs --class too\n"),
            (["a.yaml", "--model", "reznet18"], "error: --model: the zoo has no model 'reznet18' that a loop can train; did you mean 'resnet18'?\n"),
            (["a.yaml", "--model", "mlp", "--args", "layer=2"], "error: --args: mlp has no argument 'layer'; did you mean 'layers'?\n"),
            (["a.yaml", "--model", "mlp", "--args", "2"], "error: --args: expected NAME=VALUE, found '2'\n"),
            (["a.yaml", "--model", "mlp", "--device", "h1000"], "error: --device: unknown device 'h1000'; did you mean 'h100'?\n"),
            (["a.yaml", "--model", "mlp", "--optimizer", "Adm"], "error: --optimizer: unknown optimizer 'Adm'; did you mean 'Adam'?\n"),
            (["a.yaml", "--model", "mlp", "--batch", "0"], "error: --batch: must be 1 or more, found 0\n"),
            (["a.yaml", *own[:3], "Nets", *own[4:]], "error: --class: net.py has no 'Nets'; did you mean 'Net'?\n"),
            (["a.yaml", *own[:5], "8,"], "error: --input: expected a shape, found '8,'; 3,32,32 or, with a dtype, 128:long\n"),
        ]:
            self.refused(2, message, *words)
        self.refused(2, "error: --precision: expected one of fp32, fp64, bf16, fp16, amp-bf16, amp-fp16; found 'fp8'\n" + see,
                     "a.yaml", "--model", "mlp", "--precision", "fp8")
        done = self.tidemark("init", "a.yaml", *own[:5], "9")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith("net.py:11:"), done.stderr)
        self.assertEqual(self.files(), ["net.py"])


if __name__ == "__main__":
    TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    if result.skipped and len(result.skipped) == result.testsRun:
        print("skipped:", result.skipped[0][1])
        sys.exit(77)  # CTest counts it
    sys.exit(0 if result.wasSuccessful() else 1)
