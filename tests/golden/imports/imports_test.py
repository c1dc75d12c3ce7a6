#!/usr/bin/env python3
"""Runs small repositories: what they print must be what CPython prints.

    imports_test.py TIDEMARK            compares with the stored output, and with this Python where it is 3.11 or newer
    imports_test.py TIDEMARK --record   stores what this Python prints

NAME.repo is a repository: a line `=== PATH` begins a file. `=== arguments` has those of main.py, `=== output` what CPython
3.11 prints. `=== packages/...` is an installed package, in a folder that both are told of. `=== needs` names modules that CPython
has only where somebody installed them.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop(1)
NOT_FILES = ("arguments", "output", "needs")


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
    for name, text in parts.items():
        if name not in NOT_FILES:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def run(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done


def cpython(parts, folder):
    arguments = parts.get("arguments", "").split()
    command = [sys.executable, "-B", "main.py", *arguments]
    return run(command, folder, PYTHONPATH=str(folder / "packages"), PYTHONHASHSEED="0").stdout


def python_has(parts):
    return sys.version_info >= (3, 11) and all(importlib.util.find_spec(n) is not None for n in parts.get("needs", "").split())


def simulated(parts, folder):
    (folder / "packages").mkdir(exist_ok=True)
    command = [PROGRAM, "run", "main.py", "--device", "h100-sxm-80gb", "--packages", "packages", "--format", "json"]
    done = run([*command, "--", *parts.get("arguments", "").split()], folder)
    return json.loads(done.stdout).get("printed", "")


class Repositories(unittest.TestCase):
    maxDiff = None

    def test_every_repository_prints_what_it_prints_in_cpython(self):
        files = sorted(HERE.glob("*.repo"))
        self.assertGreaterEqual(len(files), 40)
        for path in files:
            parts = parts_of(path)
            with self.subTest(path.stem), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                unpack(parts, folder)
                if python_has(parts):
                    self.assertEqual(parts["output"], cpython(parts, folder), "CPython's output is another now")
                self.assertEqual(simulated(parts, folder), parts["output"])


def record():
    for path in sorted(HERE.glob("*.repo")):
        parts = parts_of(path)
        parts.pop("output", None)
        with tempfile.TemporaryDirectory() as name:
            unpack(parts, pathlib.Path(name))
            parts["output"] = cpython(parts, pathlib.Path(name))
        path.write_text("".join(f"=== {name}\n{text}" for name, text in parts.items()), encoding="utf-8")


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    else:
        unittest.main()
