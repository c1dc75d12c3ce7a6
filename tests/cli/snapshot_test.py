#!/usr/bin/env python3
"""Memory snapshots through the whole program: replay, explain, diff, report and the exports.

    snapshot_test.py PATH/TO/tidemark [CLASS...]
"""

import gzip
import importlib.util
import io
import json
import os
import pathlib
import pickle
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import trace_events

TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line
RECORDINGS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "recordings"
MLP = str(RECORDINGS / "mlp.pickle.gz")
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
SIMPLE_CONV = str(CONFIGS / "scenarios" / "simple_conv.yaml")
FRAGMENTED = """tidemark-trace 1
alloc 0 6291456
alloc 1 6291456
alloc 2 6291456
alloc 3 6291456
alloc 4 6291456
alloc 5 6291456
free 0
free 2
free 4
alloc 6 12582912
"""


def run(*args, env=None):
    done = subprocess.run([TIDEMARK, *args], capture_output=True, env=env, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


LEAK = """schema_version: 1
name: leak
device: rtx-3060
model: {file: MODEL, class: SimpleConv}
loop: |
  opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
  kept = []
  for step in range(5):
      with phase(f"forward {step}"):
          out = model(torch.zeros(128, 3, 32, 32).to("cuda"))
          kept.append(out)
      with phase(f"backward {step}"):
          out.sum().backward()
      with phase(f"optimizer {step}"):
          opt.step()
          opt.zero_grad()
"""


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}")


def memory_viz():
    """PyTorch's own torch/cuda/_memory_viz.py, loaded by itself; None where PyTorch is not installed."""
    folders = [os.environ["TIDEMARK_TORCH"]] if "TIDEMARK_TORCH" in os.environ else sys.path
    for folder in folders:
        path = pathlib.Path(folder) / "torch" / "cuda" / "_memory_viz.py"
        if path.is_file():
            spec = importlib.util.spec_from_file_location("memory_viz", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    return None


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name, text=None):
        path = self.folder / name
        if text is not None:
            path.write_text(text)
        return str(path)

    def fragmented(self):
        """44 MiB, of which 22 MiB are free in pieces when 12 MiB are asked for."""
        snapshot = self.path("oom.pickle")
        code, _, err = run("replay", self.path("oom.tmt", FRAGMENTED), "--device-bytes", "44MiB", "--snapshot", snapshot)
        self.assertEqual((code, err), (0, ""))
        return snapshot


class Snapshots(Files):
    def test_a_recording_agrees_and_is_compared_with_other_settings(self):
        code, out, err = run("replay", MLP, "--alloc-conf", "expandable_segments:True", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        report = json.loads(out)
        self.assertTrue(report["recording"]["agrees"])
        self.assertEqual(report["recording"]["recorded"], report["recording"]["simulated"])
        self.assertEqual([row["alloc_conf"] for row in report["settings"]], ["", "expandable_segments:True"])
        code, out, err = run("replay", MLP, "--grid")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("every event agrees", out)
        self.assertIn("The recording's own setting is number", out)

    def test_its_requests_play_like_itself(self):
        trace, from_trace, from_snapshot = self.path("mlp.tmt.gz"), self.path("a.csv"), self.path("b.csv")
        code, _, err = run("replay", MLP, "--trace-out", trace, "--device", "h100", "--events", from_snapshot)
        self.assertEqual((code, err), (0, ""))
        code, _, err = run("replay", trace, "--device", "h100", "--events", from_trace)
        self.assertEqual((code, err), (0, ""))
        strip = [",".join(line.split(",")[:6]) for line in pathlib.Path(from_trace).read_text().splitlines()]
        self.assertEqual(strip, [",".join(line.split(",")[:6]) for line in
                                 pathlib.Path(from_snapshot).read_text().splitlines()])

    def test_export_import_export_gives_the_same_bytes(self):
        once, again = self.path("once.pickle"), self.path("again.pickle")
        self.assertEqual(run("replay", self.path("oom.tmt", FRAGMENTED), "--snapshot", once)[0], 0)
        self.assertEqual(run("replay", once, "--device", "h100", "--snapshot", again)[0], 0)
        first, second = (Plain(io.BytesIO(pathlib.Path(path).read_bytes())).load() for path in (once, again))
        self.assertEqual(first["segments"], second["segments"])
        self.assertEqual(first["device_traces"], second["device_traces"])

    def test_a_cut(self):
        code, out, err = run("replay", MLP, "--from", "step:1", "--to", "event:200")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("begun with a filled cache", out)
        self.assertIn("every event agrees", out)
        code, _, err = run("replay", MLP, "--from", "noon")
        self.assertEqual(code, 2)
        self.assertEqual(err.splitlines()[0], "error: --from: expected an event's number, event:N, step:N, time:1.5s or "
                         "mark:TEXT, found 'noon'")

    def test_an_out_of_memory_error_is_explained(self):
        code, out, err = run("explain", self.fragmented(), "--format", "json")
        self.assertEqual((code, err), (0, ""))
        oom = json.loads(out)["oom"]
        self.assertEqual(oom["class"], "fragmentation")
        self.assertEqual(oom["capacity_bytes"], 44 << 20)
        self.assertIsNone(oom["served_by"]["setting_that_helps"])  # a page of 20 MiB more is refused too
        self.assertEqual(oom["served_by"]["more_bytes"], 8 << 20)
        self.assertEqual(oom["largest_free_bytes"], 8 << 20)

    def test_what_would_have_avoided_it_is_found_by_trying(self):
        # 30 MiB in use of 44 after three frees of 6 MiB each: 12 MiB lie in no one piece. Blocks 1, 3 and 5 are of one maker.
        code, out, err = run("explain", self.fragmented())
        self.assertEqual((code, err), (0, ""))
        self.assertIn("another setting: none of the 12 tried\n", out)
        self.assertIn("a smaller request: at most 8.00 MiB (8,388,608 bytes), in whole MiB\n", out)
        self.assertIn("more device memory: 8.00 MiB (8,388,608 bytes)\n", out)

    def test_the_largest_request_counts_the_device_where_it_is_known(self):
        code, out, err = run("explain", MLP, "--at", "event:104", "--device-bytes", "200MiB", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        report = json.loads(out)
        self.assertEqual(report["capacity_bytes"], 200 << 20)
        self.assertGreater(report["largest_fitting_bytes"], report["largest_cached_bytes"])
        code, out, err = run("explain", "configs/scenarios/simple_conv.yaml", "--at", "step:2", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out)["step"], 2)

    def test_a_scenarios_run_is_chosen_by_its_options(self):
        scenario = "configs/scenarios/batch_order.yaml"
        code, out, err = run("explain", scenario, "--set", "device.total=14GiB", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        oom = json.loads(out)["oom"]
        self.assertEqual((oom["class"], oom["to_its_end"]["setting_that_helps"]), ("fragmentation", "expandable_segments:True"))
        self.assertGreater(oom["to_its_end"]["need"]["device_bytes"], 14 << 30)
        code, _, err = run("explain", MLP, "--device", "t4")
        self.assertEqual(code, 2)
        self.assertEqual(err.splitlines()[0], f"error: --set, --variant, --device: choose a scenario's run; '{MLP}' is none")

    def test_other_devices_are_rows_too(self):
        code, out, err = run("replay", MLP, "--device", "t4", "--device-bytes", "100MiB", "--alloc-conf",
                             "expandable_segments:True", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        rows = json.loads(out)["settings"]
        self.assertEqual([(row["device"], row["alloc_conf"]) for row in rows],
                         [("", ""), ("", "expandable_segments:True"), ("t4", ""), ("t4", "expandable_segments:True")])
        self.assertGreater(rows[0]["ooms"], 0)
        self.assertEqual(rows[2]["ooms"], 0)
        self.assertGreater(rows[2]["spare_bytes"], 10 << 30)

    def test_any_two_of_run_trace_and_snapshot_are_compared(self):
        trace, events, scenario = self.path("mlp.tmt.gz"), self.path("e.csv"), "configs/scenarios/simple_conv.yaml"
        self.assertEqual(run("replay", MLP, "--trace-out", trace, "--events", events, "--device", "h100")[0], 0)
        code, out, err = run("diff", trace, MLP)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("+0 B reserved in B: +0 B in use, +0 B free; +0 segments\n", out)
        for a, b in ((scenario, MLP), (trace, scenario), (scenario, scenario)):
            code, out, err = run("diff", a, b)
            self.assertEqual((code, err), (0 if a == b else 1, ""))
        code, out, err = run("diff", MLP, events)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, f"error: {events}: is an event trace, which does not hold the requests' block sizes; give the "
                         "scenario itself, or what `run --snapshot` writes\n")

    def test_an_interrupt_leaves_nothing_half_written(self):
        out = self.path("out.pickle")
        for delay in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
            process = subprocess.Popen([TIDEMARK, "run", "configs/scenarios/gpt2.yaml", "--snapshot", out],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            self.assertIn(process.wait(60), (0, -signal.SIGINT))
            left = sorted(path.name for path in self.folder.iterdir())
            self.assertIn(left, ([], ["out.pickle"]))
            if left:
                Plain(io.BytesIO(pathlib.Path(out).read_bytes())).load()
                pathlib.Path(out).unlink()

    def test_progress_is_shown_on_a_terminal_alone(self):
        snapshot = self.path("long.pickle")
        events = [{"action": action, "addr": 0x7F0000000000, "size": 512, "stream": 0, "time_us": 0, "note": "x" * 900 + str(i)}
                  for i in range(50000) for action in ("alloc", "free_requested", "free_completed")]
        segment = {"device": 0, "address": 0x7F0000000000, "total_size": 2 << 20, "stream": 0, "segment_type": "small",
                   "blocks": [{"size": 2 << 20, "requested_size": 0, "state": "inactive", "frames": []}]}
        events.insert(0, {"action": "segment_alloc", "addr": 0x7F0000000000, "size": 2 << 20, "stream": 0, "time_us": 0})
        pathlib.Path(snapshot).write_bytes(pickle.dumps({"segments": [segment], "device_traces": [events]}, 4))
        self.assertGreater(pathlib.Path(snapshot).stat().st_size, 64 << 20)
        code, _, err = run("replay", snapshot)
        self.assertEqual((code, err), (0, ""))
        terminal, child = pty.openpty()
        process = subprocess.Popen([TIDEMARK, "replay", snapshot], stdout=subprocess.DEVNULL, stderr=child,
                                   env={**os.environ, "TERM": "xterm", "NO_COLOR": ""})
        os.close(child)
        shown = b""
        while True:
            try:
                more = os.read(terminal, 4096)
            except OSError:  # what a terminal says when its last writer is gone
                break
            shown += more
        self.assertEqual(process.wait(), 0)
        self.assertRegex(shown, rb"\rreading: \d+ %")
        self.assertTrue(shown.endswith(b"\r" + 20 * b" " + b"\r"), shown[-40:])

    def test_a_leak_grows_in_every_step(self):
        scenario = self.path("leak.yaml", LEAK.replace("MODEL", str(pathlib.Path("configs/models/simple_conv.py").resolve())))
        code, out, err = run("explain", scenario, "--churn")
        self.assertEqual((code, err), (0, ""))
        # 128 outputs of 10 floats: 5 KiB are kept a step, 20 after the four steps that follow the first
        self.assertIn("Over 5 steps, told by the numbers in the events' user_metadata\n"
                      "  +20.0 KiB since the first step, +5.00 KiB a step, more in every one (a leak?): fc\n", out)
        code, out, err = run("explain", scenario, "--churn", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        growing = json.loads(out)["growing"]
        self.assertEqual([(site["made_by"], site["growth_bytes"], site["grows_every_step"]) for site in growing],
                         [("fc", 20480, True)])

    def test_steps_are_told_by_stacks_where_no_annotation_tells(self):
        code, out, err = run("explain", str(RECORDINGS / "releases" / "2.1.2-two.pickle.gz"), "--at", "step:2", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out)["step"], 2)
        code, _, err = run("explain", str(RECORDINGS / "releases" / "2.1.2-oom.pickle.gz"), "--at", "time:1s")
        self.assertEqual((code, err), (2, "error: --at: the recording has no times: PyTorch writes them from 2.2 on\n"))

    def test_churn_and_diff(self):
        code, out, _ = run("explain", MLP, "--churn", "--format", "json")
        self.assertEqual(code, 0)
        self.assertEqual(sum(json.loads(out)["lifetimes"]) + json.loads(out)["never_freed"], 138)
        self.assertEqual(run("diff", MLP, MLP)[0], 0)
        self.assertEqual(run("diff", MLP, str(RECORDINGS / "simple_conv.pickle.gz"))[0], 1)

    def test_two_runs_of_one_scenario_are_compared_in_one_command(self):
        code, out, err = run("diff", SIMPLE_CONV, "--set", "batch=32", "--set-b", "batch=64")
        self.assertEqual((code, err), (1, ""))
        self.assertTrue(out.startswith(f"A: {SIMPLE_CONV} --set batch=32, after event "), out)
        self.assertIn(f"\nB: {SIMPLE_CONV} --set batch=32 --set batch=64, after event ", out)
        self.assertEqual(run("diff", SIMPLE_CONV, "--set-a", "batch=32", "--set-b", "batch=32")[0], 0)
        self.assertEqual(run("diff", SIMPLE_CONV)[0], 0)
        self.assertEqual(run("diff", MLP, SIMPLE_CONV, "--set", "batch=32")[0], 1)

    def test_a_choice_wants_a_scenario_to_choose_of(self):
        self.assertEqual(run("diff", MLP), (2, "", "error: B: is missing; only a scenario is compared with itself\n"))
        self.assertEqual(run("diff", MLP, MLP, "--set", "batch=1"),
                         (2, "", "error: --set: chooses a scenario's run; no scenario is given\n"))
        self.assertEqual(run("diff", MLP, SIMPLE_CONV, "--set-a", "batch=1"),
                         (2, "", f"error: --set, --variant, --device: choose a scenario's run; '{MLP}' is none\n"))

    def test_the_trace_tells_what_torch_profiler_told(self):
        perfetto = self.path("trace.json")
        code, _, err = run("run", str(CONFIGS / "articles" / "S46.yaml"), "--perfetto", perfetto)
        self.assertEqual((code, err), (0, ""))
        events = json.loads(pathlib.Path(perfetto).read_text())["traceEvents"]
        begin = next(event["ts"] for event in events if event["ph"] == "B" and event["name"] == "step")
        golden = json.loads((RECORDINGS.parent / "articles" / "profiler.json").read_text())
        told = [event["args"] for event in events if event.get("name") == "[memory]" and event["ts"] >= begin]
        self.assertEqual([[each[column] for column in golden["columns"]] for each in told], golden["S46"])

    def test_the_trace_of_a_run_is_in_order_and_has_the_host(self):
        perfetto = self.path("trace.json")
        code, _, err = run("run", SIMPLE_CONV, "--perfetto", perfetto)
        self.assertEqual((code, err), (0, ""))
        document = json.loads(pathlib.Path(perfetto).read_text())
        self.assertEqual(trace_events.problems(document), [])
        counters = [event for event in document["traceEvents"] if event["ph"] == "C" and "pageable" in event["args"]]
        self.assertEqual(counters[0]["args"], {"pageable": 3456, "pinned": 0})  # the first weight, of 32 x 3 x 3 x 3 floats
        told = [event["args"] for event in document["traceEvents"] if event.get("name") == "[memory]"]
        self.assertEqual(list(told[0]), ["Total Reserved", "Total Allocated", "Bytes", "Addr", "Device Id", "Device Type"])
        self.assertEqual(sum(each["Bytes"] for each in told), told[-1]["Total Allocated"])

    def test_exports_open(self):
        perfetto, columns = self.path("trace.json"), self.path("columns")
        code, _, err = run("replay", MLP, "--perfetto", perfetto, "--columns", columns)
        self.assertEqual((code, err), (0, ""))
        document = json.loads(pathlib.Path(perfetto).read_text())
        self.assertEqual(trace_events.problems(document), [])
        events = document["traceEvents"]
        self.assertEqual({event["ph"] for event in events}, {"M", "C", "X", "B", "E", "i", "s", "f"})
        self.assertEqual(sum(event["ph"] == "C" for event in events), 343)
        names = json.loads((pathlib.Path(columns) / "columns.json").read_text())
        self.assertEqual(names["events"], 343)
        for file in pathlib.Path(columns).glob("*.npy"):
            content = file.read_bytes()
            self.assertEqual(content[:8], b"\x93NUMPY\x01\x00")
            header = 10 + int.from_bytes(content[8:10], "little")
            self.assertEqual(header % 64, 0)
            self.assertEqual((len(content) - header) % 343, 0)


class MemoryViz(Files):
    def test_memory_viz_opens_an_export(self):
        viz = memory_viz()
        if viz is None:
            self.skipTest("PyTorch is not installed (TIDEMARK_TORCH names its folder)")
        with open(self.fragmented(), "rb") as file:
            snapshot = Plain(file).load()
        self.assertIn("40.0MiB", viz.segsum(snapshot))
        self.assertIn("raise OutOfMemoryError # 12.0MiB requested, 4.0MiB free", viz.trace(snapshot))
        self.assertGreater(len(viz.trace_plot(snapshot)), 1000)


class BadFiles(Files):
    def test_bad_files_exit_with_2_and_one_message(self):
        truncated = self.folder / "truncated.pickle"
        truncated.write_bytes(gzip.decompress(pathlib.Path(MLP).read_bytes())[:5000])
        for command in ("replay", "explain", "report"):
            code, out, err = run(command, str(truncated))
            self.assertEqual((code, out), (2, ""), command)
            self.assertEqual(err, f"{truncated}: error: the pickle ends in the middle, at byte 5000: the file is truncated\n")
        code, _, err = run("explain", MLP, "--at", "oom")
        self.assertEqual((code, err), (2, "error: --at: no out-of-memory error was recorded\n"))


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    result = unittest.main(exit=False).result
    if result.skipped and len(result.skipped) == result.testsRun:
        print("skipped:", result.skipped[0][1])
        sys.exit(77)  # CTest counts it
    sys.exit(0 if result.wasSuccessful() else 1)
