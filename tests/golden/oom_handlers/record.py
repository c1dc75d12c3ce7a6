#!/usr/bin/env python3
"""What the real PyTorch does in the scripts beside this one, into expected.json.

    record.py PATH/TO/oracle/program.py [SCRIPT...]

The oracle is PyTorch 2.11 on a GPU that is only pretended (validation/pretend). Digests are those of ../scripts.
"""
import csv
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = sys.argv[1]
ENDS = ("torch.OutOfMemoryError:", "RuntimeError: 40 GiB do not fit", "SystemExit: 3")
path = HERE / "expected.json"
expected = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
for name in sys.argv[2:] or sorted(p.name for p in HERE.glob("*.py") if p.name not in ("record.py", "finder.py", "guards.py")):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ORACLE, str(HERE / name), "--out", folder, "--quiet"], check=True)
        facts = json.loads((pathlib.Path(folder) / "facts.json").read_text(encoding="utf-8"))
        with gzip.open(pathlib.Path(folder) / "events.csv.gz", "rt", newline="", encoding="utf-8") as file:
            rows = [",".join(row[column] for column in ("action", "address", "bytes", "id")) for row in csv.DictReader(file)]
    error = (facts["error"] or {}).get("line", "")
    if error and not error.startswith(ENDS):
        sys.exit(f"{name}: {error}")
    expected[name] = {"events": len(rows), "sha256": hashlib.sha256("\n".join(rows).encode()).hexdigest(),
                      "printed": facts["printed"].splitlines(), "ended_by_oom": bool(error) and not error.startswith("SystemExit")}
    print(name, len(rows), "events", error)
path.write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n", encoding="utf-8")
