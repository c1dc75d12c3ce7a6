#!/usr/bin/env python3
"""How far modelled peaks of compiled programs are from the recorded ones: a line of peaks.csv for each recording.

    peaks.py TIDEMARK FOLDER...        folders of recordings, as "program.py batch" of the oracle writes them

Environment: TIDEMARK_TEST_PACKAGES, a folder of libraries that programs import.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys

SETTING = ["--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false", "--compile", "model"]
PACKAGES = os.environ.get("TIDEMARK_TEST_PACKAGES")
COLUMNS = ("program", "allocated", "modelled_allocated", "reserved", "modelled_reserved")


def modelled(tidemark, script, facts):
    """(allocated, reserved) at their peaks, of this rank's device"""
    command = [tidemark, "run", script, *SETTING, "--format", "json"]
    if PACKAGES:
        command += ["--packages", PACKAGES]
    if facts["world"] > 1:
        command += ["--rank", str(facts["rank"]), "--world", str(facts["world"])]
    done = subprocess.run([*command, "--", *facts["arguments"]], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{script}: {done.stderr}")
    device = json.loads(done.stdout)["devices"][0]
    return device["peak_allocated"]["bytes"], device["peak_reserved"]["bytes"]


def main(tidemark, folders):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for recording in sorted(path.parent for folder in folders for path in pathlib.Path(folder).glob("*/facts.json")):
        facts = json.loads((recording / "facts.json").read_text())
        if facts.get("error"):
            continue  # the program ended early
        allocated, reserved = modelled(tidemark, (recording / facts["script"]).resolve(), facts)
        out.writerow((recording.name, facts["peak_allocated"], allocated, facts["peak_reserved"], reserved))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
