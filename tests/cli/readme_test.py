#!/usr/bin/env python3
"""Executes the tour of README.md: every `$ command` of a console block runs, in order, and must print what stands below it. A line of
`...` stands for any number of lines.

    readme_test.py PATH/TO/tidemark            checks
    readme_test.py PATH/TO/tidemark --update   writes what the commands print into README.md (commands whose output has `...` excepted)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```\n", re.S)


def commands(block):
    """(command, expected output) pairs of one block; a command may go on after a backslash."""
    found = []
    continued = False
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif continued:
            found[-1][0] += line
        else:
            found[-1][1] += line
        continued = (line.startswith("$ ") or continued) and line.endswith("\\\n")
    return found


def matches(expected, actual):
    pattern = "".join("(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in expected.splitlines(keepends=True))
    return re.fullmatch(pattern, actual) is not None


def run(command, folder, program):
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    env = {**plain, "PATH": f"{pathlib.Path(program).parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode()


def needs_matplotlib(command):
    return "--plot" in command or "plots/" in command


def has_matplotlib():
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else "python3"
    return subprocess.run([python, "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    update = "--update" in sys.argv
    text = README.read_text(encoding="utf-8")
    drawing = has_matplotlib()
    executed = skipped = 0
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("configs", "plots"):
            shutil.copytree(ROOT / name, pathlib.Path(folder) / name)

        def rewritten(match):
            nonlocal executed, skipped
            out = ""
            for command, expected in commands(match[1]):
                if needs_matplotlib(command) and not drawing:
                    skipped += 1
                    out += f"$ {command}{expected}"
                    continue
                executed += 1
                code, actual = run(command, folder, program)
                shown = re.search(r"; echo \$\?$", command.strip())
                if code != 0 and not shown:
                    failures.append(f"$ {command}exit code {code}\n{actual}")
                elif not update and not matches(expected, actual):
                    failures.append(f"$ {command}expected:\n{expected}actual:\n{actual}")
                out += f"$ {command}{expected if '...' in expected.splitlines() else actual}"
            return f"```console\n{out}```\n"

        result = BLOCK.sub(rewritten, text)
    if update:
        README.write_text(result, encoding="utf-8")
    print("\n".join(failures), end="\n" if failures else "")
    print(f"{executed} commands of README.md executed, {skipped} skipped for want of matplotlib, {len(failures)} differ")
    if failures or executed == 0:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
