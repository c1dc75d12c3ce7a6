#!/usr/bin/env python3
"""validate and record as a user meets them, with no PyTorch: validate_test.py PATH/TO/tidemark"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "validation" / "scenarios"
RECORDED = ROOT / "validation" / "recorded"
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "tidemark"


def tidemark(*words, **variables):
    env = {k: v for k, v in os.environ.items() if k not in ("TIDEMARK_TORCH", "TIDEMARK_ORACLE", "TIDEMARK_CUDA")}
    return subprocess.run([PROGRAM] + [str(w) for w in words], env={**env, **variables}, text=True, cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def recorded_scenarios():
    return [SCENARIOS / (p.stem + ".yaml") for p in sorted(RECORDED.glob("*.json"))]


class Recorded(unittest.TestCase):
    def test_the_recorded_runs_are_simulated_exactly(self):
        scenarios = recorded_scenarios()
        self.assertGreaterEqual(len(scenarios), 5)
        done = tidemark("validate", *scenarios, "--against", "recorded:%s" % RECORDED)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("%d of %d cases exact; 0 of " % (len(scenarios), len(scenarios)), done.stdout)
        self.assertIn("yes, foreseen", done.stdout)

    def test_another_setting_is_told_with_its_first_difference(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:%s" % RECORDED, "--set", "batch=257")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 of 1 cases exact", done.stdout)
        self.assertRegex(done.stdout, r"First difference: event \d+, differs in bytes")

    def test_a_smaller_device_makes_the_verdict_wrong(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:%s" % RECORDED, "--set", "device.total=500MiB",
                        "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["summary"]["wrong_oom_verdicts"], 1)
        self.assertTrue(answer["cases"][0]["oom_simulated"])
        self.assertLess(answer["cases"][0]["peak_reserved"]["error_ppm"], 0)
        self.assertEqual(answer["summary"]["peak_reserved"]["under"], 1)

    def test_the_page_is_well_formed_and_holds_both_curves(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:%s" % RECORDED, "--format", "html")
        picture = done.stdout[done.stdout.index("<svg"):done.stdout.index("</svg>") + 6]
        lines = [e.getAttribute("class") for e in xml.dom.minidom.parseString(picture).getElementsByTagName("polyline")]
        self.assertEqual(sorted(lines), ["measured", "measured free", "simulated", "simulated free"])

    def test_a_snapshot_of_the_same_program_is_exact(self):
        with tempfile.TemporaryDirectory() as folder:
            snapshot = pathlib.Path(folder) / "s.pickle"
            self.assertEqual(tidemark("run", SCENARIOS / "mlp.yaml", "--snapshot", snapshot).returncode, 0)
            done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "snapshot:%s" % snapshot)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"by segment and offset: 0 of \d+ allocations lie elsewhere")

    def test_a_recording_is_compared_with_what_the_programs_own_calls_recorded(self):
        # Recorded by PyTorch 2.11: the model before, the teardown after, and a second file are no part of what one file holds.
        windows = pathlib.Path(__file__).resolve().parent.parent / "golden" / "recordings" / "windows"
        for program, recording in (("steps.py", "steps"), ("whole.py", "two_steps"), ("whole.py", "whole")):
            with self.subTest(recording), tempfile.TemporaryDirectory() as folder:
                snapshot = pathlib.Path(folder) / (recording + ".pickle")
                snapshot.write_bytes(gzip.decompress((windows / (recording + ".pickle.gz")).read_bytes()))
                done = tidemark("validate", windows / program, "--device", "h100-sxm-80gb", "--against", "snapshot:%s" % snapshot)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_other_side_of_another_release_is_refused(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:%s" % RECORDED, "--set", "pytorch=2.8")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("mlp: the scenario asks for PyTorch 2.8, the other side is of 2.11.0", done.stderr)
        snapshot = "tests/golden/recordings/releases/2.15.0-two.pickle.gz"
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "snapshot:%s" % snapshot, "--set", "pytorch=2.8")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("mlp: the scenario asks for PyTorch 2.8, the recording is of 2.13 to 2.15", done.stderr)


class Plans(unittest.TestCase):
    def test_a_plan_holds_the_run_s_events_in_order(self):
        with tempfile.TemporaryDirectory() as folder:
            plan, events = pathlib.Path(folder) / "p", pathlib.Path(folder) / "e.csv"
            self.assertEqual(tidemark("plan", SCENARIOS / "vit_expandable.yaml", "--out", plan).returncode, 0)
            self.assertEqual(tidemark("run", SCENARIOS / "vit_expandable.yaml", "--events", events).returncode, 0)
            words = {"segment_map": "map", "segment_alloc": "segment", "alloc": "alloc", "free_requested": "free", "free_completed": "done"}
            expected = [words[line.split(",")[1]] for line in events.read_text().splitlines()[1:]]
            lines = plan.read_text().splitlines()
            self.assertEqual(lines[0], "tidemark-plan 4")
            self.assertEqual([line.split()[0] for line in lines if line.split()[0] in words.values()], expected)
            self.assertIn("matmul", {line.split()[2] for line in lines if line.startswith("kernel ")})

    def test_what_states_no_work_of_its_own_is_one_kernel_over_what_it_reads_and_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "s.py"
            script.write_text("import torch\nimport torch.nn.functional as F\n"
                              "x = torch.zeros(1024, 256, device='cuda', requires_grad=True)\n"
                              "table = torch.zeros(100000, 256, device='cuda')\n"
                              "ids = torch.zeros(64, dtype=torch.long, device='cuda')\n"
                              "y = x + 1\ny.t()\ny.mul_(2)\ns = y.sum()\nF.embedding(ids, table)\ns.backward()\nx.sum().backward()\n")
            lines = tidemark("plan", script, "--device", "h100").stdout.splitlines()
        mib = 1 << 20
        kernels = [line.split()[2:6] for line in lines if line.startswith("kernel ")]
        self.assertEqual([" ".join(kernels[int(line.split()[1])]) for line in lines if line.startswith("launch ")], [
            f"elementwise fp32 0 {2 * mib}",  # x + 1
            f"elementwise fp32 0 {2 * mib}",  # mul_; the view before it is no kernel
            f"reduction fp32 0 {mib + 4}",  # sum
            f"elementwise fp32 0 {2 * 64 * 256 * 4}",  # embedding reads the rows that it gives
            f"elementwise fp32 0 {2 * mib}",  # backward of mul_: the gradient, which is a scalar expanded, times 2
            f"reduction fp32 0 {mib + 4}",  # the second sum
            f"elementwise fp32 0 {3 * mib}",  # added to the first gradient
        ])

    def kernels(self, program, *words):
        """kernel lines without number and work, and the launches' operands"""
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "s.py"
            script.write_text("import torch\nimport torch.nn.functional as F\n" + program)
            done = tidemark("plan", script, "--device", "h100", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        kernels = [line.split() for line in lines if line.startswith("kernel ")]
        return [" ".join(k[2:4] + k[6:]) for k in kernels], [line.split()[3:] for line in lines if line.startswith("launch ")]

    def test_products_tell_their_operands_and_where_they_lie(self):
        kernels, places = self.kernels("a = torch.empty(64, 128, device='cuda', dtype=torch.bfloat16)\n"
                                       "b = torch.empty(32, 128, device='cuda', dtype=torch.bfloat16)\n"
                                       "y = a[32:] @ b.t()\n")
        self.assertEqual(kernels, ["matmul bf16 mm bfloat16[32,128]+4096 bfloat16[128,32]:1,128 -> bfloat16[32,32]"])
        # 0 and 1 are a and b, 2 is cuBLAS's workspace or the result, whichever is asked for first
        self.assertEqual(places[0][:2], ["0", "1"])
        self.assertIn(places[0][2], ("2", "3"))

    def test_products_in_tf32_say_so_and_take_less_time(self):
        product = "x = torch.empty(4096, 4096, device='cuda')\ny = x @ x\n"
        allowed = ("torch.backends.cuda.matmul.allow_tf32 = True\n", "torch.set_float32_matmul_precision('high')\n")
        for switch, precision in (("", "fp32"), (allowed[0], "tf32"), (allowed[1], "tf32"), (allowed[0] + allowed[0].replace("True", "False"), "fp32")):
            kernels, _ = self.kernels(switch + product)
            self.assertEqual(kernels[0].split()[:3], ["matmul", precision, "mm"], switch)
        kernels, _ = self.kernels(allowed[0] + product.replace("device=", "dtype=torch.float64, device="))
        self.assertEqual(kernels[0].split()[:2], ["matmul", "fp64"])

    def test_convolutions_tell_their_pass_and_settings(self):
        kernels, _ = self.kernels("x = torch.empty(8, 3, 32, 32, device='cuda', requires_grad=True)\n"
                                  "w = torch.empty(16, 3, 3, 3, device='cuda', requires_grad=True)\n"
                                  "F.conv2d(x, w, stride=2, padding=1).sum().backward()\n")
        settings = "stride=2,2 padding=1,1 dilation=1,1 groups=1"
        self.assertEqual([k for k in kernels if k.startswith("convolution")], [
            "convolution tf32 convolution float32[8,3,32,32] float32[16,3,3,3] -> float32[8,16,16,16] pass=forward " + settings,
            "convolution tf32 ConvolutionBackward0 float32[8,16,16,16] float32[16,3,3,3] -> float32[8,3,32,32] pass=input " + settings,
            "convolution tf32 ConvolutionBackward0 float32[8,16,16,16] float32[8,3,32,32] -> float32[16,3,3,3] pass=weight " + settings])

    def test_convolutions_compute_in_tf32_unless_the_program_forbids_it(self):
        convolution = "x = torch.empty(8, 3, 32, 32, device='cuda')\nw = torch.empty(16, 3, 3, 3, device='cuda')\ny = F.conv2d(x, w)\n"
        cudnn = "torch.backends.cudnn."
        off = cudnn + "allow_tf32 = False\n"
        for switch, precision in (
            ("", "tf32"), (off, "fp32"), (off + cudnn + "allow_tf32 = True\n", "tf32"), (cudnn + "conv.fp32_precision = 'ieee'\n", "fp32"),
            (cudnn + "fp32_precision = 'ieee'\n", "tf32"),  # what a convolution says itself comes first
            (off + "torch.backends.fp32_precision = 'tf32'\n", "tf32"), ("torch.set_float32_matmul_precision('highest')\n", "tf32"),
            (cudnn + "enabled = False\n", "fp32"),  # then it is a product, whose switch is off
            (cudnn + "enabled = False\ntorch.backends.cuda.matmul.allow_tf32 = True\n", "tf32"),
        ):
            kernels, _ = self.kernels(switch + convolution)
            self.assertEqual([k.split()[1] for k in kernels if k.startswith("convolution")], [precision], switch)
        within = "with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):\n    F.conv2d(x, w)\n"
        kernels, _ = self.kernels(convolution + within + "F.conv2d(x, w)\n")
        self.assertEqual([k.split()[1] for k in kernels if k.startswith("convolution")], ["tf32", "fp32"])  # the third is the first again

    def test_precisions_are_told_as_pytorch_tells_them(self):
        """what PyTorch 2.11 printed"""
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "s.py"
            script.write_text("import torch\nb = torch.backends\ndef show():\n"
                              "    print(b.cuda.matmul.fp32_precision, b.cudnn.conv.fp32_precision, b.cuda.matmul.allow_tf32, b.cudnn.allow_tf32,\n"
                              "          torch.get_float32_matmul_precision())\n"
                              "show()\ntorch.set_float32_matmul_precision('medium')\nshow()\ntorch.set_float32_matmul_precision('highest')\nshow()\n"
                              "b.cuda.matmul.allow_tf32 = True\nshow()\nb.cudnn.allow_tf32 = False\nshow()\n")
            done = tidemark("run", script, "--device", "h100")
        self.assertEqual(done.stdout.splitlines()[:5], ["none tf32 False True highest", "tf32 tf32 True True medium", "ieee tf32 False True highest",
                                                        "tf32 tf32 True True high", "tf32 none True False high"], done.stderr)

    def test_products_of_half_precision_say_what_sums_them_up(self):
        product = "x = torch.empty(4096, 4096, device='cuda', dtype=torch.%s)\ny = x @ x\n"
        switch = "torch.backends.cuda.matmul.allow_fp16_accumulation = True\n"
        for text, precision in ((product % "float16", "fp16"), (switch + product % "float16", "fp16_accumulated"), (switch + product % "bfloat16", "bf16")):
            kernels, _ = self.kernels(text)
            self.assertEqual(kernels[0].split()[:2], ["matmul", precision])

    def test_other_kernels_tell_their_operator_s_inputs_and_results(self):
        kernels, _ = self.kernels("x = torch.empty(64, 4, device='cuda', requires_grad=True)\ny = x.exp()\n"
                                  "with torch.no_grad():\n    x.neg()\ny.sum().backward()\n")
        self.assertEqual(kernels, ["elementwise fp32 exp float32[64,4] -> float32[64,4]",
                                   "elementwise fp32 neg float32[64,4] -> uint8[1024]",
                                   "reduction fp32 sum float32[64,4] -> float32[]",
                                   "elementwise fp32 ExpBackward0 float32[64,4] float32[64,4] -> float32[64,4]"])

    def test_a_trace_has_a_plan_too(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "t.tmt"
            trace.write_text("tidemark-trace 1\nalloc 0 1000\nuse 0 stream=1\nfree 0\nsync\nalloc 1 5\n")
            done = tidemark("plan", trace)
            self.assertEqual(done.stdout.splitlines()[4:], ["goes_on", "segment 2097152 35423782961152 0", "alloc 0 1000 35423782961152 0", "use 0 1", "free 0",
                                                            "sync", "done 0", "alloc 1 5 35423782961152 0"])

    def test_code_that_asks_for_figures_has_none(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "s.yaml"
            scenario.write_text("schema_version: 1\ndevice: h100\nloop: |\n  print(torch.cuda.memory_allocated())\n")
            done = tidemark("plan", scenario)
        self.assertEqual((done.returncode, done.stderr), (2, "error: s: the code asks for memory figures, which a plan cannot answer; take the "
                                                             "question out of the loop\n"))

    def test_no_harness_is_77(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "cuda")
        self.assertEqual(done.returncode, 77)
        self.assertIn("no harness was found: build validation/cuda", done.stderr)


class Recordings(unittest.TestCase):
    """programs written from recordings of real GPUs; the recordings are public, and kept beside the project"""

    def test_programs_are_simulated_as_they_were_recorded(self):
        folder = pathlib.Path(os.environ.get("TIDEMARK_SHARED", ROOT.parent / "shared")) / "snapshots"
        scenarios = sorted((ROOT / "validation" / "snapshots").glob("*.yaml"))
        self.assertGreaterEqual(len(scenarios), 5)
        if not folder.is_dir():
            self.skipTest("%d recordings are not here" % len(scenarios))
        for scenario in scenarios:
            with self.subTest(scenario.stem):
                done = tidemark("validate", scenario, "--against", "snapshot:%s" % (folder / (scenario.stem + ".pickle")))
                self.assertEqual(done.returncode, 0, done.stdout[:3000] + done.stderr)


class Refusals(unittest.TestCase):
    def test_no_pytorch_is_77(self):
        with tempfile.TemporaryDirectory() as folder:
            done = tidemark("validate", SCENARIOS / "mlp.yaml", TIDEMARK_CACHE=folder)
        self.assertEqual(done.returncode, 77)
        self.assertEqual(done.stderr, "no PyTorch was found; validation/pretend/environment.py FOLDER makes one that needs no GPU, and "
                                      "TIDEMARK_TORCH=FOLDER names it\n")

    def test_all_of_a_box_wants_something_to_measure_with(self):
        with tempfile.TemporaryDirectory() as folder:
            done = tidemark("validate", "--all", "--report", folder + "/box.md", "--device", "t4", SCENARIOS / "mlp.yaml")
            self.assertEqual((done.returncode, "nothing to measure with" in done.stderr), (77, True), done.stderr)

    def test_options_of_scenarios_are_none_of_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "t.tmt"
            trace.write_text("tidemark-trace 1\nalloc 0 1\n")
            done = tidemark("validate", trace, "--set", "a=1", "--against", "recorded:nowhere")
            self.assertEqual((done.returncode, done.stderr), (2, "error: --set: is for scenarios; a request trace has none\n"))
            done = tidemark("validate", SCENARIOS / "mlp.yaml", "--alloc-conf", "backend:naive", "--against", "recorded:nowhere")
            self.assertEqual((done.returncode, done.stderr), (2, "error: --alloc-conf: is for request traces; --set allocator.conf=...\n"))
            done = tidemark("plan", trace, "--job", "j.json")
            self.assertEqual((done.returncode, done.stderr),
                             (2, "error: --job: is for scenarios; play_trace.py takes a request trace as it is\n"))

    def test_an_unknown_target_is_named(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "tourch")
        self.assertEqual((done.returncode, done.stderr), (2, "error: --against: expected torch, cuda, recorded:FOLDER or snapshot:FILE, "
                                                             "found 'tourch'; did you mean 'torch'?\n"))

    def test_a_folder_without_the_case_is_named(self):
        done = tidemark("validate", SCENARIOS / "mlp.yaml", "--against", "recorded:nowhere")
        self.assertEqual(done.returncode, 4)
        self.assertIn("nowhere/mlp.json: No such file or directory", done.stderr)

    def test_record_runs_python_alone(self):
        done = tidemark("record", "--", "torchrun", "train.py")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "record: 'torchrun' is no Python program; what it starts cannot be watched. Give the script itself: "
                             "-- python train.py (of several ranks, one process)\n"))

    def test_record_says_when_the_script_is_not_there(self):
        done = tidemark("record", "--", "python3", "no-such-script.py")
        self.assertEqual((done.returncode, done.stderr), (4, "record: no-such-script.py: no such file\n"))

    def test_record_refuses_a_device_smaller_than_its_context(self):
        done = tidemark("record", "--device-bytes", "100MiB", "--", "python3", "x.py")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "error: --device-bytes: the CUDA context alone takes more than that\n"))


if __name__ == "__main__":
    unittest.main()
