#!/usr/bin/env python3
"""Checks what the build cannot: that no floor of sim/ includes a higher one, that third-party code stays in its place, and
a few habits of the house. Prints every finding as file:line: text and exits with 1 when there is one.

    tools/check_floors.py [ROOT]
"""

import pathlib
import re
import sys

# Each floor and the floors that it may include, its own aside. sim/README.md is the map.
FLOORS = {
    "base": "",
    "program": "base",
    "alloc": "base program",
    "engine": "base program",
    "timeline": "base program",
    "yaml": "base",
    "device": "base program yaml format",
    "format": "base program alloc",
    "lang": "base",
    "library": "base lang",
    "ops": "base",
    "graph": "base ops",
    "torch": "base program lang library ops graph",
    "run": "base program alloc engine timeline device format yaml lang library ops graph torch",
    "study": "base program alloc engine timeline device format yaml lang library ops graph torch run",
    "report": "base program alloc engine timeline device format yaml lang library ops graph torch run study",
    "cli": "base program alloc engine timeline device format yaml lang library ops graph torch run study report",
    "python": "base program alloc engine timeline device format yaml lang library ops graph torch run study report",
}

# Third-party headers by pattern, and the only paths that may include them.
THIRD_PARTY = [
    (r"<yaml-cpp/", r"sim/yaml/[a-z_]+\.cc"),
    (r"<boost/program_options", r"sim/cli/[a-z_]+\.cc"),
    (r"<boost/", r"sim/(graph|cli)/"),
    (r"<sqlite3\.h>", r"sim/study/"),
    (r"<zlib\.h>", r"sim/format/[a-z_]+\.cc"),
    (r"<nanobind/", r"sim/python/"),
    (r"<(cuda|cublas|cudnn|nvml|nvrtc)", r"validation/"),
    (r"<(iostream|format|expected)>", r"tests/"),
]

MAX_LINES = 600
MAX_LIBRARY_COLUMNS = 120
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<][^">]+[">])')
UNFINISHED = re.compile(r"\b(TODO|FIXME|HACK|XXX)\b")
PERSONAL = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)")
ALLOWED_MACROS = {"TIDEMARK_CHECK"}


def check_include(path, target, report):
    for pattern, place in THIRD_PARTY:
        if re.match(pattern, target):
            if not re.match(place, path):
                report(f"{target} does not belong here: see THIRD_PARTY in tools/check_floors.py")
            break
    if not target.startswith('"'):
        return
    name = target.strip('"')
    if not re.match(r"(sim|tests|validation)/", name):
        report(f'"{name}": includes are written from the repository root')
        return
    floor = re.match(r"sim/([a-z]+)/", path)
    other = re.match(r"sim/([a-z]+)/", name)
    if path.startswith("sim/") and not other:
        report(f'"{name}": sim/ includes nothing outside sim/')
    elif floor and other and other[1] != floor[1] and other[1] not in FLOORS[floor[1]].split():
        report(f'floor {floor[1]} may not include floor {other[1]} ("{name}")')


def check_file(root, file):
    path = file.relative_to(root).as_posix()
    lines = file.read_text(encoding="utf-8").splitlines()
    findings = []
    for number, line in enumerate(lines, 1):
        def report(text, number=number):
            findings.append(f"{path}:{number}: {text}")

        include = INCLUDE.match(line)
        if include:
            check_include(path, include[1], report)
        if UNFINISHED.search(line):
            report("unfinished work: do it, or say in docs/model.md what is not modelled")
        if PERSONAL.search(line):
            report("a path of one machine")
        macro = MACRO.match(line)
        if macro and path.startswith("sim/") and macro[1] not in ALLOWED_MACROS:
            report(f"macro {macro[1]}: there is none but {', '.join(sorted(ALLOWED_MACROS))}")
        if line.startswith("using namespace std"):
            report("using namespace std")
    if file.suffix == ".h" and "#pragma once" not in lines[:1]:
        findings.append(f"{path}:1: a header begins with #pragma once")
    if len(lines) > MAX_LINES:
        findings.append(f"{path}:{MAX_LINES + 1}: {len(lines)} lines: more than {MAX_LINES}")
    return findings


def check_library_file(root, file):
    """A file of the library is Python, too: editors and linters read it."""
    path = file.relative_to(root).as_posix()
    text = file.read_text(encoding="utf-8")
    findings = []
    try:
        compile(text, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        findings.append(f"{path}:{error.lineno}: not valid Python: {error.msg}")
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LIBRARY_COLUMNS:
            findings.append(f"{path}:{number}: {len(line)} columns: more than {MAX_LIBRARY_COLUMNS}")
        if UNFINISHED.search(line):
            findings.append(f"{path}:{number}: unfinished work: do it, or refuse it by name")
    if len(lines) > MAX_LINES:
        findings.append(f"{path}:{MAX_LINES + 1}: {len(lines)} lines: more than {MAX_LINES}")
    return findings


def check_tree(root):
    findings = []
    unknown = {p.name for p in (root / "sim").iterdir() if p.is_dir()} - set(FLOORS)
    findings += [f"sim/{name}:1: no floor of this name in tools/check_floors.py" for name in sorted(unknown)]
    for folder in ("sim", "tests", "validation"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cc", ".cu"):
                findings += check_file(root, file)
    for file in sorted((root / "sim" / "library").rglob("*.py")):
        findings += check_library_file(root, file)
    return findings


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    findings = check_tree(root)
    print("\n".join(findings), end="\n" if findings else "")
    print(f"floors: {len(findings)} findings" if findings else "floors: in order")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
