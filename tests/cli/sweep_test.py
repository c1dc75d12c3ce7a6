#!/usr/bin/env python3
"""tidemark sweep and tidemark results as whole programs: killed, resumed, dealt out, merged, refused.

    sweep_test.py TIDEMARK [KILLS]
"""

import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
KILLS = 10

SCENARIO = f"""
schema_version: 1
device: t4
model: {{file: {ROOT}/configs/models/simple_conv.py, class: SimpleConv, args: {{image: 32, inplace: false}}}}
train: {{steps: 2, batch: 4, input: [3, 32, 32], target: [], optimizer: Adam(lr=1e-3)}}
sweep:
  grid:
    batch: {{from: 1, to: 100, step: 1}}
    optimizer: ["SGD(lr=0.1)", "Adam(lr=1e-3)"]
    allocator.conf: ["", "expandable_segments:True"]
"""


def run(*words):
    return subprocess.run([TIDEMARK, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = self.folder / "s.yaml"
        self.scenario.write_text(SCENARIO)
        self.whole = self.folder / "whole.sqlite"

    def sweep_whole(self):
        done = run("sweep", self.scenario, "--out", self.whole)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("400 of 400 cells fit", done.stdout)

    def table(self, path):
        done = run("results", path, "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_killed_at_any_moment_it_resumes_to_the_same_table(self):
        self.scenario.write_text(SCENARIO.replace("to: 100", f"to: {10 * KILLS}"))  # more kills, more work to meet them
        self.assertEqual(run("sweep", self.scenario, "--out", self.whole).returncode, 0)
        rng = random.Random(7)
        path = self.folder / "killed.sqlite"
        counts = []
        for _ in range(KILLS):
            process = subprocess.Popen([TIDEMARK, "sweep", self.scenario, "--out", path, "--resume"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.0, 0.3))
            process.kill()
            process.wait()
            if path.exists():
                try:
                    counts.append(sqlite3.connect(path).execute("SELECT COUNT(*) FROM cells").fetchone()[0])
                except sqlite3.OperationalError:
                    counts.append(0)  # killed before the tables were there
        self.assertEqual(counts, sorted(counts))
        done = run("sweep", self.scenario, "--out", path, "--resume", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.table(path), self.table(self.whole))

    def test_parts_merge_to_the_whole_whatever_the_threads(self):
        self.sweep_whole()
        parts = [self.folder / f"part{i}.sqlite" for i in (1, 2, 3)]
        for i, part in enumerate(parts, 1):
            done = run("sweep", self.scenario, "--out", part, "--shard", f"{i}/3", "--threads", i)
            self.assertEqual(done.returncode, 0, done.stderr)
        merged = self.folder / "merged.sqlite"
        done = run("results", "merge", merged, *parts)
        self.assertEqual(done.stdout, f"{merged}: 400 of 400 cells\n", done.stderr)
        self.assertEqual(self.table(merged), self.table(self.whole))

    def test_a_row_is_what_run_says(self):
        self.sweep_whole()
        rows = json.loads(run("results", self.whole, "--where", "batch = 37", "--format", "json").stdout)
        self.assertEqual(len(rows), 4)
        for row in rows:
            words = [w for key in ("batch", "optimizer", "allocator.conf") for w in ("--set", f"{key}={json.dumps(row[key])}")]
            alone = json.loads(run("run", self.scenario, *words, "--format", "json").stdout)
            device = alone["devices"][0]
            self.assertEqual(row["peak_reserved"], device["peak_reserved"]["bytes"])
            self.assertEqual(row["peak_allocated"], device["peak_allocated"]["bytes"])
            self.assertEqual(row["time_ns"], alone["end_ns"])

    def test_another_scenario_is_not_mixed_in(self):
        self.sweep_whole()
        done = run("sweep", self.scenario, "--out", self.whole)
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("is there already; --resume goes on with it", done.stderr)
        self.scenario.write_text(SCENARIO.replace("steps: 2", "steps: 3"))
        done = run("sweep", self.scenario, "--out", self.whole, "--resume")
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds the results of another scenario text; give another --out", done.stderr)
        done = run("results", self.scenario)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("holds no results of a sweep (file is not a database)", done.stderr)

    def test_mistakes_are_told_at_once(self):
        done = run("sweep", self.scenario, "--shard", "4/3")
        self.assertEqual((done.returncode, done.stderr), (2, "error: --shard: there is no part 4 of 3\n"))
        done = run("sweep", self.scenario, "--resume")
        self.assertEqual((done.returncode, done.stderr), (2, "error: --resume: needs the file to go on with; give --out FILE\n"))
        done = run("sweep", "configs/scenarios/simple_conv.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sweep: the scenario has no sweep section", done.stderr)
        self.scenario.write_text(SCENARIO.replace("batch: {from", "bach: {from"))
        done = run("sweep", self.scenario)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.scenario}:8:5: error: sweep: bach: leads nowhere: there is no 'bach'; did you mean 'batch'?", done.stderr)

    def test_the_section_changes_nothing_for_run(self):
        self.assertEqual(run("run", self.scenario, "--format", "csv").returncode, 0)
        self.assertEqual(run("check", self.scenario).returncode, 0)


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        KILLS = int(sys.argv.pop(1))
    unittest.main()
