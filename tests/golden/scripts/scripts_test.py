#!/usr/bin/env python3
"""Runs the scripts of a folder and compares every event with what the real PyTorch did.

    scripts_test.py PATH/TO/tidemark [FOLDER]    (the folder that it lies in)
"""
import csv
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__).resolve()
HERE = HERE if HERE.is_dir() else HERE.parent


# These print or count what kernels compute, and were recorded where kernels do nothing.
ASSUME = {name: ("--assume", "zeros") for name in ("stream_prefetch.py", "stream_branches.py", "stream_loader.py", "multi_crops.py",
                                                   "numpy_arrays.py")}


def run_script(program, script, folder, columns, *options):
    """The events' rows and what the program said; None and the refusal where it is refused."""
    out = pathlib.Path(folder) / "events.csv"
    command = [program, "run", str(script), "--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false",
               "--events", str(out), *ASSUME.get(script.name, ())]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr
    with open(out, newline="", encoding="utf-8") as file:
        rows = [",".join(row[column] for column in columns) for row in csv.DictReader(file)]
    return rows, done.stdout


def events_of(program, script, folder, *options):
    return run_script(program, script, folder, ("action", "address", "bytes", "id"), *options)


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def digest(rows):
    return {"events": len(rows), "sha256": sha256("\n".join(rows))}


def numbers_of(lines):
    return [int(word) for word in " ".join(lines).split() if word.isdigit()]


def streams_failures(program, name, policies, folder):
    """Several streams: each end of what time may do is met when it is asked for, and the default lies between."""
    failures, ends = 0, []
    for policy in (*policies, None):
        options = ("--event-policy", policy) if policy else ()
        columns = ("action", "address", "bytes", "id", "stream")
        rows, text = run_script(program, HERE / name, folder, columns, "--format", "json", *options)
        if rows is None:
            print(f"{name} {policy}: refused\n{text}")
            return 1
        printed = json.loads(text)["printed"].splitlines()
        if policy is None:
            inside = all(min(each[1:]) <= each[0] <= max(each[1:])
                         for each in zip(numbers_of(printed), *ends, strict=True))
            print(f"{name} simulated: {'between the two' if inside else 'outside'}: {printed[-1]}")
            failures += not inside
            continue
        wanted = policies[policy]
        ends.append(numbers_of(wanted["printed"]))
        exact = {**digest(rows), "printed": printed} == wanted
        print(f"{name} {policy}: {len(rows)} events, {'exact' if exact else 'differs'}")
        failures += not exact
    return failures


def main():
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in expected.items():
            if "policies" in wanted:
                failures += streams_failures(sys.argv[1], name, wanted["policies"], folder)
                continue
            prints = "printed_sha256" in wanted or "printed" in wanted
            rows, text = events_of(sys.argv[1], HERE / name, folder, *(("--format", "json") if prints else ()))
            if rows is None:
                print(f"{name}: refused\n{text}")
                failures += 1
                continue
            found = digest(rows)
            report = json.loads(text) if prints else {}
            if "printed_sha256" in wanted:
                found["printed_sha256"] = sha256(report["printed"])
            if "printed" in wanted:
                found |= {"printed": report["printed"].splitlines(), "ended_by_oom": report["ended_by_oom"]}
            print(f"{name}: {len(rows)} events, {'exact' if found == wanted else 'differs'}")
            failures += found != wanted
        rows, text = events_of(sys.argv[1], HERE / "images.py", folder) if "images.py" in expected else ([], "backward: step ")
        if rows is None or "backward: " not in text or "step " not in text:
            print("images.py: phases are not named by what the script does")
            failures += 1
    print(f"{len(expected)} scripts, {failures} failures")
    return 1 if failures or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
