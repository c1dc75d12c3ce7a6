#!/usr/bin/env python3
"""The runners and the commands over them, with the real PyTorch: torch_test.py PATH/TO/tidemark

Environment: TIDEMARK_TORCH or TIDEMARK_ORACLE, as environment.py makes it. Exit codes: 0 passed, 1 failed, 77 there is none.
"""
import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
VALIDATION = HERE.parents[1]
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "tidemark"
TORCH = os.environ.get("TIDEMARK_TORCH") or os.environ.get("TIDEMARK_ORACLE") or ""
sys.path.append(str(VALIDATION / "pretend"))
import device  # noqa: E402


def run(*words, **variables):
    return subprocess.run([str(w) for w in words], env={**os.environ, "TIDEMARK_TORCH": TORCH, **variables}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def under_torch(script, *words, **variables):
    program = pathlib.Path(TORCH) / "run" if os.path.isdir(TORCH) else TORCH
    return run(program, script, *words, **{**device.environment("h100"), **variables})


def rows(path):
    with (gzip.open(path, "rt") if str(path).endswith(".gz") else open(path, newline="")) as file:
        return [[row[k] for k in ("action", "address", "bytes", "stream", "id")] for row in csv.DictReader(file)]


class Validate(unittest.TestCase):
    def test_ten_scenarios_are_exact(self):
        scenarios = sorted((VALIDATION / "scenarios").glob("*.yaml"))
        done = run(PROGRAM, "validate", *scenarios, "--against", "torch", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)["summary"]
        self.assertGreaterEqual(summary["cases"], 10)
        self.assertEqual((summary["exact_cases"], summary["differing_events"], summary["wrong_oom_verdicts"]), (summary["cases"], 0, 0))

    def test_a_program_that_raises_is_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "s.yaml"
            scenario.write_text("schema_version: 1\ndevice: h100\nloop: |\n  x = torch.zeros(4, device='cuda')\n  assert x.sum().item() == 1\n")
            done = run(PROGRAM, "validate", scenario)
        self.assertEqual(done.returncode, 2)
        self.assertIn("AssertionError", done.stderr)


class Calibrate(unittest.TestCase):
    """the probe inside PyTorch, against a pretend device that was told what is true (one that environment.py makes)"""

    def calibrated(self, folder, *words, **truth):
        file = pathlib.Path(folder) / "c.yaml"
        done = run(PROGRAM, "calibrate", "--device", "h100", "--by", "pytorch", "--out", file, *words, **truth)
        return done, file.read_text() if file.exists() else ""

    def test_what_each_stage_takes_is_told_to_the_byte(self):
        truth = {"FAKECUDA_FIRST_KERNEL_BYTES": "6291456", "FAKECUDA_CUBLAS_BYTES": "9437184", "FAKECUDA_CUDNN_BYTES": "4194304",
                 "FAKECUDA_NCCL_BYTES": "8388608", "FAKECUDA_CUDNN_WORKSPACE": "33554432"}
        for nvml in ("", "reversed", "na", "mig", "container"):
            with self.subTest(nvml=nvml), tempfile.TemporaryDirectory() as folder:
                done, text = self.calibrated(folder, FAKECUDA_NVML=nvml, **truth)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("Measured inside a process of PyTorch\n", done.stdout)
                self.assertIn('by: "pytorch"', text)
                for line in ("context_bytes: {value: 559939584, basis: measured,", "granularity_bytes: {value: 2097152, basis: measured,",
                             "cublas_bytes: {value: 9437184, basis: measured,", "cudnn_bytes: {value: 4194304, basis: measured,",
                             "nccl_bytes: {value: 8388608, basis: measured,", "cudnn_workspace_bytes: {value: 33554432, basis: interpolated,"):
                    self.assertIn("  %s" % line, text)
                self.assertEqual(text.count("bytes: 33554432}"), 54)  # 2 dtypes, 3 batches, 3 sizes, 3 passes

    def test_pytorch_s_choice_of_cudnn_s_plans_is_what_workspaces_are_of(self):
        """the harness chooses the same (harness_test.py): never what rounds down"""
        with tempfile.TemporaryDirectory() as folder:
            done, text = self.calibrated(folder, FAKECUDA_CUDNN_ENGINES="2048:d,4096:t,8192")
        self.assertEqual(done.returncode, 0, done.stderr)
        asked = set(re.findall(r"dtype: (\w+), .* bytes: (\d+)\}", text))
        self.assertEqual(asked, {("float32", "4096"), ("float16", "4096")})

    def test_rates_and_times_are_told_as_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            done, text = self.calibrated(folder, FAKECUDA_FLOPS_PER_S="400000000000000", FAKECUDA_BYTES_PER_S="2000000000000",
                                         FAKECUDA_KERNEL_NS="3000")
            self.assertEqual(done.returncode, 0, done.stderr)
            for line in ("kernel_floor_ns: {value: 3000, basis: measured,", "matmul_share: {value: 404, basis: measured,",  # of 989.5
                         "memory_share: {value: 597, basis: measured,"):  # of 3352
                self.assertIn("  %s" % line, text)
            self.assertRegex(text, r"launch_overhead_ns: \{value: [1-9]\d+, basis: measured, low: \d+, high: \d+, count: 9\}")

    def test_nvml_is_no_part_of_what_is_timed(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "probe.json"
            done = under_torch(HERE.parent / "probe.py", out, "--repeats", "2", FAKECUDA_NVML_US="30000")
            self.assertEqual(done.returncode, 0, done.stderr)
            latencies = json.loads(out.read_text())["latencies"]
        self.assertGreater(len(latencies), 8)
        self.assertLess(max(each[key + "_spread"][0] for each in latencies for key in ("malloc_ns", "free_ns", "map_ns", "unmap_ns")), 10_000_000)

    def test_windows_is_refused(self):
        code = "import runpy, sys; sys.platform = 'win32'; sys.argv = ['probe.py', 'o.json']; runpy.run_path(%r, run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", code % str(HERE.parent / "probe.py")], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (77, "probe: Linux is needed; on Windows measure under WSL 2\n"))

    def test_others_a_lost_device_and_none_end_with_a_message(self):
        for truth, code, message in (({"FAKECUDA_OTHER_BYTES": "1GiB"}, 2, "1 more on the device while it was measured"),
                                     ({"FAKECUDA_OTHER_LATER": "40:1GiB"}, 2, "1 more on the device while it was measured"),
                                     ({"FAKECUDA_LOST_AFTER": "30"}, 4, "unspecified launch failure"),
                                     ({"FAKECUDA_COUNT": "0"}, 77, "no CUDA device")):
            with self.subTest(truth=truth), tempfile.TemporaryDirectory() as folder:
                done, text = self.calibrated(folder, **truth)
                self.assertEqual((done.returncode, text), (code, ""), done.stderr)
                self.assertIn(message, done.stderr)


NET = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n" \
      "        self.a, self.b = nn.Linear(64, width), nn.Linear(width, 64)\n\n    def forward(self, x):\n        return self.b(self.a(x).relu())\n"
SCRIPTS = {
    "arguments": """
import argparse, os, sys
import torch
from net_beside import Net
parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--quit", action="store_true")
given = parser.parse_args()
net = Net(int(os.environ.get("NET_WIDTH", "256"))).cuda()
opt = torch.optim.AdamW(net.parameters())
for step in range(3):
    net(torch.zeros(given.batch, 64, device="cuda")).sum().backward()
    opt.step()
    opt.zero_grad()
    if given.quit and step == 1:
        sys.exit()
""",
    "recordings": """
import torch
from torch import nn
m = nn.Linear(512, 512).cuda()
torch.cuda.memory._record_memory_history(max_entries=100000)
for i in range(3):
    m(torch.randn(64, 512, device="cuda")).sum().backward()
torch.cuda.memory._dump_snapshot("taken.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
y = torch.zeros(1 << 20, device="cuda")
torch.cuda.memory._record_memory_history(enabled="all")
z = torch.zeros(1 << 21, device="cuda")
exit()
""",
    "caught": """
import torch
try:
    xs = [torch.zeros(1 << 28, device="cuda") for _ in range(200)]
except torch.OutOfMemoryError:
    xs = None
    torch.cuda.empty_cache()
x = torch.zeros(1 << 26, device="cuda")
raise SystemExit
""",
    "ended": """
import sys
import torch
kept = torch.zeros(1 << 20, device="cuda")
try:
    more = torch.zeros(1 << 38, device="cuda")
except torch.OutOfMemoryError:
    sys.exit(3)
""",
    "told": """
import torch
kept = [torch.zeros(1 << n, device="cuda") for n in range(8, 20)]
if len(kept) == 12:
    raise SystemExit("no data")
late = torch.zeros(1 << 22, device="cuda")
""",
    "unseeded": """
import random
import numpy as np
import torch
from torch import nn
if __name__ == "__main__":
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    for x in torch.utils.data.DataLoader(torch.randn(50, 32), batch_size=16, shuffle=True):
        n = int(torch.randint(1, 9, (1,))) * (random.randint(1, 5) + np.random.randint(1, 6))
        pad = torch.zeros(n * 1000, device="cuda")
        if torch.rand(1).item() < 0.5:
            more = torch.zeros(int(torch.randperm(9)[0]) * 4000 + 512, device="cuda")
""",
}


class Scripts(unittest.TestCase):
    """scripts as users write them, each in a folder of its own"""

    def test_each_is_exact_and_gets_its_arguments_and_variables(self):
        given = "schema_version: 1\ndevice: h100\nscript: {file: arguments.py, args: ['--batch', '900', '--quit'], env: {NET_WIDTH: '1024'}}\n"
        with tempfile.TemporaryDirectory() as folder:
            files = {"net_beside.py": NET, "given.yaml": given, **{name + ".py": text for name, text in SCRIPTS.items()}}
            for name, text in files.items():
                (pathlib.Path(folder) / name).write_text(text)
            words = [name + ".py" for name in SCRIPTS] + ["given.yaml", "--device", "h100-sxm-80gb", "--format", "json"]
            done = subprocess.run([PROGRAM, "validate", *words], env={**os.environ, "TIDEMARK_TORCH": TORCH}, text=True, cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[:3000] + done.stderr)
        events = {case["name"]: case["events"] for case in json.loads(done.stdout)["cases"]}
        self.assertEqual(len(events), len(SCRIPTS) + 1)
        self.assertEqual(events.pop("ended"), 3)  # a segment, its block, what was refused
        self.assertGreater(min(events.values()), 10)
        self.assertGreater(events["arguments"], events["given"])  # which ended a step earlier


PROCESSES = """
import sys
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader


def train(rank, rows):
    x = torch.zeros(rows, 1 << 20, device="cuda")
    y = (x * 2).sum().item()


if __name__ == "__main__":
    how, rows = sys.argv[1], int(sys.argv[2])
    if how == "spawned":
        mp.spawn(train, args=(rows,), nprocs=2)
    elif how == "loader":
        for batch in DataLoader(torch.zeros(64, 3), batch_size=8, num_workers=2):
            train(0, rows)
    elif how == "python":
        import subprocess
        subprocess.run([sys.executable, __file__, "loader", str(rows)], check=True)
    else:
        process = mp.get_context(how).Process(target=train, args=(0, rows))
        process.start()
        process.join()
"""


class Record(unittest.TestCase):
    SCRIPT = HERE / "causal_lm.py"

    def test_processes_that_a_script_starts_are_watched(self):
        with tempfile.TemporaryDirectory() as folder:
            script, snapshot = pathlib.Path(folder) / "processes.py", pathlib.Path(folder) / "snapshot.pickle"
            script.write_text(PROCESSES)
            for how, count in (("loader", 0), ("fork", 1), ("forkserver", 1), ("spawned", 2), ("python", 1)):
                done = run(PROGRAM, "record", "--format", "json", "--snapshot", snapshot, "--", "python3", script, how, "8")
                self.assertEqual(done.returncode, 0, how + done.stderr)
                self.assertIn('"peak_reserved_bytes":69206016', done.stdout.replace(" ", ""), how)  # 32 MiB twice, and 2 for the sum
                told = re.search(r"record: (\d) process(es)? that the program started used CUDA", done.stderr)
                self.assertEqual(int(told.group(1)) if told else 0, count, how + done.stderr)
                self.assertTrue(snapshot.exists(), how)
                snapshot.unlink()
            done = run(PROGRAM, "record", "--fail-on-oom", "--device-bytes", "8GiB", "--snapshot", snapshot, "--", "python3", script, "spawned", "2000")
            self.assertEqual(done.returncode, 3, done.stderr)

    def test_a_release_that_is_none_is_told_before_anything_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            for release in ("2.99.0", "1.13.1", "latest"):
                done = run(PROGRAM, "record", "--torch", release, "--", self.SCRIPT, TIDEMARK_CACHE=folder, TIDEMARK_TORCH="")
                self.assertEqual((done.returncode, os.listdir(folder)), (4, []), done.stderr)
                self.assertIn("'%s' is no release of PyTorch from 2.4.0 to 2.15.0; nothing was installed" % release, done.stderr)

    @staticmethod
    def up_to_oom(events):
        """what comes later is the interpreter letting go of values while the error leaves the program"""
        refused = [i for i, event in enumerate(events) if event[0] == "oom"]
        return events[:refused[-1] + 1] if refused else events

    def record(self, folder, total, *words):
        done = run(PROGRAM, "record", "--format", "json", "--snapshot", pathlib.Path(folder) / "s.pickle", "--device-bytes", total,
                   "--events", pathlib.Path(folder) / ("events-%s.csv" % total), *words, "--", "python", self.SCRIPT)
        return done.returncode, json.loads(done.stdout[done.stdout.index("{"):]), done.stderr

    def test_it_fits_eighty_gigabytes_and_fails_on_eight_where_the_simulator_says(self):
        with tempfile.TemporaryDirectory() as folder:
            code, large, errors = self.record(folder, "85017755648")
            self.assertEqual((code, large["ended_by_oom"]), (0, False), errors)
            code, small, errors = self.record(folder, "8GiB", "--fail-on-oom")
            self.assertEqual((code, small["ended_by_oom"]), (3, True), errors)
            self.assertIn("torch.OutOfMemoryError", errors)
            events = pathlib.Path(folder) / "e.csv"
            for total, recorded in (("85017755648", large), ("8GiB", small)):
                done = run(PROGRAM, "run", self.SCRIPT, "--device", "h100-sxm-80gb", "--set", "device.total=" + total, "--set", "pytorch=2.11", "--events", events,
                           "--format", "json")
                self.assertEqual(done.returncode, 0, done.stderr)
                simulated = json.loads(done.stdout)
                self.assertEqual(simulated["ended_by_oom"], recorded["ended_by_oom"])
                self.assertEqual(self.up_to_oom(rows(events)), self.up_to_oom(rows(pathlib.Path(folder) / ("events-%s.csv" % total))))
                self.assertEqual(simulated["devices"][0]["peak_reserved"]["bytes"], recorded["devices"][0]["peak_reserved_bytes"])
            self.assertIn("linear", small["devices"][0]["oom_op"])
            replayed = run(PROGRAM, "replay", pathlib.Path(folder) / "s.pickle")
            self.assertEqual(replayed.returncode, 0, replayed.stderr)

    def test_a_script_without_cuda_is_told_so(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "plain.py"
            script.write_text("import torch\nprint(torch.zeros(3).sum().item())\n")
            done = run(PROGRAM, "record", "--snapshot", folder + "/s.pickle", "--", "python", script)
        self.assertEqual(done.returncode, 2)
        self.assertIn("record: the program ended before it used CUDA", done.stderr)


class Traces(unittest.TestCase):
    TRACE = "tidemark-trace 1\nalloc 0 1000\nalloc 1 3000000\nalloc 2 5000000 stream=1\nuse 1 stream=1\nfree 1\nalloc 3 2000000\nsync\n" \
            "alloc 4 30000000\nfree 2\nempty_cache\nalloc 5 700 pool=1\nfree 5\nfree 4\nalloc 6 90000000000\nalloc 7 1\n"

    def test_a_trace_is_played_as_replay_does(self):
        for conf in ("", "expandable_segments:True", "roundup_power2_divisions:4,max_split_size_mb:32"):
            with tempfile.TemporaryDirectory() as folder:
                trace, mine = pathlib.Path(folder) / "t.tmt", pathlib.Path(folder) / "e.csv"
                trace.write_text(self.TRACE)
                done = under_torch(VALIDATION / "torch" / "play_trace.py", trace, folder, PYTORCH_CUDA_ALLOC_CONF=conf, FAKECUDA_EVENTS="sync")
                self.assertEqual(done.returncode, 0, done.stderr)
                replayed = run(PROGRAM, "replay", trace, "--events", mine, "--alloc-conf", conf, "--device", "h100")
                self.assertEqual(replayed.returncode, 0, replayed.stderr)
                theirs, ours = rows(pathlib.Path(folder) / "t.events.csv.gz"), rows(mine)
                self.assertEqual([r[:4] for r in theirs], [r[:4] for r in ours], conf)


    def test_a_trace_is_validated_as_scenarios_are(self):
        """names of requests used again, a mark, streams, a pool, refusals: each device its own"""
        conf = "expandable_segments:True"
        with tempfile.TemporaryDirectory() as folder:
            traces = [pathlib.Path(folder) / name for name in ("one.tmt", "two.tmt")]
            traces[0].write_text(self.TRACE)
            traces[1].write_text("tidemark-trace 1\nmark begin\nalloc 5 1000\nfree 5\nalloc 5 0\nfree 5\nalloc 5 3000000 stream=3\nuse 5 stream=1\n"
                                 "free 5\nmark end\nalloc 9 20000000\nreset_peak\n")
            for words in (["--device", "t4"], ["--device", "h100", "--alloc-conf", conf, "--save", folder]):
                done = run(PROGRAM, "validate", *traces, *words, "--format", "json")
                self.assertEqual(done.returncode, 0, done.stdout[:3000] + done.stderr)
                cases = json.loads(done.stdout)["cases"]
                self.assertEqual([(c["name"], c["oom_measured"], c["oom_simulated"]) for c in cases], [("one", True, True), ("two", False, False)])
            done = run(PROGRAM, "validate", *traces, "--alloc-conf", conf, "--against", "recorded:" + folder)
            self.assertEqual(done.returncode, 0, done.stdout[:3000] + done.stderr)
            done = run(PROGRAM, "validate", *traces, "--against", "recorded:" + folder)
            self.assertEqual(done.returncode, 1)  # without the setting

    def test_more_streams_than_pytorch_has_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "t.tmt"
            trace.write_text("tidemark-trace 1\nalloc 0 1000 stream=33\n")
            done = run(PROGRAM, "validate", trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn("PyTorch has 32 streams beside the default one, the trace uses stream 33\n", done.stderr)


class Versions(unittest.TestCase):
    def test_the_driver_s_version_is_found_in_each_form(self):
        lines = ["NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22-I3-AE18-23-3)  Sun Jul 27 2025",
                 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023",
                 "NVRM version: NVIDIA UNIX aarch64 Kernel Module  550.54  Tue Feb 6 2024", "NVRM version: unknown"]
        code = "import sys; sys.path.insert(0, %r); import measured; print([measured.version_in(l) for l in %r])" % (str(HERE.parent), lines)
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "s.py"
            script.write_text(code)
            self.assertEqual(under_torch(script).stdout, "['580.65.06', '535.104.05', '550.54', '']\n")
            script.write_text("import sys; sys.path.insert(0, %r); import measured; print(measured.driver_version())" % str(HERE.parent))
            self.assertRegex(under_torch(script).stdout, r"^5\d\d\.")


class Faults(unittest.TestCase):
    """what PyTorch makes of the pretend device's faults"""

    def error(self, **variables):
        program = "import torch\nx = [torch.zeros(4 << 20, device='cuda') for _ in range(8)]\ntorch.cuda.synchronize()\nprint('done')\n"
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "s.py"
            script.write_text(program)
            done = under_torch(script, **variables)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1] if "Error" not in done.stderr else \
            next(line for line in done.stderr.splitlines() if "Error:" in line)

    def test_none(self):
        self.assertEqual(self.error(), "done")

    def test_a_failing_cudamalloc_is_an_out_of_memory_error_when_it_fails_again(self):
        self.assertEqual(self.error(FAKECUDA_FAIL_MEMORY="3"), "done")  # PyTorch frees its cache and asks again
        self.assertIn("OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 MiB", self.error(FAKECUDA_FAIL_MEMORY="3-"))

    def test_a_lost_device_is_an_error_of_its_own(self):
        self.assertIn("unspecified launch failure", self.error(FAKECUDA_LOST_AFTER="3"))

    def test_a_slow_driver_changes_nothing(self):
        self.assertEqual(self.error(FAKECUDA_SLOW_US="2000"), "done")


if __name__ == "__main__":
    if not TORCH:
        print("skipped: TIDEMARK_TORCH names no PyTorch")
        sys.exit(77)
    unittest.main()
