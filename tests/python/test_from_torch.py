"""from_torch(): live modules become scenarios whose events are those of the modules themselves.

Runs under a PyTorch on a pretend H100 (package_test.py from_torch).
"""
import contextlib
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import torch
import torch.nn.functional as F
import torch_models
from support import program
from torch import nn

import tidemark

TRAIN = {"loss": "cross_entropy", "optimizer": "AdamW(lr=1e-3)", "steps": 3}
IMAGES = (torch.zeros(8, 3, 32, 32),)
TOKENS = (torch.zeros(4, 16, dtype=torch.long),)


MODELS = {
    "language model": lambda: (torch_models.LanguageModel(), TOKENS, [16]),
    "convolutional net": lambda: (torch_models.ConvNet(), IMAGES, []),
    "encoder": lambda: (torch_models.Attentive(), (torch.zeros(4, 16, 64),), []),
}


@contextlib.contextmanager
def phase(name):
    yield name


def record(model):
    """prints what the allocator does for the module itself in the loop of standard input"""
    module = MODELS[model]()[0]
    names = {"torch": torch, "nn": nn, "F": F, "math": math, "phase": phase, "build": lambda: module}
    torch.cuda.memory._record_memory_history(context=None, max_entries=10**6)
    exec(compile(sys.stdin.read(), "loop", "exec"), names)  # the loop that train: stands for
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    print(json.dumps([(each["action"], each["size"], each["addr"]) for each in trace if each["action"] != "snapshot"]))


def recorded(loop, model):
    """the same from a process of its own, whose allocator holds nothing yet"""
    done = subprocess.run([sys.executable, __file__, "--record", model], input=loop, stdout=subprocess.PIPE, text=True, check=True)
    return relative([tuple(row) for row in json.loads(done.stdout.splitlines()[-1])])


def simulated(scenario):
    with tempfile.TemporaryDirectory() as folder:
        path, events = os.path.join(folder, "s.yaml"), os.path.join(folder, "e.csv")
        scenario.save(path)
        program("run", path, "--events", events)
        with open(events, encoding="utf-8") as file:
            rows = [(row["action"], int(row["bytes"]), int(row["address"])) for row in csv.DictReader(file)]
        return relative(rows), program("check", "--show-loop", path)


def relative(rows):
    lowest = min(place for _, _, place in rows)
    return [(action, count, place - lowest) for action, count, place in rows]


class Events(unittest.TestCase):
    def compare(self, model, route):
        module, inputs, target = MODELS[model]()
        ours, loop = simulated(tidemark.from_torch(module, inputs, route=route, train={**TRAIN, "target": target}))
        return ours, recorded(loop, model)

    def test_the_source_of_a_language_model_is_exact(self):
        ours, theirs = self.compare("language model", "source")
        self.assertGreater(len(theirs), 1000)
        self.assertTrue(ours == theirs)

    def test_the_source_of_a_convolutional_net_is_exact(self):
        ours, theirs = self.compare("convolutional net", "source")
        self.assertTrue(ours == theirs)

    def test_the_source_of_torch_nns_own_encoder_is_exact(self):
        ours, theirs = self.compare("encoder", "source")
        self.assertTrue(ours == theirs)

    def test_the_traced_graph_asks_for_the_same_and_lets_go_of_it_at_other_moments(self):
        ours, theirs = self.compare("encoder", "export")
        requests = [[(action, count) for action, count, _ in rows if action in ("alloc", "segment_alloc")] for rows in (ours, theirs)]
        self.assertTrue(requests[0] == requests[1])
        self.assertTrue(sorted(row[:2] for row in ours) == sorted(row[:2] for row in theirs))
        self.assertFalse(ours == theirs)

    def test_the_traced_graph_of_straight_code_is_exact(self):
        ours, theirs = self.compare("convolutional net", "export")
        self.assertTrue(ours == theirs)


class Routes(unittest.TestCase):
    def test_the_source_is_taken_first(self):
        scenario = tidemark.from_torch(torch_models.ConvNet(), IMAGES)
        self.assertIn("own source", scenario.notes[0])
        self.assertIn("class ConvNet(nn.Module):", scenario.text)
        self.assertTrue(tidemark.run(scenario).fits)

    def test_a_class_that_needs_its_surroundings_is_traced_and_the_note_says_why(self):
        scenario = tidemark.from_torch(torch_models.closed_over(32), (torch.zeros(4, 32),))
        self.assertIn("torch.export", scenario.notes[0])
        self.assertIn("Closed.forward uses variables of the function around it", scenario.notes[1])

    def test_the_batch_can_be_varied_for_a_source_and_not_for_a_trace(self):
        train = {**TRAIN, "target": []}
        source = tidemark.from_torch(torch_models.ConvNet(), IMAGES, train=train)
        self.assertGreater(tidemark.fit(source, highest=64).best, 8)
        traced = tidemark.from_torch(torch_models.ConvNet(), IMAGES, train=train, route="export")
        with self.assertRaisesRegex(tidemark.InputError, "traced for inputs of shape"):
            tidemark.run(traced, set={"batch": 16})

    def test_what_neither_route_can_write_is_an_error_with_both_reasons(self):
        with self.assertRaises(tidemark.InputError) as caught:
            tidemark.from_torch(torch_models.Unmodelled(), (torch.zeros(4, 4),))
        self.assertIn("source: ", str(caught.exception))
        self.assertIn("export: ", str(caught.exception))

    def test_a_module_with_hooks_is_not_rebuilt(self):
        module = nn.Sequential(nn.Linear(4, 4))
        module[0].register_forward_hook(lambda *given: None)
        with self.assertRaisesRegex(tidemark.InputError, "0 has hooks"):
            tidemark.from_torch(module, (torch.zeros(2, 4),), route="source")

    def test_inputs_are_tensors(self):
        with self.assertRaises(tidemark.InputError) as caught:
            tidemark.from_torch(nn.Linear(4, 4), (3,))
        self.assertEqual(caught.exception.problems[0].path, "example_inputs")

    def test_types_ties_and_frozen_parameters_come_along(self):
        module = torch_models.LanguageModel().to(torch.bfloat16)
        text = tidemark.from_torch(module, TOKENS).text
        self.assertIn(".to(torch.bfloat16)", text)
        self.assertIn(".weight = m1.weight", text)
        frozen = tidemark.from_torch(torch_models.ConvNet(), IMAGES).text
        self.assertEqual(frozen.count("requires_grad_(False)"), 2)

    def test_the_release_is_that_of_the_pytorch_that_runs(self):
        scenario = tidemark.from_torch(nn.Linear(4, 4), (torch.zeros(2, 4),))
        self.assertTrue(torch.__version__.startswith(tidemark.run(scenario).document["devices"][0]["pytorch"] + "."))

    def test_a_layer_of_torch_nn_alone_is_a_model(self):
        self.assertTrue(tidemark.run(tidemark.from_torch(nn.Linear(4, 4), (torch.zeros(2, 4),))).fits)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
    else:
        unittest.main()
