#!/usr/bin/env python3
"""torch.compile: modelled, run as eager or refused, as the user says, and told.

    compile_test.py PATH/TO/tidemark
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = sys.argv.pop(1)
HEAD = """import torch
from torch import nn
model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 8)).cuda()
"""
LOOP = """
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    loss = run(torch.randn(32, 64, device="cuda")).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


class Compile(unittest.TestCase):
    def run_script(self, text, *options, name="train.py"):
        """the exit code, what was printed, and the events"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.write_text(text, encoding="utf-8")
            command = [TIDEMARK, "run", path, "--device", "h100-sxm-80gb", "--events", pathlib.Path(folder, "e.csv"), *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            events = pathlib.Path(folder, "e.csv")
            rows = events.read_text(encoding="utf-8").splitlines() if events.exists() else []
        return done, [row.split(",")[1:6] for row in rows]

    def report(self, text, *options):
        done, _ = self.run_script(text, "--format", "json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_it_is_modelled_unless_something_else_is_said(self):
        text = HEAD + "run = torch.compile(model)" + LOOP
        _, modelled = self.run_script(text)
        self.assertEqual(modelled, self.run_script(text, "--compile", "model")[1])
        self.assertNotEqual(modelled, self.run_script(text, "--compile", "eager")[1])
        self.assertIn("% of allocated", self.report(text)["notes"][0]["text"])

    def test_it_is_refused_by_name_with_its_line_and_the_option(self):
        for line in ("run = torch.compile(model)", "model.compile()", "run = torch.compiler.compile(model)",
                     "run = torch._dynamo.optimize('inductor')(model)"):  # fmt: skip
            with self.subTest(line):
                done, _ = self.run_script(HEAD + line + "\n", "--compile", "refuse")
                self.assertEqual(done.returncode, 2)
                self.assertIn("train.py:4:", done.stderr)
                self.assertIn("torch.compile is not modelled", done.stderr)
                self.assertIn("--compile eager", done.stderr)

    def test_run_as_eager_every_form_has_the_events_of_the_code_without_it(self):
        _, plain = self.run_script(HEAD + "run = model" + LOOP)
        self.assertGreater(len(plain), 50)
        for line in (
            "run = torch.compile(model, mode='max-autotune', dynamic=True)",
            "run = torch.compile(model, backend='aot_eager', fullgraph=True)",
            "model.compile(mode='reduce-overhead')\nrun = model",
            "run = torch.compile(lambda x: model(x))",
            "@torch.compile\ndef run(x):\n    return model(x)",
            "@torch.compile(options={'max_autotune': True})\ndef run(x):\n    return model(x)",
        ):
            with self.subTest(line):
                done, events = self.run_script(HEAD + line + LOOP, "--compile", "eager")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(events, plain)

    def test_the_result_says_which_lines_were_run_as_eager_and_by_how_much_that_errs(self):
        text = HEAD + "run = torch.compile(model)\nfor i in range(2):\n    other = torch.compile(nn.ReLU(), mode='default')\n" + LOOP
        said = r"compiled code is run as eager, which errs by -\d+ to \+\d+ % of allocated and -\d+ to \+\d+ % of reserved"
        done, _ = self.run_script(text, "--compile", "eager")
        flat = " ".join(done.stdout.split())
        self.assertRegex(flat, r"Rests on \S*train.py:4:7: " + said)
        self.assertRegex(flat, r"train.py:6:13: " + said)
        notes = self.report(text, "--compile", "eager")["notes"]
        self.assertEqual([(n["line"], n["times"]) for n in notes], [(4, 1), (6, 2)])
        for note in notes:
            self.assertRegex(note["text"], said)

    def test_a_run_that_compiles_nothing_says_nothing_of_it(self):
        self.assertNotIn("notes", self.report(HEAD + "run = model" + LOOP, "--compile", "eager"))

    def test_a_compiled_module_is_the_module_with_a_prefix(self):
        body = """
run = torch.compile(model)
model.extra = 7
print(type(run).__name__, run._orig_mod is model, isinstance(run, nn.Module), run.extra, len(run))
print(sorted(run.state_dict())[:2], [name for name, _ in run.named_parameters()][0])
run.eval()
print(model.training, run.training, model[1].training)
run.train()
run.note = 1
print(model.note, model.training, hasattr(run, "absent"))
model.load_state_dict({k.removeprefix("_orig_mod."): v for k, v in run.state_dict().items()})
run.load_state_dict(run.state_dict())
"""
        self.assertEqual(self.report(HEAD + body, "--compile", "eager")["printed"].splitlines(), [
            "OptimizedModule True True 7 3",
            "['_orig_mod.0.bias', '_orig_mod.0.weight'] _orig_mod.0.weight",
            "False False False",
            "1 True False",
        ])  # fmt: skip

    def test_what_is_switched_off_is_the_function_itself_and_needs_no_option(self):
        report = self.report(HEAD + "def f(x):\n    return x\nprint(torch.compile(f, disable=True) is f)\n")
        self.assertEqual(report["printed"], "True\n")
        self.assertNotIn("notes", report)
        report = self.report("import os\nos.environ['TORCHDYNAMO_DISABLE'] = '1'\n" + HEAD + "torch.compile(model)\n")
        self.assertNotIn("notes", report)

    def test_what_is_said_to_the_compiler_does_nothing(self):
        text = """import torch
import torch._dynamo
import torch._inductor.config as inductor
from torch._dynamo import config
torch._dynamo.config.cache_size_limit = max(torch._dynamo.config.cache_size_limit, 64)
config.suppress_errors = True
inductor.triton.unique_kernel_names = True
inductor.coordinate_descent_tuning = True
torch._inductor.config.fx_graph_cache = True
torch._functorch.config.activation_memory_budget = 0.5
torch._dynamo.reset()
torch.compiler.reset()
torch.compiler.cudagraph_mark_step_begin()
with torch._dynamo.config.patch(suppress_errors=True), torch.compiler.set_stance("force_eager"):
    torch._dynamo.mark_dynamic(torch.ones(2), 0)
    torch._dynamo.graph_break()
@torch.compiler.disable(recursive=False)
def f(x):
    return x
@torch._dynamo.disable
def g(x):
    return f(x)
print(g(config.cache_size_limit), torch.compiler.is_compiling(), torch._inductor.list_mode_options("reduce-overhead"))
"""
        self.assertEqual(self.report(text)["printed"], "64 False {'triton.cudagraphs': True}\n")

    def test_mode_and_options_exclude_each_other_as_in_pytorch(self):
        done, _ = self.run_script(HEAD + "torch.compile(model, mode='default', options={'a': 1})\n", "--compile", "eager")
        self.assertIn("Either mode or options can be specified", done.stderr)

    def test_a_scenario_and_a_sweep_have_the_key(self):
        scenario = """schema_version: 1
device: h100-sxm-80gb
compile: eager
model: {code: "def make():\\n    return torch.compile(nn.Linear(8, 8))\\n", function: make}
train: {steps: 2, batch: 4, input: [8], target: [], loss: cross_entropy}
"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "s.yaml")
            path.write_text(scenario, encoding="utf-8")

            def run(*words):
                return subprocess.run([TIDEMARK, *words], capture_output=True, text=True, check=False, cwd=folder)

            self.assertIn("compiled code is run as eager", " ".join(run("run", "s.yaml").stdout.split()))
            self.assertIn("torch.compile is not modelled", run("run", "s.yaml", "--set", "compile=refuse").stderr)
            wrong = run("run", "s.yaml", "--compile", "eagre").stderr
            self.assertIn("eager", wrong)
            path.write_text(scenario + "sweep: {grid: {compile: [eager, refuse]}}\n", encoding="utf-8")
            done = run("sweep", "s.yaml", "--out", "r.sqlite")
            rows = run("results", "r.sqlite", "--format", "csv").stdout
            self.assertEqual(rows.count("torch.compile is not modelled"), 1, done.stdout + done.stderr + rows)

    def test_modelled_what_is_not_modelled_is_refused_with_its_line_and_the_way_out(self):
        for line, said in (
            ("run = torch.compile(model, backend='cudagraphs')", "train.py:4:7: error: torch.compile(backend='cudagraphs') is not"),
            ("run = torch.compile(model, options={'shape_padding': False})", "train.py:4:7: error: torch.compile(options={'shape_padding': False})"),
            ("    x = x.to('cpu')", "train.py:7:"),
            ("    x.view(-1)[::5] = 1", "in place into a part of a tensor"),
            ("    kept.append(x * 2)", "makes and keeps"),
        ):
            with self.subTest(line):
                body = line + "\n"
                if line.startswith(" "):
                    body = "kept, outside = [], torch.compiler.disable(torch.sin)\n@torch.compile(backend='aot_eager')\ndef run(x):\n"
                    body += line + "\n    return model(x)\n" + LOOP
                done, _ = self.run_script(HEAD + body, "--compile", "model")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(said, done.stderr)
                self.assertIn("--compile eager", done.stderr)

    def test_where_the_program_leaves_it_a_graph_ends_and_another_begins(self):
        for line in (
            "    print('here')",
            "    x = x * x.sum().item()",
            "    if x.sum() > 0: pass",
            "    torch._dynamo.graph_break()",
            "    x = outside(x)",
            "    (lambda: print('x'))()",
            "    for i in range(2): print('x')",
            "    for i in range(2): x = outside(x)",
            "    try: print('x')\n    except ValueError: pass",
        ):
            with self.subTest(line):
                body = "outside = torch.compiler.disable(torch.sin)\n@torch.compile(backend='aot_eager')\ndef run(x):\n"
                body += "    x = torch.tanh(x)\n" + line + "\n    return model(x)\n" + LOOP
                done, _ = self.run_script(HEAD + body, "--compile", "model")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("FITS", done.stdout)

    def test_modelled_code_does_what_else_it_does_at_every_call(self):
        body = """
calls = []
@torch.compile(backend="aot_eager")
def run(x, scale=1.0):
    calls.append((tuple(x.shape), torch.compiler.is_compiling()))
    return {"y": model(x) * scale, "x": x, "n": 3}
for n in (4, 4, 8):
    out = run(torch.randn(n, 64, device="cuda"), scale=2.0)
    print(out["y"].shape, out["y"].requires_grad, out["y"].grad_fn, out["x"].grad_fn, out["n"])
with torch.no_grad():
    print(run(torch.randn(4, 64, device="cuda"))["y"].requires_grad)
print(calls[1:], torch.compiler.is_compiling())
"""
        self.assertEqual(self.report(HEAD + body, "--compile", "model")["printed"].splitlines(), [
            "torch.Size([4, 8]) True <CompiledFunctionBackward> None 3",
            "torch.Size([4, 8]) True <CompiledFunctionBackward> None 3",
            "torch.Size([8, 8]) True <CompiledFunctionBackward> None 3",
            "False",
            "[((4, 64), True), ((8, 64), True), ((4, 64), True)] False",
        ])  # fmt: skip

    def test_views_of_inputs_leave_compiled_code(self):
        body = """
outside = torch.compiler.disable(torch.relu)
@torch.compile
def run(x):
    return x[None], outside(x[None]) * 2
x = torch.randn(4, 64, device="cuda", requires_grad=True)
for i in range(2):
    a, b = run(x)
    (a + b).sum().backward()
print(a.shape, b.shape, x.grad.shape)
"""
        self.assertEqual(self.report(HEAD + body, "--compile", "model")["printed"].splitlines(), [
            "torch.Size([1, 4, 64]) torch.Size([1, 4, 64]) torch.Size([4, 64])"
        ])  # fmt: skip

    def test_the_stages_of_compiled_code_are_printed(self):
        text = HEAD + "run = torch.compile(model, backend='aot_eager')" + LOOP
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "train.py").write_text(text, encoding="utf-8")

            def graph(*words):
                command = [TIDEMARK, "graph", pathlib.Path(folder, "train.py"), "--device", "h100-sxm-80gb", *words]
                return subprocess.run(command, capture_output=True, text=True, check=False)

            joint = graph("--compile", "model", "--stage", "joint").stdout
            self.assertEqual(joint.count("joint graph"), 1)
            self.assertIn("    gelu: float32[32, 128] = gelu(addmm)\n", joint)
            self.assertIn("    gelu_backward: float32[32, 128] = gelu_backward(", joint)
            parts = graph("--compile", "model", "--stage", "partitioned").stdout
            saved = parts[parts.index("saved for backward") : parts.index("backward graph")]
            self.assertIn("    addmm: float32[32, 128]\n", saved)
            self.assertIn("nothing was compiled", graph("--compile", "eager", "--stage", "joint").stderr)
            self.assertIn("joint, partitioned, fused, buffers", graph("--compile", "model", "--stage", "loops").stderr)
            self.assertIn("nothing was compiled by inductor", graph("--compile", "model", "--stage", "fused").stderr)
            pathlib.Path(folder, "train.py").write_text(text.replace("aot_eager", "inductor"), encoding="utf-8")
            fused = graph("--compile", "model", "--stage", "fused").stdout
            self.assertIn("    library\n        buf0: op0 addmm\n", fused)
            self.assertIn("    pointwise 4096\n        buf1: op1 mul_2\n            buf0[128*i0 + 1*i1 : 32x128]\n", fused)
            buffers = graph("--compile", "model", "--stage", "buffers").stdout
            self.assertIn("    buf0 = empty_strided([32, 128], [128, 1], float32)\n    buf0 = addmm\n", buffers)
            self.assertIn("    return buf2 ", buffers)


if __name__ == "__main__":
    unittest.main()
