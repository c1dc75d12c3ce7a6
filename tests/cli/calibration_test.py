#!/usr/bin/env python3
"""Calibrations as a user meets them, with no GPU: calibration_test.py PATH/TO/tidemark"""

import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "validation" / "scenarios"
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "tidemark"


def tidemark(*words, **variables):
    env = {k: v for k, v in os.environ.items() if k not in ("TIDEMARK_TORCH", "TIDEMARK_ORACLE", "TIDEMARK_CUDA")}
    return subprocess.run([PROGRAM] + [str(w) for w in words], env={**env, **variables}, text=True, cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


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
            self.assertRegex(done.stdout, r"driver 580.1, 2026-11-01 \((-?\d+ days? old.*|dated after today)\): 9 entries measured, 4 interpolated, 7 assumed")
            self.assertNotIn("cuDNN", done.stdout)
            other = "PyTorch there is 2.9.1+cu130, the allocator simulated here is 2.15's: see 'pytorch:' of the scenario\n"
            self.assertIn(other, done.stdout)
            done = tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", folder + "/c.yaml", "--set", "pytorch=2.9")
            self.assertNotIn("PyTorch there", done.stdout)
            done = tidemark("run", SCENARIOS / "resnet50.yaml", "--device", "a100-sxm-80gb", "--calibration", folder + "/c.yaml")
            self.assertRegex(done.stdout, r"Fits only if cuDNN asks for less than [0-9.]+ GiB \([0-9,]+ bytes\) beside it")

    def test_a_calibration_s_age_is_told(self):
        today = datetime.date.today()
        with tempfile.TemporaryDirectory() as folder:
            for days, told in ((0, "0 days old"), (1, "1 day old"), (400, "400 days old: drivers change, measure again"), (-3, "dated after today")):
                self.calibrated(folder, {**PROBE, "date": str(today - datetime.timedelta(days))}, "--device", "a100-sxm-80gb")
                done = tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", folder + "/c.yaml")
                self.assertIn("driver 580.1, %s (%s): " % (today - datetime.timedelta(days), told), done.stdout)
            self.calibrated(folder, {**PROBE, "date": "yesterday"}, "--device", "a100-sxm-80gb")
            self.assertIn("(of no known day)", tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", folder + "/c.yaml").stdout)

    def test_a_band_comes_from_the_calibration_s_intervals(self):
        with tempfile.TemporaryDirectory() as folder:
            self.calibrated(folder, PROBE, "--device", "a100-sxm-80gb")
            file = pathlib.Path(folder) / "c.yaml"
            text = file.read_text().replace("matmul_share: {value: 750, basis: measured, low: 750, high: 750, count: 1}",
                                            "matmul_share: {value: 750, basis: measured, low: 600, high: 800, count: 7}")
            file.write_text(text)
            time = json.loads(tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", file, "--format", "json").stdout)["time"]
            # 750 of 600 is 1.25 times as long, 750 of 800 0.9375; the launch, 5200 in 5000 to 5900, lies within
            self.assertEqual([time["time_band"][key] for key in ("basis", "low_thousandths", "high_thousandths")], ["calibrated", 937, 1250])
            self.assertIn("by the intervals of", tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", file).stdout)
            file.write_text(text.replace("memory_share: {value: 850, basis: measured", "memory_share: {value: 850, basis: assumed"))
            time = json.loads(tidemark("run", SCENARIOS / "mlp.yaml", "--calibration", file, "--format", "json").stdout)["time"]
            self.assertEqual(time["time_band"]["basis"], "published")

    def test_a_shared_calibration_is_taken_by_its_name_and_doubted(self):
        """configs/calibrations, of an installation: beside the program's folder in share"""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "bin" / "tidemark"
            shared = pathlib.Path(folder) / "share" / "tidemark" / "configs" / "calibrations"
            program.parent.mkdir()
            shared.mkdir(parents=True)
            shutil.copy(PROGRAM, program)

            def run(name, *words):
                return subprocess.run([program, "run", SCENARIOS / "mlp.yaml", "--calibration", name, *words], capture_output=True, text=True, check=False)

            done = run("a100-580")
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertIn("--calibration: 'a100-580' is no file, and configs/calibrations has none yet", done.stderr)
            self.calibrated(folder, PROBE, "--device", "a100-sxm-80gb")
            text = (pathlib.Path(folder) / "c.yaml").read_text()
            file = shared / "a100-580.yaml"
            file.write_text(text)
            done = run("a100-580")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Calibrated on NVIDIA A100-SXM4-80GB, driver 580.1, 2026-11-01", done.stdout)
            self.assertIn("configs/calibrations has a100-580", run("a100-570").stderr)
            for change, told in (
                (("driver: \"580.1\"", "driver: \"\""), "a shared calibration needs 'driver' in its receipt"),
                (("pretend: false", "pretend: true"), "it was measured on the pretend GPU, and is shared as a card's"),
                (("NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"), "the calibration is of 'NVIDIA H100 80GB HBM3', the device is 'NVIDIA A100-SXM4-80GB'"),
                (("total_bytes: 85100068864", "total_bytes: 42550034432"), "the calibration is of a card of 42550034432 bytes, the device has 85100068864"),
                (("schema_version: 3", "schema_version: 4"), "schema_version: must lie between 3 and 3, found 4"),
                (("matmul_share: {value: 750", "matmul_share: {value: 3000"),
                 "matmul_share is 3000 thousandths of the card's peak: a card reaches 1 to 1000"),
                (("context_bytes: {value: 504194304", "context_bytes: {value: 50419430400"),
                 "a CUDA context of 50419430400 bytes is more than half of the card's 85100068864"),
            ):
                self.assertIn(change[0], text)
                file.write_text(text.replace(*change))
                done = run("a100-580")
                self.assertEqual((done.returncode, done.stdout), (2, ""), change)
                self.assertIn(told, done.stderr)

    def test_calibrations_that_come_with_tidemark_are_whole(self):
        for file in sorted((ROOT / "configs" / "calibrations").glob("*.yaml")):
            card = next(d for d in json.loads(tidemark("devices", "--format", "json").stdout) if file.stem.startswith(d["id"] + "-"))
            done = tidemark("run", SCENARIOS / "mlp.yaml", "--device", card["id"], "--calibration", file.stem)
            self.assertEqual(done.returncode, 0, done.stderr)

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

    def test_a_snapshot_with_a_refused_request_says_what_the_context_takes(self):
        with tempfile.TemporaryDirectory() as folder:
            snapshot, file = pathlib.Path(folder) / "s.pickle", pathlib.Path(folder) / "c.yaml"
            words = ["calibrate", "--device", "rtx-2080-ti", "--snapshot", snapshot, "--out", file]
            for given, context in (((), 142606336), (("--set", "device.context=200MiB"), 209715200)):
                self.assertEqual(tidemark("run", SCENARIOS / "near_oom.yaml", "--set", "device.other=0", "--set", "batch=900", "--snapshot", snapshot, *given).returncode, 0)
                done = tidemark(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("Of a memory snapshot, as if nobody else was on the device\n", done.stdout)
                self.assertIn("\n1 entries measured, 0 interpolated, 19 assumed", done.stdout)
                self.assertIn(", driver not told, CUDA not told, ", done.stdout)
                text = file.read_text()
                self.assertIn("  context_bytes: {value: %d, basis: measured, low: %d, high: %d, count: 1}\n" % (context, context, context), text)
                self.assertIn('date: "%s"' % datetime.datetime.now(datetime.timezone.utc).date(), text)
                self.assertIn("address_order: down", text)
            done = tidemark("run", SCENARIOS / "near_oom.yaml", "--calibration", file)
            self.assertIn("reserved + CUDA context 200 MiB", done.stdout, done.stderr)
            for card, told in (("rtx-3060-laptop", "its segments and what was free are "), ("h100", "more than half of 'NVIDIA H100 80GB HBM3'")):
                done = tidemark("calibrate", "--device", card, "--snapshot", snapshot, "--out", file)
                self.assertEqual(done.returncode, 2)
                self.assertIn(told, done.stderr)
            tidemark("run", SCENARIOS / "mlp.yaml", "--snapshot", snapshot)
            done = tidemark(*words)
            self.assertIn("Not believed: %s: no request was refused in it, so it does not tell the context\n" % snapshot, done.stdout)
            self.assertIn("  context_bytes: {value: 0, basis: assumed}\n", file.read_text())

    RATES = {"matmul": 0.62, "convolution": 0.41, "elementwise": 0.77}  # of the peaks: what is true of this card
    PEAKS = {"fp32": 19.5e12, "tf32": 156e12, "bf16": 312e12}  # of configs/devices/a100-sxm-80gb.yaml
    TRAFFIC = 2.039e12

    def replayed(self, folder, name, noise):
        """a plan executed by a card of which RATES is true, as the harness writes it: each time off by `noise`, a sixth ten times too long"""
        plan = pathlib.Path(folder) / (name + ".plan")
        self.assertEqual(tidemark("plan", SCENARIOS / (name + ".yaml"), "--device", "a100-sxm-80gb", "--out", plan).returncode, 0)
        rows, state = ["kind,precision,flops,bytes,op,by,workspace_bytes,ns,least_ns,most_ns,repeats,kernel"], random.Random(3)
        for line in plan.read_text().splitlines():
            if not line.startswith("kernel "):
                continue
            kind, precision, flops, size, op = line.split()[2:7]
            if kind not in self.RATES:
                continue
            seconds = max(int(flops) / (self.PEAKS.get(precision, 1e30) * self.RATES[kind]), int(size) / (self.TRAFFIC * self.RATES["elementwise"]))
            ns = round(seconds * 1e9 * (1 + state.uniform(-noise, noise)) * (10 if noise and len(rows) % 6 == 5 else 1))
            by = {"matmul": "cublas", "convolution": "cudnn"}.get(kind, "pytorch")
            rows.append("%s,%s,%s,%s,%s,%s,,%d,%d,%d,5," % (kind, precision, flops, size, op, by, max(ns, 1), max(ns, 1), max(ns, 1)))
        table = pathlib.Path(folder) / (name + ".kernels.csv")
        table.write_text("\n".join(rows) + "\n")
        (pathlib.Path(folder) / (name + ".json")).write_text(json.dumps({"provenance": {
            "device": "NVIDIA A100-SXM4-80GB", "pretend": True, "given_times": True, "driver": "580.1", "cuda": "13.0", "date": "2026-11-01"}}))
        return table

    def test_a_plan_that_is_replayed_with_noise_gives_back_what_is_true(self):
        """plan, replay, measured, calibrate, run: bytes exact, times within the noise that was put in, one wrong time of six or none"""
        told = {}
        for noise in (0, 0.05):
            state, size = random.Random(5), 1 << 21
            latencies = [{"bytes": size << n, **{key: round((40000 + 2000 * (1 << n)) * (1 + state.uniform(-noise, noise)) * (3 if noise and n == 7 else 1))
                                                for key in ("malloc_ns", "free_ns")}, "map_ns": 61000, "unmap_ns": 41000} for n in range(12)]
            with tempfile.TemporaryDirectory() as folder:
                tables = [w for name in ("resnet50", "llama_bf16") for w in ("--kernels", self.replayed(folder, name, noise))]
                done = self.calibrated(folder, {**PROBE, "latencies": latencies}, "--device", "a100-sxm-80gb", *tables)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual("Not believed: " in done.stdout, noise > 0, done.stdout)
                text = (pathlib.Path(folder) / "c.yaml").read_text()
                found = dict(re.findall(r"^  (\w+): \{value: (\d+), basis: (?:measured|interpolated)", text, re.M))
                self.assertEqual(int(found["context_bytes"]), PROBE["context_bytes"] + PROBE["first_kernel_bytes"])
                for key, truth in (("matmul_share", 620), ("convolution_share", 410), ("memory_share", 770), ("malloc_ns", 40000), ("malloc_page_ns", 2000)):
                    self.assertAlmostEqual(int(found[key]) / truth, 1, delta=noise + 0.003, msg=key)
                run = tidemark("run", SCENARIOS / "llama_bf16.yaml", "--device", "a100-sxm-80gb", "--calibration", folder + "/c.yaml", "--format", "json")
                self.assertEqual(run.returncode, 0, run.stderr)
                told[noise] = json.loads(run.stdout)["time"]["step"]
        self.assertAlmostEqual(told[0.05]["ns"] / told[0]["ns"], 1, delta=0.05)
        self.assertTrue(told[0.05]["low_ns"] <= told[0]["ns"] <= told[0.05]["high_ns"], told)

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
        self.assertIn("no probe was found: set TIDEMARK_TORCH to a Python with PyTorch; or build validation/cuda", done.stderr)
        done = tidemark("calibrate", "--device", "t4", "--by", "pytorch")
        self.assertEqual(done.returncode, 77)
        self.assertIn("no PyTorch with a CUDA device was found: set TIDEMARK_TORCH", done.stderr)
        done = tidemark("calibrate", "--device", "t4", "--by", "torch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'torch' is neither pytorch nor probe", done.stderr)


if __name__ == "__main__":
    unittest.main()
