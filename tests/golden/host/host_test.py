#!/usr/bin/env python3
"""Runs the scripts beside it and compares what they take of the host's memory with what the real PyTorch took.

    host_test.py PATH/TO/tidemark
"""
import csv
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LEAST = 64  # as in record.py


def changes(program, script, folder):
    """Of pageable memory; a refusal as a text."""
    out = pathlib.Path(folder) / "host.csv"
    command = [program, "run", str(script), "--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--host-timeline", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    with open(out, newline="", encoding="utf-8") as file:
        levels = [0] + [int(row["pageable_bytes"]) for row in csv.DictReader(file)]
    return [b - a for a, b in itertools.pairwise(levels) if abs(b - a) >= LEAST]


def main():
    failures = 0
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in expected.items():
            found = changes(sys.argv[1], HERE / name, folder)
            differs = found != wanted
            failures += differs
            print(f"{name}: {len(wanted)} changes, {'DIFFERENT' if differs else 'equal'}")
            if differs:
                at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
                print(f"  from {at}: found {found[max(0, at - 3):at + 6]}\n        expected {wanted[max(0, at - 3):at + 6]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
