#!/usr/bin/env python3
"""One verdict from every command: a program is played to its end, a recording ends where it ends.

    verdict_test.py TIDEMARK
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line
MIB = 1 << 20

# Of 11.7 GiB one segment has 8, of which 1 GiB stays in use: the next 8 GiB fit where segments expand. The 20 GiB after them do not.
LATER = """import torch
GIB = 1 << 30
first = torch.empty(8 * GIB, dtype=torch.uint8, device="cuda")
del first
kept = torch.empty(GIB, dtype=torch.uint8, device="cuda")
middle = torch.empty(8 * GIB, dtype=torch.uint8, device="cuda")
last = torch.empty(20 * GIB, dtype=torch.uint8, device="cuda")
"""
TWO = """import torch
one = torch.empty(1 << 30, dtype=torch.uint8, device="cuda:0")
other = torch.empty(20 << 30, dtype=torch.uint8, device="cuda:1")
"""
# Six blocks of 20 MiB, three of them freed, which serve neither 50 MiB nor another stream; at the end 100 MiB beside 190 that are free.
GROWTH = """import torch
M = 1 << 20
def block(n):
    return torch.empty(n * M, dtype=torch.uint8, device="cuda")
blocks = [block(20) for _ in range(6)]
del blocks[::2]
large = block(50)
with torch.cuda.stream(torch.cuda.Stream()):
    beside = block(20)
most = [block(20) for _ in range(3)]
del large, beside, blocks, most
last = block(100)
"""


def run(*words):
    return subprocess.run([TIDEMARK, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)


def document(*words):
    done = run(*words, "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, text):
        path = self.folder / "train.py"
        path.write_text(text)
        return path

    def test_what_serves_the_refused_request_is_no_answer_for_the_program(self):
        path = self.program(LATER)
        oom = document("explain", path, "--device", "rtx-3060")["oom"]
        self.assertIsNone(oom["served_by"])
        self.assertIsNone(oom["to_its_end"]["setting_that_helps"])
        need = oom["to_its_end"]["need"]
        self.assertEqual(need["reserved_bytes"], 36 << 30)  # segments of 8, 8 and 20 GiB
        # No less than what is alive at the end: 1, 8 and 20 GiB.
        self.assertGreaterEqual(need["device_bytes"], 29 << 30)
        enough = document("run", path, "--device", "rtx-3060", "--set", f"device.total={need['device_bytes']}")
        self.assertEqual(enough["verdict"], "fits")
        less = document("run", path, "--device", "rtx-3060", "--set", f"device.total={need['device_bytes'] - need['step_bytes']}")
        self.assertEqual(less["verdict"], "out_of_memory")
        text = run("explain", path, "--device", "rtx-3060").stdout
        self.assertTrue(text.startswith("DOES NOT FIT."), text[:200])
        self.assertIn("To its end the program needs a device of", text)
        self.assertNotIn("would have served", text)

    def test_why_says_the_same_need(self):
        path = self.program(LATER)
        need = document("explain", path, "--device", "rtx-3060")["oom"]["to_its_end"]["need"]
        why = json.loads(run("run", path, "--device", "rtx-3060", "--why", "--format", "json").stdout)
        self.assertEqual(why["need"], need)

    def test_tune_calls_no_setting_best_that_refuses_a_request(self):
        path = self.program(LATER)
        tuned = document("tune", path, "--device", "rtx-3060")
        self.assertFalse(tuned["fits"])
        self.assertGreaterEqual(tuned["settings"][tuned["best"]]["worst_reserved_bytes"], 29 << 30)
        conf = self.folder / "conf.env"
        done = run("tune", path, "--device", "rtx-3060", "--write", conf)
        self.assertIn("No setting makes it fit.", done.stdout)
        self.assertNotIn("Best:", done.stdout)
        self.assertEqual(done.returncode, 3)
        self.assertFalse(conf.exists())
        self.assertIn("under every setting tried a request is refused", done.stderr)

    def test_the_worst_gpu_decides(self):
        scenario = self.folder / "two.yaml"
        scenario.write_text("schema_version: 1\ndevice: rtx-3060\ndevice_count: 2\nloop: |\n" +
                            "".join("  " + line + "\n" for line in TWO.splitlines()[1:]))
        told = document("run", scenario)
        self.assertEqual((told["verdict"], told["worst_device"]), ("out_of_memory", 1))
        text = run("run", scenario).stdout
        self.assertIn("DOES NOT FIT. A refused request ends the run. GPU 1 decides.", text)
        explained = document("explain", scenario)
        self.assertEqual(explained["device"], 1)
        self.assertEqual([each["refused"] for each in explained["devices"]], [0, 1])

    def test_the_two_peaks_are_told_apart_and_why_reserved_grew(self):
        peaks = document("explain", self.program(GROWTH), "--device", "rtx-3060")["peaks"]
        # 3 blocks of 20 MiB, 50, 20 beside, and 3 more of 20, which lie where the freed ones did.
        self.assertEqual(peaks["allocated"]["active_bytes"], (3 * 20 + 50 + 20 + 3 * 20) * MIB)
        self.assertEqual(peaks["reserved"]["reserved_bytes"], (6 * 20 + 50 + 20 + 100) * MIB)
        self.assertEqual(peaks["reserved"]["active_bytes"], 100 * MIB)
        self.assertLess(peaks["allocated"]["event"], peaks["reserved"]["event"])
        story = peaks["why_reserved"]
        self.assertEqual((story["growths"], story["avoidable"]), (9, 3))
        large, beside, last = story["largest"]
        self.assertEqual((large["request_bytes"], large["grown_bytes"], large["free_bytes"]), (50 * MIB, 50 * MIB, 60 * MIB))
        self.assertEqual((large["in smaller pieces"], large["largest_piece_bytes"]), (60 * MIB, 20 * MIB))
        self.assertEqual((beside["of another stream"], beside["in smaller pieces"]), (60 * MIB, 0))
        self.assertEqual((last["of another stream"], last["in smaller pieces"]), (20 * MIB, 170 * MIB))
        # empty_cache() gives the three free segments back, and before the last request all: 3 x 20, 50, 20 and 3 x 20 are the most.
        self.assertEqual(story["emptied_peak_bytes"], (3 * 20 + 50 + 20 + 3 * 20) * MIB)

    def test_a_page_on_a_run_that_failed_says_so_first(self):
        page = self.folder / "page.html"
        done = run("report", self.program(LATER), "--device", "rtx-3060", "-o", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        first = re.search(r"<noscript>(.*?)</noscript>", text, re.S).group(1)
        self.assertTrue(first.startswith("DOES NOT FIT. A refused request ends the run. Played to its end, the program needs"),
                        first)
        self.assertIn("Under none of", first)


class Recordings(unittest.TestCase):
    def test_a_recording_ends_where_it_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            path, snapshot = pathlib.Path(folder) / "train.py", pathlib.Path(folder) / "s.pickle"
            path.write_text(LATER)
            self.assertEqual(run("run", path, "--device", "rtx-3060", "--snapshot", snapshot).returncode, 0)
            oom = document("explain", snapshot)["oom"]
            self.assertIsNone(oom["to_its_end"])
            self.assertTrue(oom["recording_ends"])
            self.assertEqual(oom["served_by"]["setting_that_helps"], "expandable_segments:True")
            text = run("explain", snapshot).stdout
            self.assertIn("This request would have been served by any of these, re-simulated; the recording ends here:", text)
            self.assertNotIn("would fit", text)
            tuned = run("tune", snapshot).stdout
            self.assertIn("the recording ends at its out-of-memory error", tuned.replace("\n", " ").replace("  ", " "))

    def test_the_recordings_own_peaks_stand_beside_the_simulated_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            mlp = pathlib.Path(folder) / "mlp.pickle"
            mlp.write_bytes(gzip.decompress((ROOT / "tests" / "golden" / "recordings" / "mlp.pickle.gz").read_bytes()))
            text = run("replay", mlp).stdout
            row = next(line.split() for line in text.splitlines() if line.startswith("  peak reserved"))
            self.assertEqual(row[2], row[3])


if __name__ == "__main__":
    TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
