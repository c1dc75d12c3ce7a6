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


def changes_of(folder, texts):
    """The changes of step.py with their numbers; `texts` keeps those of texts that were seen."""
    text = (folder / "step.py").read_text(encoding="utf-8")
    if text not in texts:
        found = json.loads(tidemark("advise", "step.py", *DEVICE, "--allow", "training", "--format", "json", cwd=folder))
        changes = found["meeting"] + found["saving"]
        texts[text] = {tuple(change["remedies"]): number for number, change in enumerate(changes, 1)}
    return texts[text]


def edit(folder, remedies, texts):
    """Makes one change of step.py, by --write and by --diff; returns what fails."""
    number = changes_of(folder, texts).get(remedies)
    if number is None:
        return [f"{'+'.join(remedies)} is no change of advise"]
    advise = ("advise", "step.py", *DEVICE, "--allow", "training", "--pick", number)
    tidemark(*advise, "--write", "written.py", cwd=folder)
    heading, written = (folder / "written.py").read_text(encoding="utf-8").split("\n", 1)
    failures = [] if heading.startswith("# tidemark advise: ") else ["--write has no heading"]
    patch = tidemark(*advise, "--diff", cwd=folder)
    applied = subprocess.run(["patch", "--quiet", "step.py"], cwd=folder, input=patch, text=True, check=False).returncode
    if applied != 0 or (folder / "step.py").read_text(encoding="utf-8") != written:
        failures.append("--diff is no patch that gives what --write does")
    return failures


def failures_of(name, wanted, folder, texts):
    (folder / "step.py").write_text((HERE / "train.py").read_text(encoding="utf-8"), encoding="utf-8")
    remedies = tuple(wanted["remedies"])
    # Of many combinations advise tells the best. Others are made one change after the other.
    steps = [remedies] if remedies in changes_of(folder, texts) else [(each,) for each in remedies]
    failures = [failure for step in steps for failure in edit(folder, step, texts)]
    if (folder / "step.py").read_text(encoding="utf-8") != (HERE / name).read_text(encoding="utf-8"):
        failures.append("another text comes out")
    tidemark("run", "step.py", *DEVICE, "--events", "events.csv", cwd=folder)
    found = digest(folder / "events.csv", wanted.get("frees_are_a_set", False))
    if found != {"events": wanted["events"], "sha256": wanted["sha256"]}:
        failures.append(f"{found['events']} events, other than PyTorch's {wanted['events']}")
    return failures


def main():
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    count, texts = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in expected.items():
            failures = failures_of(name, wanted, pathlib.Path(folder), texts)
            print(f"{name}: {wanted['events']} events, {'; '.join(failures) or 'exact'}")
            count += len(failures)
    print(f"{len(expected)} edits, {count} failures")
    return 1 if count or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
