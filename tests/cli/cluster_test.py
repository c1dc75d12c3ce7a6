#!/usr/bin/env python3
"""Sweeps by many processes: ranks of MPI of which one is killed, processes that join in and are killed, and the scripts of configs/cluster.

    cluster_test.py TIDEMARK [Joint|Mpi|Workflow]
"""

import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "configs/cluster"
TIDEMARK = ""

SCENARIO = f"""
schema_version: 1
device: t4
model: {{file: {ROOT}/configs/models/simple_conv.py, class: SimpleConv, args: {{image: 32, inplace: false}}}}
train: {{steps: 2, batch: 4, input: [3, 32, 32], target: [], optimizer: Adam(lr=1e-3)}}
sweep:
  grid:
    batch: {{from: 1, to: 300, step: 1}}
    optimizer: ["SGD(lr=0.1)", "Adam(lr=1e-3)"]
    allocator.conf: ["", "expandable_segments:True"]
"""
CELLS = 1200
ALL_FIT = f"{CELLS:,} of {CELLS:,} cells fit"

# Runs what is submitted at once, as tasks of an array or as one job, with Slurm's variables.
SBATCH = """#!/bin/bash
set -eu
first=0 last=-1
while case "$1" in -*) true;; *) false;; esac; do
  case "$1" in --array=*) range=${1#--array=}; first=${range%-*}; last=${range#*-};; esac
  shift
done
export SLURM_JOB_ID=17 SLURM_CPUS_PER_TASK=1
if [ "$last" -lt 0 ]; then bash "$@" >&2; else
  for task in $(seq "$first" "$last"); do SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$((last - first + 1)) bash "$@" >&2; done
fi
echo 17
"""


def environment(**more):
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "SLURM_"))}
    return {**plain, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "TIDEMARK": str(TIDEMARK), **more}


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, env=environment(**more))


def children(process):
    """Processes that have this one as their parent."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(status.parent.name))
    return sorted(found)


class Cluster:
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.scenario = cls.root / "s.yaml"
        cls.scenario.write_text(SCENARIO)
        done = run(TIDEMARK, "sweep", cls.scenario, "--out", cls.root / "whole.sqlite")
        assert done.returncode == 0, done.stderr
        cls.whole = cls.table(cls.root / "whole.sqlite")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def table(path):
        done = run(TIDEMARK, "results", path, "--format", "csv")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sweep(self, name, *words):
        return [str(w) for w in (TIDEMARK, "sweep", self.scenario, "--out", self.root / name, *words)]

    def check_whole(self, name):
        self.assertEqual(self.table(self.root / name), self.whole)
        self.assertFalse((self.root / f"{name}.parts").exists())

    def wait_for_rows(self, name, rows):
        """Until the processes of a joint sweep have so many rows between them, or are done."""
        parts, deadline = self.root / f"{name}.parts", time.monotonic() + 60
        while time.monotonic() < deadline:
            count = 0
            for part in list(parts.glob("*.sqlite")) if parts.exists() else []:
                try:
                    database = sqlite3.connect(f"file:{part}?mode=ro", uri=True)
                    count += database.execute("SELECT COUNT(*) FROM cells").fetchone()[0]
                    database.close()
                except sqlite3.Error:
                    pass  # not begun yet, or being written
            if count >= rows:
                return
            time.sleep(0.01)
        self.fail("no rows")


class Mpi(Cluster, unittest.TestCase):
    def mpirun(self, *words):
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun (Debian: openmpi-bin)")
        return ["mpirun", *words, "-n", "4"]

    def test_ranks_make_the_same_table(self):
        done = run(*self.mpirun(), *self.sweep("ranks.sqlite"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(ALL_FIT), 1)  # one rank prints
        self.check_whole("ranks.sqlite")
        again = run(*self.mpirun(), *self.sweep("ranks.sqlite"))
        self.assertEqual((again.returncode, again.stdout), (0, ""))
        self.assertIn(f"all {CELLS} cells are there already", again.stderr)

    def test_a_rank_that_is_killed_leaves_its_cells_to_the_others(self):
        job = subprocess.Popen([*self.mpirun("--enable-recovery"), *self.sweep("killed.sqlite")], env=environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for_rows("killed.sqlite", 10)
        ranks = children(job.pid)
        self.assertEqual(len(ranks), 4)
        os.kill(ranks[2], signal.SIGKILL)
        out, err = job.communicate(timeout=300)
        self.assertEqual(job.returncode, 0, err)
        self.assertIn(ALL_FIT, out)
        self.check_whole("killed.sqlite")

    def test_a_ranks_process_that_is_killed_is_begun_anew_under_a_plain_mpirun(self):
        job = subprocess.Popen([*self.mpirun(), *self.sweep("worker.sqlite")], env=environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for_rows("worker.sqlite", 10)
        os.kill(children(children(job.pid)[1])[0], signal.SIGKILL)  # what Linux ends where memory is short
        _, err = job.communicate(timeout=300)
        self.assertEqual(job.returncode, 0, err)
        self.assertRegex(err, r"rank \d: signal 9 ended its process; another goes on")
        self.check_whole("worker.sqlite")

    def test_the_slurm_mpi_script_makes_the_same_table(self):
        self.mpirun()
        done = run("bash", CLUSTER / "slurm_mpi.sh", self.scenario, self.root / "mpi.sqlite", SLURM_NTASKS="3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_whole("mpi.sqlite")

    def test_ranks_need_a_file(self):
        done = run(TIDEMARK, "sweep", self.scenario, OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="4")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "error: --out: the ranks of an MPI job need a file in which their rows meet; give --out FILE\n"))


class Joint(Cluster, unittest.TestCase):
    def test_processes_that_join_are_killed_one_after_the_other_until_one_is_left(self):
        processes = [subprocess.Popen(self.sweep("joint.sqlite", "--join", "--threads", 1), env=environment(), text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        self.wait_for_rows("joint.sqlite", 5)
        processes[1].kill()
        self.wait_for_rows("joint.sqlite", 40)
        processes[0].kill()
        late = run(*self.sweep("joint.sqlite", "--join"))
        self.assertEqual(late.returncode, 0, late.stderr)
        told = [late.stdout]
        for process in processes:
            told.append(process.communicate(timeout=300)[0])
        self.assertEqual(processes[2].returncode, 0)
        self.assertEqual(sum(ALL_FIT in text for text in told), 1)
        self.check_whole("joint.sqlite")

    def test_all_killed_at_any_moment_the_next_goes_on(self):
        rng = random.Random(3)
        for _ in range(8):
            processes = [subprocess.Popen(self.sweep("ended.sqlite", "--join", "--threads", 1), env=environment(),
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
            time.sleep(rng.uniform(0.0, 0.15))
            for process in processes:
                process.kill()
                process.wait()
        done = run(*self.sweep("ended.sqlite", "--resume"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_whole("ended.sqlite")

    def test_another_scenario_does_not_join(self):
        other = self.root / "other.yaml"
        other.write_text(SCENARIO.replace("steps: 2", "steps: 3"))
        done = run(TIDEMARK, "sweep", other, "--out", self.root / "whole.sqlite", "--join")
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds the results of another scenario text; give another --out", done.stderr)
        shard = run(*self.sweep("x.sqlite", "--join", "--shard", "1/2"))
        self.assertEqual((shard.returncode, shard.stderr),
                         (2, "error: --shard: deals cells out beforehand, --join and MPI as they go; take one of them\n"))

    def test_parts_of_another_version_or_scenario_are_not_joined(self):
        for i in (1, 2):
            done = run(*self.sweep(f"part{i}.sqlite", "--shard", f"{i}/2"))
            self.assertEqual(done.returncode, 0, done.stderr)
        merge = [TIDEMARK, "results", "merge", self.root / "both.sqlite", self.root / "part1.sqlite", self.root / "part2.sqlite"]
        database = sqlite3.connect(self.root / "part2.sqlite")
        database.execute("UPDATE sweep SET value = '0.0.9' WHERE key = 'program_version'")
        database.commit()
        database.close()
        done = run(*merge)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"part2\.sqlite: holds the results of Tidemark 0\.0\.9, not [\d.]+; only parts of one sweep can be joined")
        self.assertFalse((self.root / "both.sqlite").exists())

    def test_the_slurm_array_script_makes_the_same_table(self):
        stand_in = self.root / "bin"
        stand_in.mkdir()
        (stand_in / "sbatch").write_text(SBATCH)
        (stand_in / "sbatch").chmod(0o755)
        done = run(CLUSTER / "slurm_array.sh", self.scenario, self.root / "array.sqlite", 3, PATH=f"{stand_in}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"array.sqlite: {CELLS} of {CELLS} cells", done.stderr)
        self.check_whole("array.sqlite")
        self.assertEqual(list(self.root.glob("array.sqlite.*")), [])


class Workflow(Cluster, unittest.TestCase):
    def test_the_snakemake_workflow_makes_the_same_table(self):
        snakemake = os.environ.get("SNAKEMAKE") or shutil.which("snakemake")
        if snakemake is None:
            self.skipTest("no snakemake (Debian: snakemake)")
        done = run(snakemake, "-s", CLUSTER / "Snakefile", "--cores", 2, "--directory", self.root, "--config", f"scenario={self.scenario}",
                   f"results={self.root / 'snake.sqlite'}", "parts=3", f"tidemark={TIDEMARK}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_whole("snake.sqlite")


if __name__ == "__main__":
    TIDEMARK = pathlib.Path(sys.argv.pop(1)).resolve()
    result = unittest.main(exit=False).result
    for test, why in result.skipped:
        print(f"skipped: {test.id()}: {why}")
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)  # CTest counts 77
