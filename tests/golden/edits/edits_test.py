#!/usr/bin/env python3
"""What `advise` makes of a script, and what PyTorch does with it.

    edits_test.py PATH/TO/tidemark

expected.json has a line an edit: the remedies, and the events that PyTorch recorded of the edited text. Each edit is
written (--write) and shown (--diff) anew; both must give the text that was recorded, and its run the events.
"""
import csv
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIDEMARK = pathlib.Path(sys.argv[1]).resolve()
DEVICE = ("--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false")


def tidemark(*words, cwd):
    done = subprocess.run([TIDEMARK, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def ordered(rows, frees_are_a_set):
    """frees that follow one another in one order, where a set of PyTorch's decides it"""
    if not frees_are_a_set:
        return rows
    out, run = [], []
    for row in [*rows, ("end",)]:
        if row[0].startswith("free"):
            run.append(row)
            continue
        out += sorted(run) + [row]
        run = []
    return out[:-1]


def digest(path, frees_are_a_set):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [tuple(row[column] for column in ("action", "address", "bytes")) for row in csv.DictReader(file)]
    text = "\n".join(",".join(row) for row in ordered(rows, frees_are_a_set))
    return {"events": len(rows), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def failures_of(name, wanted, numbers, folder):
    number = numbers.get(tuple(wanted["remedies"]))
    if number is None:
        return ["is no change of advise"]
    failures = []
    held = (HERE / name).read_text(encoding="utf-8")
    tidemark("advise", "train.py", *DEVICE, "--allow", "training", "--pick", number, "--write", name, cwd=folder)
    heading, written = (folder / name).read_text(encoding="utf-8").split("\n", 1)
    if not heading.startswith("# tidemark advise: ") or written != held:
        failures.append("--write gives another text")
    patch = tidemark("advise", "train.py", *DEVICE, "--allow", "training", "--pick", number, "--diff", cwd=folder)
    (folder / "patched.py").write_text((HERE / "train.py").read_text(encoding="utf-8"), encoding="utf-8")
    applied = subprocess.run(["patch", "--quiet", "patched.py"], cwd=folder, input=patch, text=True, check=False).returncode
    if applied != 0 or (folder / "patched.py").read_text(encoding="utf-8") != held:
        failures.append("--diff is no patch that gives this text")
    tidemark("run", name, *DEVICE, "--events", "events.csv", cwd=folder)
    found = digest(folder / "events.csv", wanted.get("frees_are_a_set", False))
    if found != {"events": wanted["events"], "sha256": wanted["sha256"]}:
        failures.append(f"{found['events']} events, other than PyTorch's {wanted['events']}")
    return failures


def main():
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    count = 0
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        (folder / "train.py").write_text((HERE / "train.py").read_text(encoding="utf-8"), encoding="utf-8")
        found = json.loads(tidemark("advise", "train.py", *DEVICE, "--allow", "training", "--format", "json", cwd=folder))
        changes = [tuple(change["remedies"]) for change in found["meeting"] + found["saving"]]
        numbers = {remedies: number for number, remedies in enumerate(changes, 1)}
        for name, wanted in expected.items():
            failures = failures_of(name, wanted, numbers, folder)
            print(f"{name}: {wanted['events']} events, {'; '.join(failures) or 'exact'}")
            count += len(failures)
    print(f"{len(expected)} edits, {count} failures")
    return 1 if count or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
