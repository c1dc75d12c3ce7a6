#!/usr/bin/env python3
"""Runs ranks of distributed scripts: Tidemark's events must be those of the real PyTorch, recorded by the oracle.

    dist_test.py TIDEMARK

A line of list.txt is a recording of 2.11: `NAME: SCRIPT --rank R --world N [--settle] [--compiled warm]`; NAME.events.gz has its events. One of
releases.txt is the same of another release, which comes first. Addresses and streams are compared by the order in which they
first appear.
"""

import csv
import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop(1)
DEVICE = ["--device", "h100-sxm-80gb", "--set", "backends.cudnn_sdp=false"]
OF_THE_ORACLE = ("--settle", "--compiled", "warm")  # how it records
SETTING = [*DEVICE, "--set", "pytorch=2.11"]


def events(text):
    """(action, bytes, number of the stream, number of the address) of each event"""
    streams, addresses = {}, {}
    rows = [row for row in csv.DictReader(text.splitlines()) if row["action"] != "snapshot"]
    return [
        (
            row["action"],
            int(row["bytes"]),
            streams.setdefault(row["stream"], len(streams)),
            addresses.setdefault(row["address"], len(addresses)),
        )
        for row in rows
    ]


def recordings():
    """(release, name, script, options) of each recording"""
    for file, release in (("list.txt", "2.11"), ("releases.txt", "")):
        for line in (HERE / file).read_text().splitlines():
            if line.startswith("#"):
                continue
            names, rest = line.split(": ")
            script, *options = rest.split()
            yield release or names.split()[0], names.split()[-1], script, [x for x in options if x not in OF_THE_ORACLE]


def simulated(release, script, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "events.csv"
        command = [PROGRAM, "run", HERE / script, *DEVICE, "--set", f"pytorch={release}", "--events", path, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if not path.exists():
            raise AssertionError(done.stderr)
        return events(path.read_text())


class Ranks(unittest.TestCase):
    def test_every_rank_is_exact(self):
        for release, name, script, options in recordings():
            with self.subTest(name):
                expected = events(gzip.decompress((HERE / f"{name}.events.gz").read_bytes()).decode())
                found = simulated(release, script, options)
                for i, (want, have) in enumerate(zip(expected, found)):
                    self.assertEqual(have, want, f"event {i}")
                self.assertEqual(len(found), len(expected))

    def test_a_loop_that_shares_its_model_asks_what_the_script_asks(self):
        for name, rank, options in (
            ("shared_model-rank0-of-4", 0, []),
            ("shared_model-rank3-of-4", 3, []),
            ("shared_model_offload-rank0-of-4", 0, ["--variant", "offload"]),
            ("layouts_sharded-rank3-of-4", 3, []),
            ("layouts_deep-rank7-of-8", 7, ["--variant", "deep"]),
            ("layouts_interleaved-rank1-of-2", 1, ["--variant", "interleaved"]),
            ("layouts_sequence-rank0-of-4", 0, ["--variant", "sequence"]),
            ("experts_all-rank1-of-4", 1, []),
            ("experts_some-rank5-of-8", 5, ["--variant", "some"]),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "events.csv"
                kind = name.split("_")[0]
                scenario = HERE / f"{kind if kind in ('layouts', 'experts') else 'shared_model'}.yaml"
                command = [PROGRAM, "run", scenario, "--set", f"ranks.rank={rank}", "--events", path, *options]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.stderr, "")
                found = events(path.read_text())
                expected = events(gzip.decompress((HERE / f"{name}.events.gz").read_bytes()).decode())
                self.assertEqual(found, expected[: len(found)])
                # What is left of the script: its function's own names go.
                self.assertGreater(len(found), 1000)
                self.assertEqual({e[0] for e in expected[len(found) :]} - {"free_requested", "free_completed"}, set())

    def test_a_large_model_reserves_what_pytorch_does(self):
        # 84,356 MiB and 68,574 MiB of the real PyTorch, after the second and the third step.
        for world, peak in (("8", "82.38"), ("128", "66.97")):
            with self.subTest(world):
                options = ["--device", "h200-sxm-141gb", *SETTING[2:], "--world", world, "--rank", "0"]
                command = [PROGRAM, "run", HERE / "llama3_8b.py", *options]
                done = subprocess.run(command, capture_output=True, text=True)
                steps = [line.split() for line in done.stdout.splitlines()[:3]]
                self.assertEqual([s[:2] for s in steps[1:]], [["1", peak], ["2", peak]], done.stderr)

    def test_a_rank_has_the_environment_of_torchrun(self):
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK")
        told = "import os\nimport torch\nprint(torch.cuda.device_count(), *[os.environ[x] for x in {!r}])\n".format(names)
        for options, expected in (
            (["--world", "16", "--rank", "11"], "8 11 16 3 8 1"),
            (["--nnodes", "2", "--nproc-per-node", "4", "--rank", "6"], "4 6 8 2 4 1"),
            (["--nproc-per-node", "2"], "2 0 2 0 2 0"),
        ):
            with self.subTest(options), tempfile.TemporaryDirectory() as folder:
                script = pathlib.Path(folder) / "told.py"
                script.write_text(told)
                done = subprocess.run([PROGRAM, "run", script, *SETTING, *options], capture_output=True, text=True)
                self.assertIn(expected, (done.stdout + done.stderr).splitlines(), done.stderr)


if __name__ == "__main__":
    unittest.main()
