#!/usr/bin/env python3
"""What the scripts beside this one print under the real PyTorch, into expected.json.

    record.py [SCRIPT...]

Needs PyTorch 2.11 and no GPU: "cuda" is read as "cpu", where numbers are computed.
"""
import contextlib
import io
import json
import pathlib
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
path = HERE / "expected.json"
expected = json.loads(path.read_text()) if path.exists() else {}
scripts = [HERE / name for name in sys.argv[1:]] or sorted(p for p in HERE.glob("*.py") if p.name not in ("record.py", "values_test.py"))
for script in scripts:
    text = script.read_text().replace('"cuda"', '"cpu"')
    printed = io.StringIO()
    import torch
    torch.default_generator.manual_seed(67280421310721)
    with contextlib.redirect_stdout(printed):
        module = sys.modules["__main__"] = types.ModuleType("__main__")  # typing looks names up there
        exec(compile(text, str(script), "exec"), module.__dict__)
    expected[script.name] = printed.getvalue().splitlines()
    print(script.name, len(expected[script.name]), "lines")
path.write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")
