#!/usr/bin/env python3
"""Runs every scenario of configs/, and programs drawn at random (tools/hunting), with each of several builds of the program and compares
all they write, byte for byte. Orders that C++ leaves to the compiler (of arguments, of parameters' ends) would show here.

    tools/compare_builds.py build/ci/bin/tidemark build/ci-clang/bin/tidemark ...
"""

import hashlib
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from hunting import draw  # noqa: E402

DRAWS = 300
FORMATS = ("text", "json", "csv")
FILES = {"--events": "events.csv", "--timeline": "timeline.csv", "--stats": "stats.json"}


def outputs(program, scenario):
    """A digest of each thing that one build says of one scenario."""
    digests = {}
    with tempfile.TemporaryDirectory() as folder:
        for output in FORMATS:
            args = [program, "run", str(scenario), "--format", output]
            if output == "json":
                for option, name in FILES.items():
                    args += [option, str(pathlib.Path(folder) / name)]
            done = subprocess.run(args, cwd=ROOT, capture_output=True, check=False)
            digests[output] = (done.returncode, hashlib.sha256(done.stdout + b"\0" + done.stderr).hexdigest())
        for name in FILES.values():
            path = pathlib.Path(folder) / name
            digests[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "not written"
    return digests


def drawn(folder):
    """Scenario files of random programs, written into `folder`."""
    for number in range(DRAWS):
        path = pathlib.Path(folder) / f"draw-{number}.yaml"
        path.write_text(draw.draw("builds", number).scenario())
        yield path


def compare(programs, scenarios):
    """How many outputs differ from those of the first program."""
    differing = 0
    for scenario in scenarios:
        expected = outputs(programs[0], scenario)
        for program, shown in zip(programs[1:], sys.argv[2:]):
            actual = outputs(program, scenario)
            for name, digest in expected.items():
                if actual[name] != digest:
                    differing += 1
                    print(f"{scenario}: {name} of {shown} differs from {sys.argv[1]}")
    return differing


def main():
    programs = [str(pathlib.Path(p).resolve()) for p in sys.argv[1:]]
    scenarios = sorted((ROOT / "configs").glob("*/*.yaml"))
    scenarios = [s for s in scenarios if s.parent.name not in ("devices", "models")]
    if len(programs) < 2 or not scenarios:
        print("wanted: two programs or more, and scenarios in configs/", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        differing = compare(programs, [s.relative_to(ROOT) for s in scenarios] + list(drawn(folder)))
    count = len(FORMATS) + len(FILES)
    print(f"{len(scenarios)} scenarios and {DRAWS} drawn programs, {len(programs)} builds, {count} outputs of each: {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
