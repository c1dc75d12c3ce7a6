#!/usr/bin/env python3
"""validate and record as a user meets them, with no PyTorch: validate_test.py PATH/TO/tidemark"""

import contextlib
import gzip
import json
import os
import pathlib
import sqlite3
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


PROBE = {"schema_version": 2, "kind": "probe", "device": "NVIDIA A100-SXM4-80GB", "compute_capability": "8.0", "sm_count": 108,
         "pretend": False, "total_bytes": 85100068864, "driver": "580.1", "cuda": "13.0", "context_bytes": 500000000,
         "gone_bytes": 500000000, "first_kernel_bytes": 4194304, "granularity_bytes": 2097152, "address_order": "down",
         "launch_ns": 4100, "host_op_ns": 5200, "host_op_ns_spread": [5000, 5900, 9], "kernel_ns": 2600, "other_processes": 0, "other_processes_after": 0, "cublas_bytes": 9437184, "cudnn_bytes": -1, "nccl_bytes": -1, "cudnn_workspaces": [], "bytes_per_s": 1733000000000, "flops_per_s": {"fp32": 1, "tf32": 1, "fp16": 1, "bf16": 234000000000000},
         "flops_by": "cublas", "date": "2026-11-01", "pytorch": "2.9.1+cu130", "repeats": 9, "took_ns": 12000000,
         # 40 us and 2 us a page, and one that somebody disturbed
         "latencies": [{"bytes": 2097152 * n, "malloc_ns": round((40000 + 2000 * n) * k), "free_ns": 30000, "map_ns": 61000, "unmap_ns": 41000}
                       for n, k in ((1, 1), (4, 1), (16, 1), (64, 2.3), (256, 1), (1024, 1))]}


class Calibration(unittest.TestCase):
    def calibrated(self, folder, probe, *words):
        (pathlib.Path(folder) / "probe.json").write_text(json.dumps(probe))
        return tidemark("calibrate", "--probe", folder + "/probe.json", "--out", folder + "/c.yaml", *words)

    def test_what_was_measured_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.calibrated(folder, PROBE, "--device", "a100-sxm-80gb")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("9 entries measured, 4 interpolated, 7 assumed; 9 repeats in 12 ms", done.stdout)
            self.assertIn("cudaMalloc by size: off by 0.0 % in the mean, 0.0 % at most, on 5 sizes held out", done.stdout)
            self.assertIn("Not believed: cudaMalloc of 64 pages in 386400 ns, where the others say 168000\n", done.stdout)
            text = (pathlib.Path(folder) / "c.yaml").read_text()
            for line in ("context_bytes: {value: 504194304, basis: measured, low: 504194304, high: 504194304, count: 1}",
                         "malloc_ns: {value: 40000, basis: interpolated, low: 40000, high: 40000, count: 5}",
                         "malloc_page_ns: {value: 2000, basis: interpolated, low: 2000, high: 2000, count: 5}",
                         "launch_overhead_ns: {value: 5200, basis: measured, low: 5000, high: 5900, count: 9}",
                         "matmul_share: {value: 750, basis: measured, low: 750, high: 750, count: 1}",
                         "convolution_share: {value: 600, basis: assumed}"):
                self.assertIn("  %s\n" % line, text)
            done = tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", folder + "/c.yaml")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("reserved + CUDA context 481 MiB", done.stdout)
            self.assertIn("driver 580.1, 2026-11-01: 9 entries measured, 4 interpolated, 7 assumed", done.stdout)
            self.assertNotIn("cuDNN", done.stdout)
            other = "PyTorch there is 2.9.1+cu130, the allocator simulated here is 2.15's: see 'pytorch:' of the scenario\n"
            self.assertIn(other, done.stdout)
            done = tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", folder + "/c.yaml", "--set", "pytorch=2.9")
            self.assertNotIn("PyTorch there", done.stdout)
            done = tidemark("run", SCENARIOS / "resnet50.yaml", "--device", "a100-sxm-80gb", "--calibration", folder + "/c.yaml")
            self.assertRegex(done.stdout, r"Fits only if cuDNN asks for less than [0-9.]+ GiB \([0-9,]+ bytes\) beside it")

    def test_measured_workspaces_decide_the_verdict(self):
        """the largest at any shape is taken for all others"""
        points = [{"pass": "forward", "dtype": "float16", "batch": 32, "channels": 64, "side": 128, "bytes": n} for n in (0, 3 << 20)]
        for most, library, verdict in ((3 << 20, 4 << 20, r"Fits: cuDNN asked for 3.00 MiB \(3,145,728 bytes\) at most in 3 measured convolutions, "),
                                       (78 << 30, 4 << 20, r"Fits only if cuDNN asks for less than [0-9.]+ GiB \([0-9,]+ bytes\) beside it: in measured "
                                                           r"convolutions it asked for up to 78.0 GiB"),
                                       (3 << 20, 78 << 30, r"Does not fit: cuBLAS and cuDNN take 78.0 GiB")):
            probe = {**PROBE, "cudnn_bytes": library, "cudnn_workspaces": points + [{**points[0], "bytes": most}]}
            with tempfile.TemporaryDirectory() as folder:
                done = self.calibrated(folder, probe, "--device", "a100-sxm-80gb")
                self.assertIn("10 entries measured, 5 interpolated, 5 assumed", done.stdout)
                done = tidemark("run", SCENARIOS / "resnet50.yaml", "--device", "a100-sxm-80gb", "--calibration", folder + "/c.yaml")
                self.assertRegex(done.stdout, verdict)

    def test_another_card_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.calibrated(folder, PROBE, "--device", "t4")
            self.assertEqual(done.returncode, 2)
            self.assertIn("the probe is of 'NVIDIA A100-SXM4-80GB', the device is 'Tesla T4'; name the card with --device", done.stderr)
            self.calibrated(folder, PROBE, "--device", "a100-sxm-80gb")
            done = tidemark("run", SCENARIOS / "unet_own_loop.yaml", "--calibration", folder + "/c.yaml")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("the calibration is of 'NVIDIA A100-SXM4-80GB', the device is 'Tesla T4'; calibrate on the card itself; figures of "
                          "another are not bent", done.stderr)

    def test_nonsense_is_refused(self):
        for change, message in (({"schema_version": 1}, "the probe is of another release: 1, not 2"),
                                ({"total_bytes": 85100068864 // 2}, "the probe is of a card of 42550034432 bytes, the device has 85"),
                                ({"flops_per_s": {"bf16": 936e12}}, "is 3.0 times the peak of the card"),
                                ({"bytes_per_s": 6.2e12}, "bytes_per_s: is 3.0 times the peak of the card"),
                                ({"other_processes_after": 1}, "1 more on the device while it was measured")):
            with tempfile.TemporaryDirectory() as folder:
                done = self.calibrated(folder, {**PROBE, **change}, "--device", "a100-sxm-80gb")
                self.assertEqual((done.returncode, done.stdout), (2, ""), change)
                self.assertIn(message, done.stderr)

    def test_a_context_that_could_not_be_told_is_assumed(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.calibrated(folder, {**PROBE, "context_bytes": -1, "other_processes": -1}, "--device", "a100-sxm-80gb")
            self.assertIn("Whether others used the device meanwhile: not told\n", done.stdout)
            self.assertIn("  context_bytes: {value: 0, basis: assumed}\n", (pathlib.Path(folder) / "c.yaml").read_text())

    def test_a_profiler_s_trace_says_what_classes_reach(self):
        """products at 200 of 312 TFLOP/s in bf16, one kernel ten times too slow, one call without shapes"""
        def pair(number, name, dims, types, us, kernel="k", **args):
            return [{"ph": "X", "cat": "cpu_op", "name": name, "ts": 0, "dur": 1,
                     "args": {"External id": number, "Input Dims": dims, "Input type": types, **args}},
                    {"ph": "X", "cat": "kernel", "name": kernel, "ts": 0, "dur": us, "args": {"External id": number}}]
        half = ["c10::BFloat16", "c10::BFloat16"]
        events, n = [], 0
        for size, slow in ((1024, 1), (2048, 1), (4096, 1), (3072, 1), (8192, 1), (6144, 10)):
            events += pair(n, "aten::mm", [[size, size], [size, size]], half, 2 * size ** 3 / 200e12 * 1e6 * slow)
            n += 1
        for size in (32, 64, 128):
            settings = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]
            events += pair(n, "aten::cudnn_convolution", [[size, 64, 56, 56], [128, 64, 3, 3]], ["float", "float"],
                           2 * size * 128 * 56 * 56 * 64 * 9 / 78e12 * 1e6, "sm80_xmma_fprop_implicit_gemm_tf32f32", **{"Concrete Inputs": settings})
            n += 1
        events += pair(n, "aten::mm", [], [], 10)
        trace = {"deviceProperties": [{"name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0}], "traceEvents": events}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_text(json.dumps(trace))
            done = tidemark("calibrate", "--device", "a100-sxm-80gb", "--kernels", path, "--out", folder + "/c.yaml")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Not believed: mm in ", done.stdout)
            text = (pathlib.Path(folder) / "c.yaml").read_text()
            self.assertIn("  matmul_share: {value: 641, basis: measured, low: 641, high: 641, count: 5}\n", text)
            self.assertIn("  convolution_share: {value: 500, basis: measured, low: 500, high: 500, count: 3}\n", text)
            self.assertIn("{kind: convolution, precision: tf32, ", text)
            self.assertEqual(tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", folder + "/c.yaml").returncode, 0)
            done = tidemark("calibrate", "--device", "t4", "--kernels", path, "--out", folder + "/c.yaml")
            self.assertEqual(done.returncode, 2)
            self.assertIn("the kernels are of 'NVIDIA A100-SXM4-80GB', the device is 'Tesla T4'", done.stderr)

    def test_copies_of_nsys_say_what_memory_reaches(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/report.sqlite"
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (bytes INT, copyKind INT, start INT, end INT)")
                db.execute("CREATE TABLE TARGET_INFO_GPU (name TEXT, computeMajor INT, computeMinor INT)")
                db.execute("INSERT INTO TARGET_INFO_GPU VALUES ('NVIDIA A100-SXM4-80GB', 8, 0)")
                # 1.6 of 2.039 TB/s, each byte read and written; host copies do not count
                rows = [(size << 20, kind, 0, round((size << 20) * 2 / 1600)) for size in (64, 128, 256, 512) for kind in (8, 1)]
                db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, ?, ?)", rows)
                db.commit()
            done = tidemark("calibrate", "--device", "a100-sxm-80gb", "--kernels", path, "--out", folder + "/c.yaml")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("  memory_share: {value: 785, basis: measured, low: 785, high: 785, count: 4}\n", (pathlib.Path(folder) / "c.yaml").read_text())

    def test_a_damaged_or_stale_one_is_told_with_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            self.calibrated(folder, PROBE, "--device", "a100-sxm-80gb")
            file = pathlib.Path(folder) / "c.yaml"
            text = file.read_text()
            for old, new, message in (("schema_version: 3", "schema_version: 1", "schema_version: must lie between 3 and 3, found 1"),
                                      ("basis: measured", "basis: guessed", "'guessed'"), ("  map_ns:", "  mapp_ns:", "mapp_ns")):
                file.write_text(text.replace(old, new, 1))
                done = tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", file)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)
                self.assertIn("c.yaml:", done.stderr)

    def test_no_probe_is_77(self):
        done = tidemark("calibrate", "--device", "t4")
        self.assertEqual(done.returncode, 77)
        self.assertIn("no probe was found: build validation/cuda", done.stderr)


class Plans(unittest.TestCase):
    def test_a_plan_holds_the_run_s_events_in_order(self):
        with tempfile.TemporaryDirectory() as folder:
            plan, events = pathlib.Path(folder) / "p", pathlib.Path(folder) / "e.csv"
            self.assertEqual(tidemark("plan", SCENARIOS / "vit_expandable.yaml", "--out", plan).returncode, 0)
            self.assertEqual(tidemark("run", SCENARIOS / "vit_expandable.yaml", "--events", events).returncode, 0)
            words = {"segment_map": "map", "segment_alloc": "segment", "alloc": "alloc", "free_requested": "free", "free_completed": "done"}
            expected = [words[line.split(",")[1]] for line in events.read_text().splitlines()[1:]]
            lines = plan.read_text().splitlines()
            self.assertEqual(lines[0], "tidemark-plan 3")
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
            "convolution fp32 convolution float32[8,3,32,32] float32[16,3,3,3] -> float32[8,16,16,16] pass=forward " + settings,
            "convolution fp32 ConvolutionBackward0 float32[8,16,16,16] float32[16,3,3,3] -> float32[8,3,32,32] pass=input " + settings,
            "convolution fp32 ConvolutionBackward0 float32[8,16,16,16] float32[8,3,32,32] -> float32[16,3,3,3] pass=weight " + settings])

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
            self.assertEqual(done.stdout.splitlines()[4:], ["goes_on", "segment 2097152 35423782961152", "alloc 0 1000 35423782961152 0", "use 0 1", "free 0",
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
