#!/usr/bin/env python3
"""The harness and the probe end to end on the pretend GPU: harness_test.py PATH/TO/tidemark

Builds validation/cuda with nvcc for one architecture, in TIDEMARK_HARNESS_BUILD where that is set, so that a second run builds little.
Exit codes: 0 passed, 1 failed, 77 there is no CUDA toolkit.
"""
import csv
import json
import os
import pathlib
import re
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


BUILT = {}
POOLS = {
    "graph.py": """
import torch
from torch import nn
net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 256, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        opt.zero_grad(set_to_none=True)
        net(x).sum().backward()
        opt.step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
opt.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    loss = net(x).sum()
    loss.backward()
    opt.step()
for _ in range(4):
    graph.replay()
torch.cuda.synchronize()
pad = torch.zeros(3 << 20, device="cuda")
del graph, loss
torch.cuda.empty_cache()
late = torch.zeros(5 << 20, device="cuda")
""",
    "pool.py": """
import torch
kept = torch.empty(1 << 20, device="cuda")
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    a = [torch.empty(n << 18, device="cuda") for n in (1, 3, 9)]
b = torch.empty(3 << 20, device="cuda")
del a[1]
with torch.cuda.use_mem_pool(pool):
    c = torch.empty(2 << 18, device="cuda")
    d = c * 2
del a, c
torch.cuda.empty_cache()
del pool, d
torch.cuda.empty_cache()
f = torch.zeros(7 << 20, device="cuda")
""",
}


class Built(unittest.TestCase):
    """the harness, the probe and a pretend CUDA for them, built once for all classes"""
    LIBRARIES = ("libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2")

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        if not BUILT:
            BUILT["scratch"] = tempfile.TemporaryDirectory()
            Built.build(pathlib.Path(os.environ.get("TIDEMARK_HARNESS_BUILD") or BUILT["scratch"].name))

    @staticmethod
    def build(kept):
        cls = Built
        build, home, cls.stubs = kept / "build", environment.toolkit(), kept / "stubs"
        for words in (["cmake", "-S", VALIDATION / "cuda", "-B", build, "-DTIDEMARK_CUDA_SHARED=ON", "-DCMAKE_CUDA_ARCHITECTURES=75"],
                      ["cmake", "--build", build]):
            done = subprocess.run([str(w) for w in words], env={**os.environ, "CUDACXX": nvcc()}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                raise RuntimeError(done.stdout[-3000:])
        cls.harness, cls.probe = build / "tidemark-cuda", build / "tidemark-probe"
        libraries = [(name, str(home / "lib64" / name)) for name in Built.LIBRARIES]
        cudart = "libcudart.so.%d" % (environment.cuda_version(home / "include") // 1000)
        sources = [f for part in ("pretend", "cuda") for f in (VALIDATION / part).rglob("*") if f.suffix in (".cc", ".h", ".cu", ".py")]
        made = cls.stubs / cudart
        if made.exists() and made.stat().st_mtime > max(f.stat().st_mtime for f in sources):
            libraries = [each for each in libraries if (cls.stubs / each[0]).exists()]
            cls.has_libraries = len(libraries) == len(Built.LIBRARIES)
            return
        stubs.build(str(cls.stubs), [str(home / "include")], cudart, [str(cls.harness), str(cls.probe)],
                    [("libcuda.so.1", str(home / "lib64" / "stubs" / "libcuda.so"))] + [each for each in libraries if os.path.exists(each[1])],
                    say=lambda line: None)
        cls.has_libraries = all((cls.stubs / name).exists() for name, _ in libraries)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_with(self, *words, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FAKECUDA_")}
        env.update(variables, LD_LIBRARY_PATH=str(self.stubs), TIDEMARK_CUDA=str(self.harness))
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


class Harness(Built):
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
        for name, kind, libraries in (("mlp", "matmul", {"cublas", "cublaslt"}), ("conv_batches", "convolution", {"cudnn"})):
            done, _, out = self.execute(self.plan(name), "--kernels", "time")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out / (name + ".kernels.csv"), newline="") as file:
                rows = [row for row in csv.DictReader(file) if row["kind"] == kind]
            self.assertGreater(len(rows), 4, name)
            self.assertEqual({row["by"] for row in rows}, libraries, name)

    def convolutions(self, *words, **variables):
        _, _, out = self.execute(self.plan("conv_batches", *words), "--kernels", "time", **variables)
        with open(out / "conv_batches.kernels.csv", newline="") as file:
            return {(row["by"], row["workspace_bytes"]) for row in csv.DictReader(file) if row["kind"] == "convolution"}

    def test_a_convolution_is_timed_with_the_workspace_that_its_plan_wants(self):
        if not self.has_libraries:
            self.skipTest("the toolkit lacks cuBLAS, cuDNN or NCCL")
        self.assertEqual(self.convolutions(FAKECUDA_CUDNN_WORKSPACE="4096"), {("cudnn", "4096")})
        self.assertEqual(self.convolutions(FAKECUDA_CUDNN_WORKSPACE="1000000000000"), {("kernel", "1000000000000")})  # there is not so much

    def test_cudnn_s_plan_is_chosen_as_pytorch_chooses(self):
        """the first of the heuristics' that is not left out, as torch_test.py shows PyTorch to do it"""
        if not self.has_libraries:
            self.skipTest("the toolkit lacks cuBLAS, cuDNN or NCCL")
        for engines, allowed in (("4096:t,8192", "4096"), ("2048:d,4096:t,8192", "4096"), ("1024,2048:d", "1024"), ("2048:d,0:dt,512", "512")):
            self.assertEqual(self.convolutions(FAKECUDA_CUDNN_ENGINES=engines), {("cudnn", allowed)}, engines)
        script = self.folder / "convolved.py"
        forbids = "torch.backends.cudnn.allow_tf32 = False\n"
        for head, dtype, chosen in (("", "float32", 4096), (forbids, "float32", 8192), (forbids, "bfloat16", 4096), ("", "float16", 4096)):
            script.write_text("import torch\n%s" % head + "kind = {'device': 'cuda', 'dtype': torch.%s}\n" % dtype +
                              "torch.nn.Conv2d(8, 8, 3, **kind)(torch.zeros(4, 8, 32, 32, **kind))\n")
            plan = self.folder / "convolved.plan"
            self.run_with(PROGRAM, "plan", script, "--device", "a100-sxm-80gb", "--out", plan)
            _, _, out = self.execute(plan, "--kernels", "time", FAKECUDA_CUDNN_ENGINES="2048:d,4096:t,8192")
            self.assertIn("cudnn,%d," % chosen, (out / "convolved.kernels.csv").read_text())

    def test_products_work_in_the_memory_that_pytorch_s_allocator_has_for_them(self):
        if not self.has_libraries:
            self.skipTest("the toolkit lacks cuBLAS, cuDNN or NCCL")
        script = self.folder / "products.py"
        for release, head, cublas, lt in (
            ("2.11", "", 8519680, {1048576}), ("2.15", "", 8519680, {8519680, 1048576}), ("2.8", "", 8519680, {1048576}),
            ("2.11", "import os\nos.environ['CUBLAS_WORKSPACE_CONFIG'] = ':16:8'\n", 131072, {1048576}),
        ):
            script.write_text(head + "import torch\nnet = torch.nn.Linear(512, 256).cuda()\nx = torch.zeros(64, 512, device='cuda')\n"
                              "for _ in range(3):\n    y = net(x)\n    (y @ y.t()).sum().backward()\n")
            log = self.folder / "log"
            done = self.run_with(PROGRAM, "validate", script, "--device", "a100-sxm-80gb", "--set", "pytorch=" + release, "--against", "cuda",
                                 FAKECUDA_LOG=log, FAKECUDA_CUBLAS_OWN_WORKSPACE="33554432")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            text = log.read_text()
            self.assertEqual(set(map(int, re.findall(r"cublasSetWorkspace (\d+)", text))), {cublas}, release)
            asked = set(map(int, re.findall(r"cublasLtMatmul (\d+)", text)))
            self.assertTrue(asked and asked <= lt, (release, asked))
            self.assertNotIn("own workspace", text)

    def test_private_pools_of_graphs_and_of_programs_are_executed_as_simulated(self):
        for name, text in POOLS.items():
            (self.folder / name).write_text(text)
            for conf in ("", "expandable_segments:True"):
                done = self.run_with(PROGRAM, "validate", self.folder / name, "--device", "h100-sxm-80gb", "--set", "allocator.conf=" + conf,
                                     "--against", "cuda", "--format", "json")
                self.assertEqual(done.returncode, 0, name + conf + done.stdout[:3000] + done.stderr)
                case = json.loads(done.stdout)["cases"][0]
                self.assertGreater(case["events"], 20)
                self.assertEqual((case["differing_events"], case["device_total"]["error_ppm"]), (0, 0), name)

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

    def test_windows_is_refused(self):
        done = subprocess.run(["cmake", "-S", str(VALIDATION / "cuda"), "-B", str(self.folder / "windows"), "-DCMAKE_SYSTEM_NAME=Windows",
                               "-DCMAKE_CXX_COMPILER_WORKS=1"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("The harness needs Linux: expandable segments and NVML's processes are others on Windows. Use WSL 2",
                      " ".join(done.stderr.split()))

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
            plan.write_text("tidemark-plan 4\n" + text)
            done, _, _ = self.execute(plan)
            self.assertEqual((done.returncode, done.stderr), (2, "tidemark-cuda: %s:%s\n" % (plan, message)))
        plan.write_text("tidemark-plan 3\nname old\n")
        done, _, _ = self.execute(plan)
        self.assertEqual((done.returncode, done.stderr), (2, "tidemark-cuda: %s:1: 'tidemark-plan 3' is of another release; write it again "
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
        file.write_text(file.read_text().replace("schema_version: 3", "schema_version: 2"))
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
        for line in ("cublas_bytes: {value: 9437184, basis: measured,", "cudnn_bytes: {value: 4194304, basis: measured,",
                     "nccl_bytes: {value: 8388608, basis: measured,", "cudnn_workspace_bytes: {value: 33554432, basis: interpolated,"):
            self.assertIn("  %s" % line, text)
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


MIB = 1 << 20
RANGE, PAGE = 35184372088832, 20 * MIB


class Plans(Built):
    """plans by hand, for what the allocator asks of a device: kernels are checked by the device, which loses itself where memory in use goes"""

    def made(self, text, **variables):
        plan = self.folder / "hand.plan"
        plan.write_text("tidemark-plan 4\nname hand\n" + text)
        done, answer, out = self.execute(plan, "--kernels", "run", **variables)
        with open(out / "hand.calls.csv", newline="") as file:
            calls = list(csv.DictReader(file))
        return done, answer, calls

    def test_a_merged_unmap_gives_back_each_page(self):
        text = "".join("map %d %d %d 0\n" % (PAGE * n, RANGE + PAGE * at, PAGE) for at, n in ((0, 1), (1, 2), (3, 1)))
        done, answer, calls = self.made(text + "unmap %d %d %d 0\n" % (3 * PAGE, RANGE + PAGE, PAGE))
        self.assertEqual((done.returncode, answer["error"]), (0, ""), done.stderr)
        free = [int(call["free_bytes"]) for call in calls]
        self.assertEqual([free[0] - f for f in free], [0, 2 * PAGE, 3 * PAGE, 0])

    def test_an_unmap_waits_for_its_stream(self):
        text = ("map %d %d %d 1\nalloc 0 1048576 %d 1\nkernel 0 elementwise fp32 0 1048576 add float32[262144] -> float32[262144]\n"
                "launch 0 1 0 0\ndone 0\nunmap %d %d %d 1\nsync\n" % (PAGE, RANGE, PAGE, RANGE, PAGE, RANGE, PAGE))
        done, answer, _ = self.made(text, FAKECUDA_EVENTS="sync")
        self.assertEqual((done.returncode, answer["error"]), (0, ""), done.stderr)

    def test_a_refusal_is_tried_as_the_allocator_asks(self):
        # 12 MiB are left: room for 5 MiB, and none for the segment of 20 MiB that the allocator takes for it
        sizes = {"FAKECUDA_TOTAL_BYTES": str(64 * MIB), "FAKECUDA_CONTEXT_BYTES": str(52 * MIB)}
        for text, is_refused in (("oom 0 5242880 0 %d 0\n" % PAGE, True), ("oom 0 524288 0 %d 0\n" % (2 * MIB), False),
                                 ("oom 0 5242880 0 %d %d\n" % (PAGE, PAGE), True), ("limit 1048576\noom 0 524288 0 %d 0\n" % (2 * MIB), True)):
            done, answer, _ = self.made(text, **sizes)
            self.assertEqual((done.returncode, answer["ended_by_oom"]), (0, is_refused), text + done.stderr)

    def test_pages_are_asked_for_past_what_the_last_block_leaves(self):
        # 25 MiB want two pages; 15 of the first are free, so that one more is enough, and there is one
        text = "map %d %d %d 0\nalloc 0 %d %d 0\noom 1 %d 0 %d %d\n" % (PAGE, RANGE, PAGE, 5 * MIB, RANGE, 25 * MIB, 2 * PAGE, PAGE)
        done, answer, calls = self.made(text, FAKECUDA_TOTAL_BYTES=str(100 * MIB), FAKECUDA_CONTEXT_BYTES=str(50 * MIB))
        self.assertEqual((done.returncode, answer["ended_by_oom"]), (0, False), done.stderr)
        self.assertEqual(calls[-1]["bytes"], str(PAGE))

    def test_a_block_that_another_stream_still_uses_is_waited_for_and_told(self):
        text = ("segment 2097152 %d 0\nalloc 0 1048576 %d 0\nkernel 0 elementwise fp32 0 1048576 add float32[262144] -> float32[262144]\n"
                "launch 0 1 0 0\nuse 0 1\nfree 0\n%sdone 0\n")
        for wait, early in (("", 1), ("sync 1\n", 0)):
            done, answer, _ = self.made(text % (RANGE, RANGE, wait), FAKECUDA_EVENTS="sync")
            self.assertEqual((done.returncode, answer["freed_early"]), (0, early), done.stderr)

    def test_the_host_waits_for_an_event(self):
        text = ("segment 2097152 %d 0\nalloc 0 1048576 %d 0\nkernel 0 elementwise fp32 0 1048576 add float32[262144] -> float32[262144]\n"
                "launch 0 1 0 0\nuse 0 1\nfree 0\nrecord 5 1\nsync_event 5\ndone 0\n" % (RANGE, RANGE))
        _, answer, _ = self.made(text, FAKECUDA_EVENTS="sync")
        self.assertEqual(answer["freed_early"], 0)

    def test_a_program_with_expandable_segments_and_a_memory_fraction_is_foreseen(self):
        script = self.folder / "fraction.py"
        script.write_text("import torch\nx = []\nfor i in range(100):\n    x.append(torch.zeros(7 << 20, device='cuda'))\n")
        for conf in ("", "expandable_segments:True"):
            scenario = self.folder / "fraction.yaml"
            scenario.write_text("schema_version: 1\ndevice: a100-sxm-80gb\nscript: fraction.py\n"
                                "allocator: {memory_fraction: 0.01, conf: '%s'}\n" % conf)
            done = self.run_with(PROGRAM, "validate", scenario, "--against", "cuda")
            self.assertIn("yes, foreseen", done.stdout, done.stderr)


class Libraries(Built):
    def test_they_are_found_in_a_python_s_packages(self):
        """as pip installs nvidia-cublas and its kin; no toolkit is on the loader's way"""
        if not self.has_libraries:
            self.skipTest("the toolkit lacks cuBLAS, cuDNN or NCCL")
        for number, (variable, under, place) in enumerate((("VIRTUAL_ENV", "", "nvidia/cu13/lib"), ("TIDEMARK_TORCH", "v", "nvidia/cublas/lib"),
                                                           ("CONDA_PREFIX", "", "nvidia/cu13/lib"))):
            bare, home = self.folder / ("bare%d" % number), self.folder / ("home%d" % number)
            packages = home / under / "lib" / "python3.11" / "site-packages" / place
            packages.mkdir(parents=True)
            bare.mkdir()
            for file in self.stubs.glob("*.so*"):
                shutil.copy(file, packages if file.name in Built.LIBRARIES else bare)
            for found, told in ((home, 9437184), ("/nowhere", -1)):
                done = subprocess.run([self.probe, "--repeats", "1"], capture_output=True, text=True, check=False,
                                      env={"LD_LIBRARY_PATH": str(bare), variable: str(found), "FAKECUDA_CUBLAS_BYTES": "9437184", "PATH": ""})
                self.assertEqual((done.returncode, json.loads(done.stdout)["cublas_bytes"]), (0, told), done.stderr)


class Probe(Built):
    def probed(self, **variables):
        done = self.run_with(self.probe, "--repeats", "3", **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    TRUTH = {"FAKECUDA_FLOPS_PER_S": "2e14", "FAKECUDA_BYTES_PER_S": "1.5e12", "FAKECUDA_KERNEL_NS": "3000"}

    def test_what_it_credits_is_what_the_device_was_asked_for(self):
        found = self.probed(**self.TRUTH)
        self.assertTrue(found["given_times"])
        for precision in ("fp32", "tf32", "fp16", "bf16"):
            self.assertAlmostEqual(found["flops_per_s"][precision] / 2e14, 1, delta=0.001, msg=precision)
        self.assertAlmostEqual(found["bytes_per_s"] / 1.5e12, 1, delta=0.001)
        self.assertAlmostEqual(found["kernel_ns"], 3000, delta=1)

    def test_nvml_is_no_part_of_what_is_timed(self):
        found = self.probed(FAKECUDA_NVML_US="30000")
        slowest = max(each[key + "_spread"][0] for each in found["latencies"] for key in ("malloc_ns", "free_ns", "map_ns", "unmap_ns"))
        self.assertLess(slowest, 10_000_000)

    def test_a_first_kernel_is_given_and_what_it_takes_is_told(self):
        self.assertEqual(self.probed(FAKECUDA_FIRST_KERNEL_BYTES="8388608")["first_kernel_bytes"], 8388608)

    def test_the_context_is_told_where_it_can_be_known(self):
        context = 432 * MIB
        for nvml, others, by, expected in (("", "0", "nvml", context), ("na", "0", "free memory", context), ("container", "0", "free memory", context),
                                           ("reversed", "0", "nvml", context), ("mig", "0", "nvml", context), ("", "1GiB", "nvml", context),
                                           ("na", "1GiB", "not told", -1), ("container", "1GiB", "not told", -1), ("absent", "0", "not told", -1)):
            found = self.probed(FAKECUDA_NVML=nvml, FAKECUDA_OTHER_BYTES=others)
            self.assertEqual((found["context_by"], found["context_bytes"]), (by, expected), nvml + " " + others)
            self.assertEqual(found["other_processes"], -1 if nvml == "absent" else int(others != "0"))

    def test_a_device_in_use_and_one_that_beats_its_peak_are_refused(self):
        for variables, message in (({"FAKECUDA_OTHER_BYTES": "1GiB"}, "1 more on the device while it was measured"),
                                   ({"FAKECUDA_OTHER_LATER": "40:1GiB"}, "1 more on the device while it was measured"),
                                   ({**self.TRUTH, "FAKECUDA_FLOPS_PER_S": "9.4e14"}, "is 3.0 times the peak of the card"),
                                   ({"FAKECUDA_NVML": "na", "FAKECUDA_DRIVER": "580.95.05"}, "")):
            done = self.run_with(PROGRAM, "calibrate", "--device", "a100-sxm-80gb", "--out", self.folder / "r.yaml", **variables)
            self.assertEqual(done.returncode, 2 if message else 0, done.stderr)
            self.assertIn(message, done.stderr)

    def test_plan_replay_measured_calibrate_run(self):
        """the device's truth is given: what comes out at the end is it"""
        card = device.environment("a100-sxm-80gb")
        truth = {**self.TRUTH, **card}
        file, tables = self.folder / "replayed.yaml", []
        # 2e14 of 312e12 in bf16, 1e13 of 19.5e12 in fp32 and of 156e12 in TF32
        for name, rate in (("llama_bf16", "2e14"), ("conv_batches", "1e13")):
            done, _, out = self.execute(self.plan(name, "--device", "a100-sxm-80gb"), "--kernels", "time", "--repeats", "3",
                                        **{**truth, "FAKECUDA_FLOPS_PER_S": rate})
            self.assertEqual(done.returncode, 0, done.stderr)
            tables += ["--kernels", out / (name + ".kernels.csv")]
        done = self.run_with(PROGRAM, "calibrate", "--device", "a100-sxm-80gb", "--out", file, *tables, **truth)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = file.read_text()
        rates = {(kind, precision): int(share) for kind, precision, share in
                 re.findall(r"- \{kind: (\w+), precision: (\w+), digits: \d+, count: \d+, share: (\d+)", text)}
        self.assertAlmostEqual(rates["matmul", "bf16"], 641, delta=2)
        convolved = {key: rate for key, rate in rates.items() if key[0] == "convolution"}
        self.assertTrue(convolved)
        for (_, precision), rate in convolved.items():
            self.assertAlmostEqual(rate, {"fp32": 513, "tf32": 64}[precision], delta=2)
        probe = self.folder / "truth.json"
        self.assertEqual(self.run_with(self.probe, "--repeats", "3", "--out", probe, **truth).returncode, 0)
        done = self.run_with(PROGRAM, "calibrate", "--device", "a100-sxm-80gb", "--out", file, "--probe", probe, *tables[:2])
        self.assertEqual(done.returncode, 0, done.stderr)
        entries = dict(re.findall(r"^  (\w+): \{value: (\d+), basis: measured", file.read_text(), re.M))
        self.assertAlmostEqual(int(entries["matmul_share"]), 641, delta=2)
        self.assertAlmostEqual(int(entries["kernel_floor_ns"]), 3000, delta=1)
        done = self.run_with(PROGRAM, "run", SCENARIOS / "llama_bf16.yaml", "--device", "a100-sxm-80gb", "--calibration", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Calibrated on NVIDIA A100-SXM4-80GB", done.stdout)
        done = self.run_with(PROGRAM, "calibrate", "--device", "h100", "--out", file, *tables[:2], **truth)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the kernels are of 'NVIDIA A100-SXM4-80GB', the device is 'NVIDIA H100 80GB HBM3'", done.stderr)


if __name__ == "__main__":
    if environment.toolkit() is None or nvcc() is None:
        print("skipped: no CUDA toolkit here")
        sys.exit(77)
    unittest.main()
