#!/usr/bin/env python3
"""Runs the scripts beside it and compares what they print with what they print under the real PyTorch.

    values_test.py PATH/TO/tidemark
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def printed(program, script):
    """Line by line; a refusal as its text."""
    command = [program, "run", str(script), "--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["printed"].splitlines() if done.returncode == 0 else done.stderr.splitlines()


def main():
    failures = 0
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    for name, wanted in expected.items():
        found = printed(sys.argv[1], HERE / name)
        failures += found != wanted
        print(f"{name}: {len(wanted)} lines, {'equal' if found == wanted else 'DIFFERENT'}")
        for i in range(max(len(found), len(wanted))):
            pair = found[i] if i < len(found) else None, wanted[i] if i < len(wanted) else None
            if pair[0] != pair[1]:
                print(f"  line {i + 1}\n    found    {pair[0]}\n    expected {pair[1]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
