#!/usr/bin/env python3
"""The program as a whole process: what it prints where, and its exit codes.

    program_test.py PATH/TO/tidemark
"""

import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from terminal import run_on_terminal

TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line
EVENTS = """index,action,address,bytes,stream,id
0,segment_alloc,4096,2097152,0,
1,alloc,4096,100,0,0
"""
REPEATING = """schema_version: 1
device: h100-sxm-80gb
model: {{code: "def make(): return nn.Linear(4, 4)", function: make}}
train: {{batch: 2, input: [4], target: [], loss: cross_entropy, optimizer: SGD(lr=0.1), steps: {steps}}}
"""
OTHER_EVENTS = EVENTS.replace("4096,100,", "4096,101,")


def run(*args, stdin=b"", env=None):
    done = subprocess.run([TIDEMARK, *args], capture_output=True, input=stdin, env=env, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(*args, env=None):
    """Standard output and exit code when it is a terminal."""
    return run_on_terminal([TIDEMARK, *args], env={**os.environ, "TERM": "xterm", **(env or {})})


class HelpAndVersion(unittest.TestCase):
    def test_version_is_one_line(self):
        code, out, err = run("--version")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^tidemark \d+\.\d+\.\d+ \(PyTorch 2\.15 by default\)\n$")

    def test_help_lists_every_command_and_each_explains_itself(self):
        code, out, err = run("help")
        self.assertEqual((code, err), (0, ""))
        listing = out.split("Commands\n")[1].split("\n\n")[0]
        names = [line.split()[0] for line in listing.splitlines() if line.startswith("  ") and line[2] != " "]
        self.assertIn("diff", names)
        for name in names:
            code, out, err = run("help", name)
            self.assertEqual((code, err), (0, ""), name)
            if name != "help":
                self.assertTrue(out.startswith(f"tidemark {name}: "), name)
                self.assertIn("\nExamples\n", out)

    def test_no_command_is_wrong_usage(self):
        code, out, err = run()
        self.assertEqual((code, out), (2, ""))
        self.assertIn("Commands\n", err)


class Refusals(unittest.TestCase):
    def test_unknown_words_get_a_suggestion_and_exit_code_2(self):
        for args, message in [
            (["dif"], "error: unknown command 'dif'; did you mean 'diff'?\n"),
            (["--versoin"], "error: unknown option '--versoin'; did you mean '--version'?\n"),
            (["help", "dif"], "error: unknown command 'dif'; did you mean 'diff'?\n"),
            (["diff", "--formt", "json", "a", "b"],
             "error: unknown option '--formt'; did you mean '--format'?\nSee 'tidemark help diff'.\n"),
            (["diff", "a", "b", "c"], "error: unexpected argument 'c'\nSee 'tidemark help diff'.\n"),
            (["diff"], "error: missing argument A\nSee 'tidemark help diff'.\n"),
            (["diff", "a"], "error: B: is missing; only a scenario is compared with itself\n"),
        ]:
            self.assertEqual(run(*args), (2, "", message), args)


class Diff(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = pathlib.Path(self.folder.name)
        self.a, self.b, self.bad = (str(root / name) for name in ("a.csv", "b.csv.gz", "bad.csv"))
        pathlib.Path(self.a).write_text(EVENTS, encoding="utf-8")
        pathlib.Path(self.b).write_bytes(gzip.compress(OTHER_EVENTS.encode()))
        pathlib.Path(self.bad).write_text("a,b\n", encoding="utf-8")

    def test_equal_is_0_different_is_1(self):
        self.assertEqual(run("diff", self.a, self.a),
                         (0, "Equal: 2 events, peak reserved 2.00 MiB (2,097,152 bytes)\n", ""))
        code, out, err = run("diff", self.a, self.b)
        self.assertEqual((code, err), (1, ""))
        self.assertIn("First difference: event 1, differs in bytes\n", out)

    def test_standard_input_is_a_file_too(self):
        self.assertEqual(run("diff", self.a, "-", stdin=EVENTS.encode())[0], 0)

    def test_bad_contents_are_2_and_a_missing_file_is_4(self):
        code, out, err = run("diff", self.a, self.bad)
        self.assertEqual((code, out), (2, ""))
        self.assertTrue(err.startswith(f"{self.bad}:1:1: error: no column 'action' in the header"), err)
        missing = self.a + ".none"
        self.assertEqual(run("diff", self.a, missing), (4, "", f"error: {missing}: No such file or directory\n"))

    def test_output_that_cannot_be_written_is_4(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TIDEMARK, "diff", self.a, self.b], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, b"error: cannot write to standard output: No space left on device\n")

    def test_colour_is_for_terminals_without_no_color(self):
        self.assertNotIn("\x1b[", run("diff", self.a, self.b)[1])
        code, out = on_terminal("diff", self.a, self.b)
        self.assertEqual(code, 1)
        self.assertIn("\x1b[1m", out)
        self.assertNotIn("\x1b[", on_terminal("diff", self.a, self.b, env={"NO_COLOR": "1"})[1])
        self.assertNotIn("\x1b[", on_terminal("diff", self.a, self.b, env={"TERM": "dumb"})[1])


SCENARIO = """schema_version: 1
device: {name: rtx-3060}
params: {batch: 4}
layers: [Linear(784, 512), ReLU(), Linear(512, 10)]
train: {steps: 2, batch: batch, input: [784], target: [], loss: cross_entropy, optimizer: SGD(lr=0.1)}
"""


class RunAndCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.scenario = self.write("s.yaml", SCENARIO)

    def write(self, name, text):
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_the_summary_answers_first(self):
        code, out, err = run("run", self.scenario)
        self.assertEqual((code, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(lines[0], self.scenario)
        self.assertTrue(lines[1].startswith("NVIDIA GeForce RTX 3060, "))
        self.assertTrue(lines[2].startswith("FITS. "))
        for word in ("Peaks", "  allocated ", "  reserved ", "  device total ", "  parameters ", "Fragmentation ", "Allocated "):
            self.assertTrue(any(line.startswith(word) for line in lines), word)

    def test_every_file_agrees_with_the_summary(self):
        files = {name: str(self.root / name) for name in ("e.csv", "e2.csv.gz", "t.csv", "t.json", "s.json")}
        code, out, err = run("run", self.scenario, "--format", "json", "--events", files["e.csv"], "--timeline", files["t.csv"],
                             "--stats", files["s.json"])
        self.assertEqual((code, err), (0, ""))
        device = json.loads(out)["devices"][0]
        stats = json.loads(pathlib.Path(files["s.json"]).read_text(encoding="utf-8"))
        self.assertEqual(device["peak_allocated"]["bytes"], stats["allocated_bytes.all.peak"])
        self.assertEqual(device["peak_reserved"]["bytes"], stats["reserved_bytes.all.peak"])
        with open(files["t.csv"], encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(max(int(row["allocated_bytes"]) for row in rows), device["peak_allocated"]["bytes"])
        categories = [name for name in rows[0] if name.split("_bytes")[0] in (
            "parameters", "optimizer_state", "gradients", "kv_cache", "workspace", "inputs", "activations", "temporaries", "unknown")]
        self.assertEqual(len(categories), 9)
        for row in rows:
            self.assertEqual(sum(int(row[name]) for name in categories), int(row["allocated_bytes"]))
        run("run", self.scenario, "--events", files["e2.csv.gz"], "--timeline", files["t.json"])
        self.assertEqual(run("diff", files["e.csv"], files["e2.csv.gz"])[0], 0)
        columns = json.loads(pathlib.Path(files["t.json"]).read_text(encoding="utf-8"))["columns"]
        self.assertEqual(columns["allocated_bytes"], [int(row["allocated_bytes"]) for row in rows])

    def test_out_of_memory_is_an_outcome_and_3_only_when_asked(self):
        args = ["run", self.scenario, "--set", "device.total=1GiB", "--set", "batch=1000000"]
        code, out, err = run(*args)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("DOES NOT FIT. Out of memory at step 0, ", out)
        self.assertIn("  CUDA out of memory. Tried to allocate ", out)
        self.assertEqual(run(*args, "--fail-on-oom")[0], 3)
        self.assertEqual(run("run", self.scenario, "--fail-on-oom")[0], 0)

    def test_wrong_input_is_told_with_its_place_and_nothing_is_written(self):
        bad = self.write("bad.yaml", SCENARIO.replace("optimizer:", "optimiser:").replace("784, 512", "784, 511"))
        events = self.root / "events.csv"
        code, out, err = run("run", bad, "--events", str(events))
        self.assertEqual((code, out), (2, ""))
        self.assertIn(f"{bad}:5:", err)
        self.assertIn("did you mean 'optimizer'?", err)
        self.assertFalse(events.exists())
        self.assertEqual(run("check", bad)[0], 2)
        self.assertEqual(run("run", str(self.root / "none.yaml"))[0], 4)

    def test_a_shape_that_does_not_fit_names_the_operator_and_both_shapes(self):
        bad = self.write("shapes.yaml", SCENARIO.replace("Linear(512, 10)", "Linear(511, 10)"))
        code, out, err = run("run", bad)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("4x512", err.replace("(4, 512)", "4x512"))

    def test_what_a_script_printed_before_its_error_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "train.py")
            script.write_text("print('epoch', 1)\nprint(undefined)\n", encoding="utf-8")
            code, out, err = run("run", str(script), "--device", "h100")
            self.assertEqual((code, out), (2, "epoch 1\n"))
            self.assertIn("train.py:2:7: error: NameError", err)
            code, out, _ = run("run", str(script), "--device", "h100", "--format", "json")
            self.assertEqual((code, out), (2, ""))

    def test_optimizers_that_step_in_backward_make_one_step_of_a_pass(self):
        program = ("import torch\nlayers = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(5)]).cuda()\n"
                   "own = {p: torch.optim.SGD([p], lr=0.1, momentum=0.9) for p in layers.parameters()}\n"
                   "def step(p):\n    own[p].step()\n    own[p].zero_grad()\n"
                   "for p in layers.parameters():\n    p.register_post_accumulate_grad_hook(step)\n"
                   "for _ in range(3):\n    layers(torch.ones(4, 8, device='cuda')).sum().backward()\n")
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "train.py")
            script.write_text(program, encoding="utf-8")
            code, out, err = run("run", str(script), "--device", "h100", "--format", "json")
            self.assertEqual((code, err), (0, ""))
            phases = [phase["name"] for phase in json.loads(out)["devices"][0]["phases"]]
            self.assertEqual([name for name in phases if name.startswith("backward")], ["backward 0", "backward 1", "backward 2"])
            self.assertFalse([name for name in phases if name.startswith("optimizer")])

    def test_set_reaches_parameters_and_keys(self):
        small = json.loads(run("run", self.scenario, "--format", "json")[1])
        large = json.loads(run("run", self.scenario, "--format", "json", "--set", "batch=4096", "--set", "train.steps=1")[1])
        self.assertLess(small["devices"][0]["peak_allocated"]["bytes"], large["devices"][0]["peak_allocated"]["bytes"])
        self.assertEqual(run("run", self.scenario, "--set", "batch")[0], 2)

    def test_check_reads_without_running(self):
        self.assertEqual(run("check", self.scenario), (0, f"{self.scenario}: in order\n", ""))
        code, out, err = run("check", self.scenario, "--show-loop")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("loss.backward()", out)

    def test_files_that_cannot_be_written_are_4(self):
        self.assertEqual(run("run", self.scenario, "--events", str(self.root / "no" / "e.csv"))[0], 4)
        self.assertEqual(run("run", self.scenario, "--plot", str(self.root / "p.gif"))[0], 2)
        env = {**os.environ, "TIDEMARK_PLOTS": str(self.root)}
        code, _, err = run("run", self.scenario, "--plot", str(self.root / "p.png"), env=env)
        self.assertEqual(code, 4)
        self.assertIn("set TIDEMARK_PLOTS", err)

    def test_every_step_is_simulated_where_one_asks_for_it(self):
        long = self.write("long.yaml", REPEATING.format(steps=200))
        code, short, err = run("run", long)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("Steps 7-198 repeat steps 3-6 exactly: not simulated again, nor drawn below (7,488 events).\n", short)
        code, whole, err = run("run", long, "--every-step")
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("repeat", whole)
        curves = ("Reserved  ", "Allocated  ", "  at step", "Steps 7")
        same = [[line for line in text.splitlines() if not line.startswith(curves)] for text in (short, whole)]
        self.assertEqual(*same)
        events = self.root / "every.csv"
        self.assertEqual(run("run", long, "--events", str(events))[0], 0)
        written = events.read_text()
        self.assertIn(",backward 199,", written.splitlines()[-1])
        self.assertEqual(run("run", long, "--every-step", "--events", str(events))[0], 0)
        self.assertEqual(written, events.read_text())

    def test_more_events_than_can_be_written_are_refused(self):
        endless = self.write("endless.yaml", REPEATING.format(steps=1000000))
        path = self.root / "endless.csv"
        code, out, err = run("run", endless, "--events", str(path))
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "error: --events: this run has 38,999,992 events; at most 5,000,000 are written; ask for fewer steps; "
                              "without this option the steps that repeat are counted, not written\n")
        self.assertFalse(path.exists())
        self.assertEqual(run("run", endless)[0], 0)

    def test_a_wrong_argument_of_a_script_is_told_as_argparse_tells_it(self):
        script = self.write("args.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--size', type=int, choices=[1, 2])\np.parse_args()\n")
        for words, told in ((["--sise", "1"], "unrecognized arguments: --sise"), (["--size"], "argument --size: expected one argument"),
                            (["--size", "3"], "argument --size: invalid choice: 3 (choose from 1, 2)")):
            code, _, err = run("run", script, "--device", "t4", "--", *words)
            self.assertEqual(code, 2)
            self.assertIn("SystemExit: 2; caused by argparse.ArgumentError: " + told, err)

    def test_an_optimizer_of_ones_own_takes_steps_and_has_state(self):
        script = self.write("own.py", """import torch
class Mine(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["mean"] = torch.zeros_like(p), [torch.ones(256, device="cuda")]
                self.state[p]["of"] = p
class Around(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)
net = torch.nn.Linear(64, 64, bias=False).cuda()
mine, around = Mine(net.parameters()), Around(net.parameters(), lr=0.1)
for each in (mine, around):
    each.register_step_pre_hook(lambda o, args, kwargs: print("before", len(args), sorted(kwargs)))
    each.register_step_post_hook(lambda o, args, kwargs: print("after"))
for _ in range(2):
    net(torch.ones(8, 64, device="cuda")).sum().backward()
    mine.step(closure=None)
around.step(None)
""")
        code, out, err = run("run", script, "--device", "t4", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        told = json.loads(out)
        # As PyTorch prints it; what is below another step() is no step of its own.
        self.assertEqual(told["printed"], "before 1 ['closure']\nafter\n" * 2 + "before 2 []\nafter\n")
        at_end = run("run", script, "--device", "t4", "--timeline", str(self.root / "t.csv"))
        self.assertEqual(at_end[0], 0)
        with open(self.root / "t.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        # Four bytes each: 64 x 64 weights, and 256 of the list, made anew before the old ones go. The parameter itself stays one.
        self.assertEqual(max(int(row["optimizer_state_bytes"]) for row in rows), 2 * (64 * 64 * 4 + 256 * 4))
        self.assertEqual(int(rows[-1]["parameters_bytes"]), 64 * 64 * 4)
        self.assertEqual({row["phase"] for row in rows if row["phase"].startswith("optimizer")}, {"optimizer 0", "optimizer 1"})

    def test_the_same_input_gives_the_same_bytes(self):
        self.assertEqual(run("run", self.scenario, "--format", "json"), run("run", self.scenario, "--format", "json"))


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    unittest.main()
