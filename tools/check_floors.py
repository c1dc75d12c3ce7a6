#!/usr/bin/env python3
"""Checks what the build cannot: that no floor of sim/ includes a higher one, that third-party code stays in its place, and
that rooms keep to the same within a floor, and a few habits of the house. What tools/check_docs.py finds counts too.
Prints every finding as file:line: text and exits with 1 when there is one.

    tools/check_floors.py [ROOT]
"""

import pathlib
import re
import sys

import check_docs

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
    "ops": "base yaml",
    "graph": "base ops",
    "torch": "base program lang library ops graph",
    "run": "base program alloc engine timeline device format yaml lang library ops graph torch",
    "study": "base program alloc engine timeline device format yaml lang library ops graph torch run",
    "report": "base program alloc engine timeline device format yaml lang library ops graph torch run study",
    "cli": "base program alloc engine timeline device format yaml lang library ops graph torch run study report",
    "python": "base program alloc engine timeline device format yaml lang library ops graph torch run study report cli",
}

# The rooms of the floors that have them, the lowest first, each with the other rooms of its floor that it may include:
# some that stand before it. Every file of such a floor lies in a room.
ROOMS = {
    "lang": {
        "values": "",
        "syntax": "values",
        "edit": "values syntax",
        "imports": "syntax",
        "runtime": "values syntax imports",
        "builtins": "values syntax imports runtime",
    },
    "torch": {
        "emitter": "",
        "autograd": "",
        "tensors": "emitter autograd",
        "modules": "emitter tensors",
        "compile": "emitter autograd tensors",
        "namespaces": "emitter autograd tensors modules compile",
        "source": "emitter autograd tensors modules namespaces",
    },
    "study": {
        "tables": "",
        "trial": "",
        "replay": "",
        "sweep": "tables trial",
        "catalogue": "tables",
        "import": "catalogue",
        "advice": "trial replay",
        "explain": "trial replay advice",
        "validate": "",
    },
}

# Third-party headers by pattern, and the only paths that may include them.
THIRD_PARTY = [
    (r"<yaml-cpp/", r"sim/yaml/[a-z_]+\.cc"),
    (r"<boost/program_options", r"sim/cli/[a-z_]+\.cc"),
    (r"<boost/", r"sim/(graph|cli)/"),
    (r"<sqlite3\.h>", r"sim/study/"),
    (r"<pcre2\.h>", r"sim/lang/builtins/regex\.cc"),
    (r"<zlib\.h>", r"sim/(base/byte_chunks|format/[a-z_]+)\.cc"),
    (r"<nanobind/", r"sim/python/"),
    (r"<(cuda|cublas|cudnn|nvml|nvrtc)", r"validation/"),
    (r"<(iostream|format|expected)>", r"tests/"),
]

CPP = (".h", ".cc", ".cu")
OTHER_CODE = (".py", ".pyi", ".sh", ".cmake")  # and scripts without a suffix
CODE_FOLDERS = (".ci", "cmake", "configs", "plots", "sim", "tests", "tools", "validation")
MAX_LINES = 600
MAX_LIBRARY_COLUMNS = 120
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<][^">]+[">])')
UNFINISHED = re.compile(r"\b(TODO|FIXME|HACK|XXX)\b")
PERSONAL = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)")
OF_A_THREAD = re.compile(r"^(?!\s*//).*\bthread_local\b")
ANY_PLACE = re.compile(r"tidemark_any_place\(([^)]*)\)")
ALLOWED_MACROS = {"TIDEMARK_CHECK"}


def room_of(path):
    """The room of a file in sim/; "": it lies in its floor's own folder."""
    parts = path.split("/")
    return parts[2] if len(parts) > 3 else ""


def check_room(rooms, floor, path, name, report):
    room, other = room_of(path), room_of(name)
    if room in rooms and other in rooms and other != room and other not in rooms[room].split():
        report(f'room {floor}/{room} may not include room {floor}/{other} ("{name}")')


def check_rooms_table():
    """What is wrong with ROOMS itself: a room may include those that stand above it in the table and no other."""
    findings = []
    for floor, rooms in ROOMS.items():
        lower = set()
        for room, others in rooms.items():
            for other in others.split():
                if other not in lower:
                    findings.append(f"tools/check_floors.py:1: room {floor}/{room} may include {other}, which does not "
                                    "stand before it in ROOMS")
            lower.add(room)
    return findings


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
    elif floor and other and other[1] == floor[1] and floor[1] in ROOMS:
        check_room(ROOMS[floor[1]], floor[1], path, name, report)


def check_file(root, file):
    path = file.relative_to(root).as_posix()
    lines = file.read_text(encoding="utf-8").splitlines()
    findings = []
    parts = path.split("/")
    if parts[0] == "sim" and parts[1] in ROOMS and file.suffix in CPP and room_of(path) not in ROOMS[parts[1]]:
        findings.append(f"{path}:1: no room of floor {parts[1]} in tools/check_floors.py")
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
    return findings


def check_variables_of_threads(root, floor):
    """The Python package is a shared object: what a floor has in it of variables of threads is compiled for any place."""
    made = root / "sim" / floor / "CMakeLists.txt"
    places = ANY_PLACE.findall(made.read_text(encoding="utf-8")) if made.is_file() else []
    known = {name for names in places for name in names.split()}
    findings = []
    for file in sorted((root / "sim" / floor).rglob("*.cc")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if OF_A_THREAD.match(line) and file.relative_to(made.parent).as_posix() not in known:
                findings.append(f"{file.relative_to(root).as_posix()}:{number}: thread_local in a file that "
                                "tidemark_any_place() does not name")
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
    return findings


def is_code(file):
    if file.suffix in CPP + OTHER_CODE:
        return True
    if file.suffix or not file.is_file():
        return False
    with file.open("rb") as script:
        return script.read(2) == b"#!"


def check_length(root, file):
    path = file.relative_to(root).as_posix()
    count = len(file.read_text(encoding="utf-8").splitlines())
    return [f"{path}:{MAX_LINES + 1}: {count} lines: more than {MAX_LINES}"] if count > MAX_LINES else []


def check_tree(root):
    findings = []
    unknown = {p.name for p in (root / "sim").iterdir() if p.is_dir()} - set(FLOORS)
    findings += [f"sim/{name}:1: no floor of this name in tools/check_floors.py" for name in sorted(unknown)]
    findings += check_rooms_table()
    for folder in ("sim", "tests", "validation"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in CPP:
                findings += check_file(root, file)
    for floor in sorted(set(FLOORS) - {"cli", "python"}):
        findings += check_variables_of_threads(root, floor)
    for file in sorted((root / "sim" / "library").rglob("*.py")):
        findings += check_library_file(root, file)
    for folder in CODE_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if is_code(file):
                findings += check_length(root, file)
    return findings + check_docs.findings(root)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    findings = check_tree(root)
    print("\n".join(findings), end="\n" if findings else "")
    print(f"floors: {len(findings)} findings" if findings else "floors: in order")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
