#!/usr/bin/env python3
"""The harness and the probe end to end on the pretend GPU: harness_test.py PATH/TO/tidemark

Builds validation/cuda with nvcc for one architecture. Exit codes: 0 passed, 1 failed, 77 there is no CUDA toolkit.
"""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
VALIDATION = HERE.parents[1]
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "tidemark"
sys.path.append(str(VALIDATION / "pretend"))
import device  # noqa: E402
import environment  # noqa: E402
import stubs  # noqa: E402

SCENARIOS = VALIDATION / "scenarios"


def nvcc():
    home = environment.toolkit()
    return shutil.which("nvcc") or (str(home / "bin" / "nvcc") if home and (home / "bin" / "nvcc").exists() else None)


class Harness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        build, home = cls.folder / "build", environment.toolkit()
        for words in (["cmake", "-S", VALIDATION / "cuda", "-B", build, "-DTIDEMARK_CUDA_SHARED=ON", "-DCMAKE_CUDA_ARCHITECTURES=75"],
                      ["cmake", "--build", build]):
            done = subprocess.run([str(w) for w in words], env={**os.environ, "CUDACXX": nvcc()}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                raise RuntimeError(done.stdout[-3000:])
        cls.harness, cls.probe = build / "tidemark-cuda", build / "tidemark-probe"
        libraries = [(name, str(home / "lib64" / name)) for name in ("libcublas.so.13", "libcudnn.so.9", "libnccl.so.2")]
        cudart = "libcudart.so.%d" % (environment.cuda_version(home / "include") // 1000)
        stubs.build(str(cls.folder / "stubs"), [str(home / "include")], cudart, [str(cls.harness), str(cls.probe)],
                    [("libcuda.so.1", str(home / "lib64" / "stubs" / "libcuda.so"))] + [each for each in libraries if os.path.exists(each[1])],
                    say=lambda line: None)
        cls.has_libraries = all((cls.folder / "stubs" / name).exists() for name, _ in libraries)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_with(self, *words, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FAKECUDA_")}
        env.update(variables, LD_LIBRARY_PATH=str(self.folder / "stubs"), TIDEMARK_CUDA=str(self.harness))
        return subprocess.run([str(w) for w in words], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def plan(self, name, *words):
        path = self.folder / (name + ".plan")
        done = self.run_with(PROGRAM, "plan", SCENARIOS / (name + ".yaml"), "--out", path, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def execute(self, plan, *words, **variables):
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = self.run_with(self.harness, plan, "--out", out, *words, **variables)
        answer = json.loads((out / (plan.stem + ".json")).read_text()) if (out / (plan.stem + ".json")).exists() else None
        return done, answer, out

    def test_plans_are_executed_as_simulated(self):
        names = ["mlp", "conv_batches", "vit_expandable", "near_oom"]
        done = self.run_with(PROGRAM, "validate", *[SCENARIOS / (n + ".yaml") for n in names], "--against", "cuda", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stdout[:3000] + done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["summary"]["exact_cases"], len(names))
        self.assertEqual([c["oom_measured"] for c in answer["cases"]], [False, False, False, True])
        for case in answer["cases"]:
            self.assertEqual(case["device_total"]["error_ppm"], 0, case["name"])
            self.assertIsNone(case["peak_allocated"]["measured"])

    def test_each_request_as_a_device_call(self):
        plan = self.plan("mlp")
        for mode, call in (("native", "cudaMalloc"), ("async", "cudaMallocAsync")):
            done, answer, out = self.execute(plan, "--mode", mode)
            self.assertEqual((done.returncode, answer["ended_by_oom"]), (0, False), done.stderr)
            with open(out / "mlp.calls.csv", newline="") as file:
                calls = [row["call"] for row in csv.DictReader(file)]
            with open(out / "mlp.events.csv", newline="") as file:
                requests = [row for row in csv.DictReader(file) if row["action"] == "alloc"]
            self.assertEqual(calls.count(call), len(requests))

    def test_kernels_are_timed_once_a_kind_of_work(self):
        done, _, out = self.execute(self.plan("mlp"), "--kernels", "time")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out / "mlp.kernels.csv", newline="") as file:
            rows = [r["kernel"] for r in csv.DictReader(file)]
        self.assertGreater(len(rows), 3)
        self.assertEqual(len(rows), len(set(rows)))

    def test_products_and_convolutions_go_to_their_libraries_with_their_own_shapes(self):
        if not self.has_libraries:
            self.skipTest("the toolkit lacks cuBLAS, cuDNN or NCCL")
        for name, kind, library in (("mlp", "matmul", "cublas"), ("conv_batches", "convolution", "cudnn")):
            done, _, out = self.execute(self.plan(name), "--kernels", "time")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out / (name + ".kernels.csv"), newline="") as file:
                rows = [row for row in csv.DictReader(file) if row["kind"] == kind]
            self.assertGreater(len(rows), 4, name)
            self.assertEqual({row["by"] for row in rows}, {library}, name)

    def test_an_algorithm_that_wants_memory_is_told_and_not_run(self):
        if not self.has_libraries:
            self.skipTest("the toolkit lacks cuBLAS, cuDNN or NCCL")
        _, _, out = self.execute(self.plan("conv_batches"), "--kernels", "time", FAKECUDA_CUDNN_WORKSPACE="4096")
        with open(out / "conv_batches.kernels.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "convolution"]
        self.assertEqual({(row["by"], row["workspace_bytes"]) for row in rows}, {("kernel", "4096")})

    def test_a_trace_is_executed_past_what_it_is_refused(self):
        trace = self.folder / "t.tmt"
        trace.write_text("tidemark-trace 1\nmark begin\nalloc 7 1000\nalloc 9 90000000000\nfree 7\nalloc 7 5000000\n")
        done = self.run_with(PROGRAM, "validate", trace, "--against", "cuda", "--device", "a100-sxm-80gb")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("yes, foreseen", done.stdout)

    def test_a_failing_cudamalloc_is_a_wrong_verdict(self):
        done = self.run_with(PROGRAM, "validate", SCENARIOS / "mlp.yaml", "--against", "cuda", FAKECUDA_FAIL_MEMORY="3-")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("WRONG: not foreseen", done.stdout)

    def test_other_processes_that_grow_are_a_wrong_verdict(self):
        done = self.run_with(PROGRAM, "validate", SCENARIOS / "mlp.yaml", "--against", "cuda", FAKECUDA_OTHER_LATER="2:200GiB")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("WRONG: not foreseen", done.stdout)

    def test_a_lost_device_is_no_result(self):
        done, answer, _ = self.execute(self.plan("mlp"), FAKECUDA_LOST_AFTER="20")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unspecified launch failure", done.stderr)
        self.assertIn("unspecified launch failure", answer["error"])
        done = self.run_with(PROGRAM, "validate", SCENARIOS / "mlp.yaml", "--against", "cuda", FAKECUDA_LOST_AFTER="20")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the device failed", done.stderr)

    def test_a_slow_driver_shows_in_the_times_of_its_calls(self):
        _, _, out = self.execute(self.plan("mlp"), "--kernels", "skip", FAKECUDA_SLOW_US="3000")
        with open(out / "mlp.calls.csv", newline="") as file:
            slowest = min(int(row["ns"]) for row in csv.DictReader(file) if row["call"] == "cudaMalloc")
        self.assertGreater(slowest, 3_000_000)

    def test_no_device_is_77(self):
        done, answer, _ = self.execute(self.plan("mlp"), FAKECUDA_COUNT="0")
        self.assertEqual((done.returncode, answer), (77, None))
        self.assertEqual(self.run_with(self.probe, FAKECUDA_COUNT="0").returncode, 77)

    def test_a_wrong_plan_is_told_with_its_line(self):
        plan = self.folder / "wrong.plan"
        for text, message in (("name wrong\nallloc 1 2 3 0\n", "3: unknown word 'allloc'"),
                              ("kernel 0 matmul bf16 2 2 mm float32[1,x] -> float32[1]\n",
                               "2: 'kernel 0 matmul bf16 2 2 mm float32[1,x] -> float32[1]' is no kernel"),
                              ("kernel 1 none - 0 0 -\n", "2: 'kernel 1 none - 0 0 -' is no kernel"),
                              ("launch 0 0\n", "2: no kernel has the number 0")):
            plan.write_text("tidemark-plan 2\n" + text)
            done, _, _ = self.execute(plan)
            self.assertEqual((done.returncode, done.stderr), (2, "tidemark-cuda: %s:%s\n" % (plan, message)))
        plan.write_text("tidemark-plan 1\nname old\n")
        done, _, _ = self.execute(plan)
        self.assertEqual((done.returncode, done.stderr), (2, "tidemark-cuda: %s:1: 'tidemark-plan 1' is of another release; write it again "
                                                             "with 'tidemark plan'\n" % plan))

    def test_a_calibration_holds_for_its_card_alone(self):
        file = self.folder / "calibration.yaml"
        done = self.run_with(PROGRAM, "calibrate", "--device", "a100-sxm-80gb", "--out", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("5 entries measured, 1 interpolated, 14 assumed" if self.has_libraries else "2 entries measured", done.stdout)
        done = self.run_with(PROGRAM, "run", SCENARIOS / "mlp.yaml", "--calibration", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Calibrated on NVIDIA A100-SXM4-80GB (the pretend GPU), driver ", done.stdout)
        done = self.run_with(PROGRAM, "run", SCENARIOS / "mlp.yaml", "--device", "t4", "--calibration", file)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the calibration is of 'NVIDIA A100-SXM4-80GB', the device is 'Tesla T4'; calibrate on the card itself", done.stderr)
        file.write_text(file.read_text().replace("schema_version: 2", "schema_version: 1"))
        done = self.run_with(PROGRAM, "run", SCENARIOS / "mlp.yaml", "--calibration", file)
        self.assertEqual(done.returncode, 2)
        self.assertIn("schema_version", done.stderr)

    def test_what_libraries_take_and_ask_for_is_measured_and_carried_to_the_verdict(self):
        if not self.has_libraries:
            self.skipTest("the toolkit lacks cuBLAS, cuDNN or NCCL")
        file = self.folder / "libraries.yaml"
        done = self.run_with(PROGRAM, "calibrate", "--device", "a100-sxm-40gb", "--out", file, FAKECUDA_CUBLAS_BYTES="9437184",
                             FAKECUDA_CUDNN_BYTES="4194304", FAKECUDA_NCCL_BYTES="8388608", FAKECUDA_CUDNN_WORKSPACE="33554432")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = file.read_text()
        for line in ("cublas_bytes: {value: 9437184, basis: measured}", "cudnn_bytes: {value: 4194304, basis: measured}",
                     "nccl_bytes: {value: 8388608, basis: measured}", "cudnn_workspace_bytes: {value: 33554432, basis: interpolated}"):
            self.assertIn("  %s\n" % line, text)
        self.assertEqual(text.count("bytes: 33554432}"), 54)  # 2 dtypes, 3 batches, 3 sizes, 3 passes
        done = self.run_with(PROGRAM, "run", SCENARIOS / "resnet50.yaml", "--calibration", file)
        self.assertIn("Fits: cuDNN asked for 32.0 MiB (33,554,432 bytes) at most in 54 measured convolutions, ", done.stdout)

    def test_the_bundle_is_one_command_here_and_one_there(self):
        archive = self.folder / "bundle.tar.gz"
        flags = "-DTIDEMARK_CUDA_SHARED=ON -DCMAKE_CUDA_ARCHITECTURES=75"
        trace = self.folder / "t.tmt"
        trace.write_text("tidemark-trace 1\nalloc 0 1000\nalloc 1 30000000\nfree 0\n")
        done = self.run_with("sh", VALIDATION / "package.sh", archive, SCENARIOS / "mlp.yaml", self.plan("near_oom"), trace, CUDACXX=nvcc(),
                             TIDEMARK=PROGRAM, TIDEMARK_CUDA_FLAGS=flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(archive.stat().st_size, 60 << 20)
        subprocess.run(["tar", "-C", str(self.folder), "-xzf", str(archive)], check=True)
        from_device = device.environment("a100-sxm-80gb")
        torch = os.environ.get("TIDEMARK_TORCH") or os.environ.get("TIDEMARK_ORACLE")
        python = str(pathlib.Path(torch) / "run") if torch and os.path.isdir(torch) else torch or "/nowhere/python3"
        done = self.run_with(self.folder / "tidemark-bundle" / "measure", PYTHON=python, **from_device)
        self.assertEqual(done.returncode, 0, done.stderr)
        results = self.folder / "taken"
        done = self.run_with("sh", VALIDATION / "package.sh", "--take", self.folder / "tidemark-bundle" / "results.tar.gz", results)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("./probe.json\n", done.stdout)
        for part in ("cuda", "torch") if torch else ("cuda",):
            done = self.run_with(PROGRAM, "validate", SCENARIOS / "mlp.yaml", trace, "--device", "a100-sxm-80gb", "--against",
                                 "recorded:%s" % (results / part))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("2 of 2 cases exact", done.stdout)
        if not torch:
            self.assertIn("/nowhere/python3 has no PyTorch that sees the GPU", (results / "failures.txt").read_text())
        done = self.run_with(PROGRAM, "calibrate", "--device", "a100-sxm-80gb", "--probe", results / "probe.json", "--out", self.folder / "b.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r", PyTorch 2\.11\." if torch else ", no PyTorch,")


if __name__ == "__main__":
    if environment.toolkit() is None or nvcc() is None:
        print("skipped: no CUDA toolkit here")
        sys.exit(77)
    unittest.main()
