#!/usr/bin/env python3
"""writes what CPython 3.11 does with the programs of tests/golden/lifetimes: PROGRAM.py -> PROGRAM.out

Each program makes objects with probe(NAME); a line "drop NAME" says when CPython frees one.

    tools/lifetimes.py            writes every .out
    tools/lifetimes.py --check    compares instead; exit 1 where one differs
"""
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "lifetimes"
RUNNER = """
import gc, os, sys
gc.disable()
class probe:
    def __init__(self, name): self.name = name
    def __del__(self): print("drop", self.name)
    def __repr__(self): return str(self.name)
path = sys.argv[1]
code = compile(open(path).read(), os.path.basename(path), "exec")
exec(code, {"__name__": "__main__", "probe": probe})
sys.stdout.flush()
os._exit(0)
"""


def main():
    if sys.version_info[:2] != (3, 11):
        sys.exit("this needs CPython 3.11: the order of drops is that version's")
    check = "--check" in sys.argv[1:]
    different = 0
    for program in sorted(FOLDER.glob("*.py")):
        out = subprocess.run([sys.executable, "-c", RUNNER, str(program)], capture_output=True, text=True, check=True).stdout
        target = program.with_suffix(".out")
        if check:
            if target.read_text() != out:
                print(f"{target.name} differs")
                different += 1
        else:
            target.write_text(out)
    sys.exit(1 if different else 0)


main()
