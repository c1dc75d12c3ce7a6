#!/usr/bin/env python3
"""tidemark replay as a process: its files against recorded ones, its tables, what it refuses.

    replay_test.py PATH/TO/tidemark
"""

import csv
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line
GOLDENS = pathlib.Path("tests/golden/allocator/pytorch-2.11")
# Two 5 MiB blocks share a 20 MiB segment; 30 MiB take one of their own, which 40 MiB of room do not hold.
TRACE = """tidemark-trace 1
mark load
alloc 1 5242880
alloc 2 5242880
free 1
mark big
alloc 3 31457280
free 2
"""
SMALL = ("--device-bytes", "40MiB")


def run(*args, stdin=b""):
    done = subprocess.run([TIDEMARK, "replay", *args], capture_output=True, input=stdin, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def unzipped(path):
    return gzip.decompress(path.read_bytes()).decode()


class Recordings(unittest.TestCase):
    def test_every_gpu_is_named_the_worst_first_and_played(self):
        two = "tests/golden/recordings/releases/2.11.0-two.pickle.gz"
        code, out, err = run(two)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("\nGPU 1: peak reserved 130 MiB, 0 refused; replayed here\nGPU 0: peak reserved 98.0 MiB, 0 refused\n\nRecording of device 1,", out)
        self.assertRegex(out, r"recorded +simulated\n  peak reserved +136,314,880 +136,314,880\n")
        self.assertIn("GPU 0: peak reserved 98.0 MiB, 0 refused; replayed here\n", run(two, "--gpu", "0")[1])
        gpus = json.loads(run(two, "--format", "json")[1])["gpus"]
        self.assertEqual([(gpu["device"], gpu["peak_reserved_bytes"], gpu["refused"]) for gpu in gpus], [(1, 136314880, 0), (0, 102760448, 0)])

    def test_a_recording_of_another_release_than_is_asked_for_is_flagged(self):
        recording = "tests/golden/recordings/releases/2.15.0-oom.pickle.gz"
        note = "Note: the recording is of PyTorch 2.13 to 2.15, and played under the allocator of 2.6.\n"
        self.assertIn(note, run(recording, "--pytorch", "2.6")[1])
        for same in ((), ("--pytorch", "2.14")):
            self.assertNotIn("the recording is of", run(recording, *same)[1])


class Files(unittest.TestCase):
    def test_files_equal_what_the_real_allocator_left(self):
        for name in ("combo-everything", "expandable-nearfull", "pools-streams"):
            folder = GOLDENS / name
            config = json.loads((folder / "config.json").read_text())
            with tempfile.TemporaryDirectory() as out:
                out = pathlib.Path(out)
                args = [str(folder / "requests.tmt.gz"), "--alloc-conf", config["conf"]]
                args += ["--device-bytes", str(config["device_total_bytes"]), "--context-bytes", str(config["context_bytes"])]
                if config["memory_fraction"] is not None:
                    args += ["--memory-fraction", str(config["memory_fraction"])]
                args += ["--events", out / "e.csv.gz", "--stats", out / "s.json", "--segments", out / "g.json"]
                code, _, err = run(*args)
                self.assertEqual((code, err), (0, ""), name)
                ours = [row[:6] for row in csv.reader(io.StringIO(unzipped(out / "e.csv.gz")))]
                theirs = list(csv.reader(io.StringIO(unzipped(folder / "events.csv.gz"))))
                self.assertEqual(ours, theirs, name)
                self.assertEqual((out / "s.json").read_text(), (folder / "stats.json").read_text(), name)
                self.assertEqual((out / "g.json").read_text(), unzipped(folder / "segments.json.gz"), name)

    def test_timeline_has_the_amounts_after_each_event(self):
        code, out, err = run("-", "--device", "h100", "--timeline", "/dev/stdout", "--format", "csv", stdin=TRACE.encode())
        self.assertEqual((code, err), (0, ""))
        rows = out.splitlines()
        self.assertEqual(rows[0], "index,action,bytes,phase,reserved_bytes,active_bytes,allocated_bytes,requested_bytes,"
                                  "inactive_split_bytes,largest_free_bytes,internal_bytes,external_bytes,ideal_bytes")
        # 20 MiB held, 10 in two blocks, 10 free behind them
        self.assertEqual(rows[3], "2,alloc,5242880,load,20971520,10485760,10485760,10485760,10485760,10485760,0,10485760,10485760")
        self.assertEqual(rows[6].split(",")[:4], ["5", "segment_alloc", "31457280", "big"])


class Tables(unittest.TestCase):
    def test_one_setting_is_told_in_lines(self):
        # Of the 20 MiB held, live bytes do not need: 20, 15, 10 as the blocks are made, 15 and 15 by the free, 15 at the
        # refusal, 20 and 20 by the last free: 130 / 160 = 81.25 %.
        code, out, err = run("-", *SMALL, stdin=TRACE.encode())
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(re.sub(r"\n    (?=\S)", " ", out), """-
a device of 40.0 MiB, context 0 B; PyTorch 2.11; event policy sync
3 requests, 2 frees

Setting: (default)

                               bytes
peak reserved   20.0 MiB  20,971,520  held from the driver
peak allocated  10.0 MiB  10,485,760  blocks that owners hold
peak live       10.0 MiB  10,485,760  what they asked for: the least any allocator needs

Fragmentation 75.0 % at the peak of reserved, 81.3 % in the mean (reserved, less live bytes)
Segments      1 at most
Device calls  3, 210.00 us of simulated time
Retries       1
Out of memory 1
  first: CUDA out of memory. Tried to allocate 30.00 MiB. GPU 0 has a total capacity of 40.00 MiB of which 20.00 MiB is free. Including non-PyTorch memory, this process has 20.00 MiB memory in use. Of the allocated memory 5.00 MiB is allocated by PyTorch, and 15.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation. See documentation for Memory Management (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)
""")

    def test_several_settings_are_a_table_in_the_order_given(self):
        args = ["-", *SMALL, "--alloc-conf", "", "--alloc-conf", "backend:naive", "--alloc-conf", "backend:ideal"]
        code, out, err = run(*args, "--format", "csv", stdin=TRACE.encode())
        self.assertEqual((code, err), (0, ""))
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([row["alloc_conf"] for row in rows], ["", "backend:naive", "backend:ideal"])
        self.assertEqual([row["peak_reserved_bytes"] for row in rows], ["20971520", "37748736", "36700160"])
        self.assertEqual([row["ooms"] for row in rows], ["1", "0", "0"])
        code, text, err = run(*args, stdin=TRACE.encode())
        self.assertEqual((code, err), (0, ""))
        self.assertIn("  2  backend:naive\n", text)
        self.assertEqual(run(*args, stdin=TRACE.encode())[1], text)

    def test_json_has_the_same_figures(self):
        code, out, err = run("-", *SMALL, "--format", "json", stdin=TRACE.encode())
        self.assertEqual((code, err), (0, ""))
        document = json.loads(out)
        self.assertEqual((document["schema_version"], document["kind"], document["requests"]), (1, "replay", 3))
        self.assertEqual(document["settings"][0]["peak_reserved_bytes"], 20971520)
        self.assertEqual(document["settings"][0]["fragmentation_at_peak_ppm"], 750000)

    def test_repeat_tells_the_allocators_speed(self):
        code, out, _ = run("-", "--repeat", "3", "--format", "json", stdin=TRACE.encode())
        speed = json.loads(out)["settings"][0]["speed"]
        self.assertEqual((code, speed["events"], speed["runs"]), (0, 5, 3))
        self.assertGreaterEqual(speed["best_events_per_s"], speed["median_events_per_s"])

    def test_every_event_policy_plays(self):
        for policy in ("sync", "ready", "lag:2", "simulated"):
            code, out, err = run("-", "--event-policy", policy, "--format", "csv", stdin=TRACE.encode())
            self.assertEqual((code, err), (0, ""), policy)
            self.assertIn(",52428800,", out)


class Refusals(unittest.TestCase):
    def refused(self, expected, *args, stdin=TRACE):
        code, out, err = run("-", *args, stdin=stdin.encode())
        self.assertEqual((code, out), (2, ""), args)
        self.assertEqual(err, expected)

    def test_flags(self):
        self.refused("error: --event-policy: expected sync, ready, lag:N or simulated, found 'lag'\n", "--event-policy", "lag")
        self.refused("error: --memory-fraction: expected a number from 0 to 1, found '1.5'\n", "--memory-fraction", "1.5")
        self.refused("error: --device-bytes: expected an amount from 1 byte to 512 PiB such as 80GiB, found '0'\n",
                     "--device-bytes", "0")
        self.refused("error: --context-bytes: the context (2097152 bytes) is larger than the device (1048576 bytes)\n",
                     "--device-bytes", "1MiB", "--context-bytes", "2MiB")
        self.refused("error: --events: holds one run, but there are several --alloc-conf; give one --alloc-conf, or leave "
                     "--events out\n", "--alloc-conf", "", "--alloc-conf", "backend:naive", "--events", "e.csv")
        self.refused("error: unknown option '--devise'; did you mean '--device'?\nSee 'tidemark help replay'.\n", "--devise", "t4")

    def test_settings_name_their_place_and_all_are_told(self):
        self.refused("--alloc-conf:1:1: error: Unrecognized key 'expandable_segment' in CUDA allocator config.; did you mean "
                     "'expandable_segments'?\n    expandable_segment:True\n    ^~~~~~~~~~~~~~~~~~\n"
                     "--alloc-conf:1:19: error: max_split_size_mb: CachingAllocator option max_split_size_mb too small, must be "
                     ">= 20\n    max_split_size_mb:2\n                      ^\n",
                     "--alloc-conf", "expandable_segment:True", "--alloc-conf", "max_split_size_mb:2")
        self.refused("--alloc-conf:1:1: error: Unrecognized CachingAllocator option: large_segment_size_mb; PyTorch 2.11 is "
                     "the first to know it; this is 2.6\n    large_segment_size_mb:64\n    ^~~~~~~~~~~~~~~~~~~~~\n",
                     "--pytorch", "2.6", "--alloc-conf", "large_segment_size_mb:64")

    def test_an_odd_segment_cannot_expand(self):
        self.refused("error: CUDA driver error: invalid argument; expandable_segments needs an even large_segment_size_mb\n",
                     "--alloc-conf", "large_segment_size_mb:33,expandable_segments:True")

    def test_what_is_no_trace(self):
        code, _, err = run("nowhere.tmt")
        self.assertEqual((code, err), (4, "error: nowhere.tmt: No such file or directory\n"))

    def test_settings_without_effect_are_a_warning(self):
        code, _, err = run("-", "--alloc-conf", "backend:cudaMallocAsync,max_split_size_mb:30", stdin=TRACE.encode())
        self.assertEqual((code, err), (0, "warning: max_split_size_mb: backend:cudaMallocAsync ignores it\n"))


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    unittest.main(verbosity=1)
