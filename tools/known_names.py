#!/usr/bin/env python3
"""Writes the public names of a package's modules and of a few classes: sim/library/PACKAGE/names.txt.

    known_names.py torch PYTHON... >sim/library/torch/names.txt      PYTHON: programs that run a Python with PyTorch, a release each
    known_names.py numpy PYTHON >sim/library/numpy/names.txt

Of PyTorch the list says which releases have a name. A name that the library does not model answers hasattr(), getattr() and dir() by
this list, and is refused when it is used. The modules are those of which sim/library/PACKAGE has a file; names that begin with an underscore are left out. What a module has only because it imported it (typing, math, other packages) is left out.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

LIBRARY = pathlib.Path(__file__).resolve().parent.parent / "sim" / "library"
CLASSES = {"torch": ("torch.Tensor",), "numpy": ()}

# Runs where the package is: owner -> names; a value that is neither called nor a module ends in "=", one that is None in "=None".
LOOK = r"""
import importlib, json, sys, types, typing, warnings
warnings.simplefilter("ignore")
package, wanted, classes = json.loads(sys.argv[1])
root = importlib.import_module(package)

def is_public(owner, name, value):
    listed = getattr(owner, "__all__", None)
    if listed is not None and name in listed:
        return True
    if owner is not root and getattr(root, name, None) is value or isinstance(value, typing.TypeVar):
        return False
    if isinstance(value, types.ModuleType):
        return value.__name__ == owner.__name__ + "." + name
    home = getattr(value, "__module__", None)
    if isinstance(value, (types.FunctionType, type)) and isinstance(home, str):
        return home == owner.__name__ or home.split(".")[0] == package and hasattr(owner, "__path__")
    return home not in ("typing", "__future__") and name != "TYPE_CHECKING"

def names(owner, is_module):
    found = []
    for name in sorted(n for n in dir(owner) if not n.startswith("_")):
        try:
            value = getattr(owner, name)
        except Exception:
            continue
        if is_module and not is_public(owner, name, value):
            continue
        if value is None:
            found.append(name + "=None")
        else:
            is_value = isinstance(value, (property, types.GetSetDescriptorType)) or not (callable(value) or isinstance(value, types.ModuleType))
            found.append(name + "=" * is_value)
    return found

found = {"release": root.__version__}
for loaded in (True, False):
    for name in wanted:
        if (name in sys.modules) != loaded or name in found:
            continue
        try:
            module = importlib.import_module(name)
        except Exception:
            continue
        found[name] = names(module, True)
for name in classes:
    module, _, last = name.rpartition(".")
    found[name] = names(getattr(importlib.import_module(module), last), False)
print(json.dumps(found))
"""


def modules(package):
    """the public modules that the library has a file of"""
    found = []
    for path in sorted((LIBRARY / package).rglob("*.py")):
        parts = list(path.relative_to(LIBRARY).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        answers = "\ndef __getattr__(" in path.read_text(encoding="utf-8")  # for names of its own
        if not answers and not any(part.startswith("_") for part in parts):
            found.append(".".join(parts))
    return found


def look(package, python):
    """(minor release, owner -> names)"""
    words = [python, "-c", LOOK, json.dumps([package, modules(package), CLASSES[package]])]
    found = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
    return int(re.match(r"\d+\.(\d+)", found.pop("release")).group(1)), found


def spans(have, looked):
    """the release ranges of a name, "" where it is always there; `looked`: all releases, of which `have` have it"""
    out, i = [], 0
    while i < len(looked):
        j = i
        while j < len(looked) and looked[j] in have:
            j += 1
        if j > i:
            first = "" if i == 0 else "2.%d" % looked[i]
            last = "" if j == len(looked) else "2.%d" % (looked[j] - 1)
            out.append("@%s-%s" % (first, last) if first or last else "")
        i = max(j, i + 1)
    return out


def main():
    package, *pythons = sys.argv[1:]
    seen = dict(look(package, python) for python in pythons)
    looked = sorted(seen)
    print("# Public names of %s %s. Made by tools/known_names.py; do not edit." % (package, ", ".join("2.%d" % r for r in looked)))
    print("# NAME= is a value, NAME=None is None; NAME@2.6-2.9 is in these releases alone.")
    for owner in sorted(set().union(*seen.values())):
        have = {}
        for release in looked:
            for name in seen[release].get(owner, ()):
                have.setdefault(name, set()).add(release)
        words = [name + span for name in sorted(have) for span in spans(have[name], looked)]
        print(owner + ":")
        print(textwrap.fill(" ".join(words), 100, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))


if __name__ == "__main__":
    sys.exit(main())
