#!/usr/bin/env python3
"""Runs the scripts beside it and compares every event with what the real PyTorch did.

    scripts_test.py PATH/TO/tidemark
"""
import csv
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def events_of(program, script, folder):
    out = pathlib.Path(folder) / "events.csv"
    command = [program, "run", str(script), "--device", "h100-sxm-80gb", "--set", "backends.cudnn_sdp=false", "--events", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr
    with open(out, newline="", encoding="utf-8") as file:
        rows = [",".join((row["action"], row["address"], row["bytes"], row["id"])) for row in csv.DictReader(file)]
    return rows, done.stdout


def main():
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in expected.items():
            rows, text = events_of(sys.argv[1], HERE / name, folder)
            if rows is None:
                print(f"{name}: refused\n{text}")
                failures += 1
                continue
            found = {"events": len(rows), "sha256": hashlib.sha256("\n".join(rows).encode()).hexdigest()}
            print(f"{name}: {len(rows)} events, {'exact' if found == wanted else 'differs'}")
            failures += found != wanted
        rows, text = events_of(sys.argv[1], HERE / "images.py", folder)
        if rows is None or "backward: " not in text or "step " not in text:
            print("images.py: phases are not named by what the script does")
            failures += 1
    print(f"{len(expected)} scripts, {failures} failures")
    return 1 if failures or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
