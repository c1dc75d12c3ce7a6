#!/usr/bin/env python3
"""Runs programs that import libraries: Tidemark's events must be those of the real PyTorch 2.11, recorded by the oracle.

    libraries_test.py TIDEMARK

NAME.py is a program, NAME.events.gz its recording (action, address, bytes, stream). A program of transformers, torchvision or timm
needs their sources: the environment variable TIDEMARK_TEST_PACKAGES names folders with them, as PATH names folders. A line "# tidemark: OPTIONS" of a program
has options for its run. Exit code 77: some were skipped.
"""

import csv
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SETTING = ["--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false"]
LIBRARIES = ("transformers", "torchvision", "timm", "peft", "diffusers", "lightning", "accelerate", "einops", "deepspeed")


def rows(text):
    """action, address, bytes, and the stream: 0 or its number in the order of their first events"""
    streams, out = {"0": 0}, []
    for row in csv.DictReader(text.splitlines()):
        stream = streams.setdefault(row["stream"], len(streams))
        out.append((row["action"], row["address"], row["bytes"], stream))
    return out


def simulated(program, path, packages):
    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder) / "events.csv"
        own = re.findall(r"^# tidemark: (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)
        command = [program, "run", path, *SETTING, "--events", events, *" ".join(own).split()]
        for folder in packages:
            command += ["--packages", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        return rows(events.read_text()) if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def difference(found, expected):
    """in words; empty: there is none"""
    if isinstance(found, str):
        return found
    for i, (have, want) in enumerate(zip(found, expected)):
        if have != want:
            return f"event {i} is {have}, not {want}"
    return "" if len(found) == len(expected) else f"{len(found)} events, not {len(expected)}"


def main():
    program = sys.argv[1]
    packages = [each for each in os.environ.get("TIDEMARK_TEST_PACKAGES", "").split(os.pathsep) if each]
    exact, skipped, failed = 0, [], 0
    for recording in sorted(HERE.glob("*.events.gz")):
        path = recording.with_name(recording.name.replace(".events.gz", ".py"))
        imported = set(re.findall(r"^(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        if any(not any((pathlib.Path(folder) / each).exists() for folder in packages) for each in imported & set(LIBRARIES)):
            skipped.append(path.stem)
            continue
        wrong = difference(simulated(program, path, packages), rows(gzip.decompress(recording.read_bytes()).decode()))
        print(f"{path.stem}: {wrong or 'exact'}")
        exact += not wrong
        failed += bool(wrong)
    print(f"{exact} exact, {failed} not, {len(skipped)} skipped" + (f" ({', '.join(skipped)})" if skipped else ""))
    return 1 if failed else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
