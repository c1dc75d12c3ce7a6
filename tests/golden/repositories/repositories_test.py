#!/usr/bin/env python3
"""Runs small training repositories: what they print must be what CPython prints, each event what PyTorch did.

    repositories_test.py TIDEMARK [NAME...]           compares with what is stored
    repositories_test.py TIDEMARK --record [NAME...]  stores what the oracle's PyTorch does
                                                      (TIDEMARK_SHARED and TIDEMARK_ORACLE say where it is)

NAME.repo is a repository: a line `=== PATH` begins a file. `=== arguments` has those of the script, `=== entry` its
path where it is not main.py, `=== environment` variables, `=== output` what CPython prints. `=== packages/...` is an
installed package. NAME.events.gz has the events (action, address, bytes) of a run of PyTorch 2.11. Where autocast
drops its cache, PyTorch frees in an order of chance: of a repository that uses it, frees in a row are a set.
"""

import csv
import gzip
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SETTING = [
    "--device", "h100-sxm-80gb", "--set", "pytorch=2.11", "--set", "backends.cudnn_sdp=false", "--packages", "packages",
]
NOT_FILES = ("arguments", "entry", "environment", "output")
COLUMNS = ("action", "address", "bytes")


def parts_of(path):
    """the texts of a repository by their paths"""
    parts, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("=== "):
            name = line[4:].strip()
            parts[name] = ""
        else:
            parts[name] += line
    return parts


def unpack(parts, folder):
    (folder / "packages").mkdir()
    for name, text in parts.items():
        if name not in NOT_FILES:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def asked(parts):
    """the script, its arguments, its environment"""
    environment = dict(line.split("=", 1) for line in parts.get("environment", "").splitlines())
    return parts.get("entry", "main.py").strip(), shlex.split(parts.get("arguments", "")), environment


def rows(text):
    return [tuple(row[column] for column in COLUMNS) for row in csv.DictReader(text.splitlines())]


def simulated(program, parts, folder):
    """what is printed, and the events; a text instead of them where the run is refused"""
    script, arguments, environment = asked(parts)
    events = folder.parent / "events.csv"
    command = [program, "run", script, *SETTING, "--format", "json", "--events", events]
    for name, value in environment.items():
        command += ["--env", f"{name}={value}"]
    done = subprocess.run([*command, "--", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return "", f"exit code {done.returncode}: {done.stderr.strip()}"
    return json.loads(done.stdout).get("printed", ""), rows(events.read_text())


def recorded(parts, folder):
    """the same from the real PyTorch on a pretend device"""
    script, arguments, environment = asked(parts)
    oracle = pathlib.Path(os.environ.get("TIDEMARK_ORACLE", "~/oracle")).expanduser()
    packages = os.pathsep.join([str(folder / "packages"), str(oracle / "libraries")])
    tool = pathlib.Path(os.environ["TIDEMARK_SHARED"]) / "oracle" / "program.py"
    out = folder.parent / "recorded"
    command = [sys.executable, tool, script, "--quiet", "--out", out, "--", *arguments]
    variables = {**os.environ, **environment, "PYTHONPATH": packages}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=variables)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}{done.stderr}")
    facts = json.loads((out / "facts.json").read_text())
    if facts["error"]:
        raise SystemExit(f"{facts['error']}\n{done.stderr}")
    return facts["printed"], rows(gzip.decompress((out / "events.csv.gz").read_bytes()).decode())


def without_order(events):
    """frees in a row, by address"""
    out, row = [], []
    for event in [*events, None]:
        if event is not None and event[0].startswith("free_"):
            row.append(event)
        else:
            out += [*sorted(row), event]
            row = []
    return out[:-1]


def difference(found, expected, what):
    """in words; empty: there is none"""
    if isinstance(found, str):
        return found
    for i, (have, want) in enumerate(zip(found, expected)):
        if have != want:
            return f"{what} {i} is {have!r}, not {want!r}"
    return "" if len(found) == len(expected) else f"{len(found)} of {what}, not {len(expected)}"


def record(paths):
    for path in paths:
        parts = parts_of(path)
        parts.pop("output", None)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "repository"
            folder.mkdir()
            unpack(parts, folder)
            try:
                parts["output"], events = recorded(parts, folder)
            except SystemExit as error:
                print(f"{path.stem}: not recorded: {error}")
                continue
        if parts["output"] and not parts["output"].endswith("\n"):
            print(f"{path.stem}: not recorded: its output does not end with a line's end")
            continue
        path.write_text("".join(f"=== {name}\n{text}" for name, text in parts.items()), encoding="utf-8")
        text = "\n".join([",".join(COLUMNS), *(",".join(row) for row in events)]) + "\n"
        path.with_suffix(".events.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(f"{path.stem}: {len(events)} events", flush=True)


def compare(program, paths):
    failures = 0
    for path in paths:
        parts = parts_of(path)
        expected = rows(gzip.decompress(path.with_suffix(".events.gz").read_bytes()).decode())
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "repository"
            folder.mkdir()
            unpack(parts, folder)
            printed, events = simulated(program, parts, folder)
        if "autocast" in "".join(parts.values()) and not isinstance(events, str):
            events, expected = without_order(events), without_order(expected)
        wrong = difference(events, expected, "event")
        if not isinstance(events, str):
            wrong = difference(printed.splitlines(), parts["output"].splitlines(), "line") or wrong
        print(f"{path.stem}: {wrong or 'exact'}")
        failures += bool(wrong)
    print(f"{len(paths)} repositories, {failures} failures")
    return 1 if failures else 0


def main():
    program, *names = sys.argv[1:]
    recording = "--record" in names
    names = [name for name in names if name != "--record"]
    paths = [path for path in sorted(HERE.glob("*.repo")) if not names or path.stem in names]
    if recording:
        return record(paths)
    if not names and len(paths) < 40:
        raise SystemExit("fewer than 40 repositories")
    return compare(str(pathlib.Path(program).resolve()), paths)


if __name__ == "__main__":
    sys.exit(main())
