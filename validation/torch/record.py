#!/usr/bin/env python3
"""Finds or makes an environment with the real PyTorch on the pretend GPU, and runs a user's own program in it with memory history on.

    record.py --cache FOLDER --torch 2.11.0 --out FOLDER -- python train.py --epochs 1

The program's own Python is taken where it has a PyTorch built with CUDA, so that what else the program imports is there; else a Python with
the PyTorch asked for is made in the cache. Exit codes: those of watched.py; 2 what is to run is no Python program; 4 no environment, and why.
"""
import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "pretend"))
import environment  # noqa: E402


def fail(code, text):
    print("record: %s" % text, file=sys.stderr)
    return code


def split_command(words):
    """(Python or None, its program and arguments), or a text that says what is wrong"""
    if not words:
        return "nothing to run; give -- python train.py"
    name = os.path.basename(words[0])
    if re.fullmatch(r"python[0-9.]*", name):
        if len(words) < 2 or (words[1].startswith("-") and words[1] != "-m"):
            return "expected a script or -m MODULE after %s" % words[0]
        return words[0], words[1:]
    if words[0].endswith(".py"):
        return None, words
    return ("'%s' is no Python program; what it starts cannot be watched. Give the script itself: -- python train.py "
            "(of several ranks, one process)" % words[0])


def own_torch(python):
    """the version of the PyTorch with CUDA that a Python has, None without"""
    found = shutil.which(python)
    if not found:
        return None, None
    try:
        return pathlib.Path(found), environment.torch_folder(found)[1]
    except environment.Missing:
        return pathlib.Path(found), None


def say(text):
    print("record: " + text, file=sys.stderr, flush=True)


def find_environment(cache, torch, python):
    """the program that runs Python on the pretend GPU. Errors: environment.Missing."""
    if torch:
        environment.check_release(torch)
    if os.environ.get("TIDEMARK_TORCH"):
        given = pathlib.Path(os.environ["TIDEMARK_TORCH"])
        given = given / "run" if given.is_dir() else given
        version = environment.torch_folder(given)[1] if torch else ""
        if not version.startswith(torch):
            raise environment.Missing("TIDEMARK_TORCH has PyTorch %s, --torch asks for %s: unset one of them" % (version, torch))
        return given
    path, version = own_torch(python) if python else (None, None)
    if version and (not torch or version.split("+")[0] == torch):
        key = hashlib.sha256(("%s %s" % (path, version)).encode()).hexdigest()[:12]
        return environment.make(cache / ("python-" + key), python=path, say=say)
    if python and not version:
        say("%s has no PyTorch with CUDA; PyTorch %s is used, without what else that Python has installed" % (python, torch or environment.DEFAULT_TORCH))
    torch = torch or environment.DEFAULT_TORCH
    return environment.make(cache / ("torch-" + torch), torch, say=say)


def main():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="record.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--torch", default="", help="a release, 2.4.0 to 2.15.0")
    parser.add_argument("--out", required=True)
    options = parser.parse_args(words[:at])
    command = split_command(words[at + 1:])
    if isinstance(command, str):
        return fail(2, command)
    python, program = command
    if program[0] != "-m" and not os.path.isfile(program[0]):
        return fail(4, "%s: no such file" % program[0])
    try:
        run = find_environment(options.cache, options.torch, python)
    except environment.Missing as error:
        return fail(4, str(error))
    return subprocess.run([str(run), str(HERE / "watched.py"), options.out] + program, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
