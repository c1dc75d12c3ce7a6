#!/usr/bin/env python3
"""Compiled programs modelled: Tidemark's events must be those of the real PyTorch 2.11, recorded by the oracle.

    modelled_test.py TIDEMARK

A line of modelled.txt is a recording, `NAME: SCRIPT OPTIONS`; NAME.events.gz has its events. Addresses and streams are
compared by the order in which they first appear.
"""

import csv
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop(1)
SETTING = ["--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false", "--compile", "model"]


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


def simulated(script):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "events.csv"
        done = subprocess.run([PROGRAM, "run", HERE / script, *SETTING, "--events", path], capture_output=True, text=True)
        if not path.exists():
            raise AssertionError(done.stderr)
        return events(path.read_text())


def printed(script):
    command = [PROGRAM, "run", HERE / script, *SETTING, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout)["printed"] if done.returncode == 0 else done.stderr


class Modelled(unittest.TestCase):
    def test_overwritten_results_of_graphs_cannot_be_read(self):
        self.assertEqual(printed("overwritten.py"), (HERE / "overwritten.txt").read_text())

    def test_gradients_of_slices_of_everything_have_pytorchs_peak(self):
        self.assertEqual(printed("circular.py"), (HERE / "circular.txt").read_text())

    def test_every_event_is_pytorchs(self):
        lines = [x for x in (HERE / "modelled.txt").read_text().splitlines() if not x.startswith("#")]
        self.assertTrue(lines)
        for line in lines:
            name, rest = line.split(": ")
            with self.subTest(name):
                expected = events(gzip.decompress((HERE / f"{name}.events.gz").read_bytes()).decode())
                found = simulated(rest.split()[0])
                for i, (want, have) in enumerate(zip(expected, found)):
                    self.assertEqual(have, want, f"event {i}")
                self.assertEqual(len(found), len(expected))


class Bounds(unittest.TestCase):
    """What a result says of the model: the furthest that peaks of recorded programs were off, rounded outward."""

    def test_results_and_documentation_tell_the_furthest(self):
        with (HERE / "peaks.csv").open() as file:
            rows = list(csv.DictReader(file))
        lines = [x for x in (HERE / "modelled.txt").read_text().splitlines() if not x.startswith("#")]
        programs = {row["program"] for row in rows} | {line.split(":")[0] for line in lines}
        parts = []
        for what in ("allocated", "reserved"):
            errors = [100 * (int(row[f"modelled_{what}"]) / int(row[what]) - 1) for row in rows]
            parts.append(f"{math.floor(min(errors)):+} to {math.ceil(max(errors)):+} % of {what}")
        told = f"{' and '.join(parts)} in {len(programs)} programs"
        command = [PROGRAM, "run", HERE / "put_anew.py", *SETTING, "--format", "json"]
        notes = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["notes"]
        self.assertTrue(any(told in note["text"] for note in notes), f"{told}: {notes}")
        text = " ".join((HERE.parents[2] / "docs" / "compile.md").read_text().split())
        self.assertIn(told, text)


if __name__ == "__main__":
    unittest.main()
