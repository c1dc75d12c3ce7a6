#!/usr/bin/env python3
"""Installs the Python package as its user would, and runs its tests: package_test.py PATH/TO/tidemark VENV package|from_torch

package     pip builds and installs it, then test_*.py, then mypy --strict over it
from_torch  test_from_torch.py with the PyTorch of $TIDEMARK_TORCH (validation/pretend/environment.py makes it), on a pretend H100

Exit codes: 0 passed, 1 failed, 77 what it needs is not there.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PROGRAM, VENV, WHAT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
PYTHON = VENV / "bin" / "python"
NEEDED = ("scikit-build-core>=0.10", "nanobind>=2.9,<3", "numpy", "pandas", "mypy", "pandas-stubs")
# The module is made of the objects of the program that is tested: build/PRESET/bin/tidemark.
OBJECTS = ("--config-settings", f"cmake.define.TIDEMARK_PRESET={pathlib.Path(PROGRAM).parents[1].name}")


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def run(*words, **variables):
    environment = {**os.environ, "TIDEMARK_PROGRAM": PROGRAM, **variables}
    return subprocess.run([str(word) for word in words], cwd=HERE, env=environment, check=False).returncode


def package():
    if not PYTHON.exists():
        try:
            venv.create(VENV, with_pip=True)
        except (subprocess.CalledProcessError, ImportError, OSError) as error:
            skip(f"no virtual environment can be made (python3-venv): {error}")
    if run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDED) != 0:
        skip("pip cannot get " + ", ".join(NEEDED))
    failed = run(PYTHON, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--disable-pip-version-check", *OBJECTS, SOURCE)
    failed = failed or run(PYTHON, "-m", "unittest", "discover", "--start-directory", HERE, "--pattern", "test_[!f]*.py")
    return failed or run(PYTHON, "-m", "mypy", "--config-file", SOURCE / "pyproject.toml")


def from_torch():
    folder = os.environ.get("TIDEMARK_TORCH") or os.environ.get("TIDEMARK_ORACLE") or ""
    if not os.path.exists(os.path.join(folder, "run")):
        skip("TIDEMARK_TORCH names no PyTorch on a pretend GPU (validation/pretend/environment.py makes one)")
    installed = list(VENV.glob("lib/python*/site-packages/tidemark"))
    if not installed:
        skip("the package is not installed")
    sys.path.append(str(SOURCE / "validation" / "pretend"))
    import device  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory() as alone:
        os.symlink(installed[0], os.path.join(alone, "tidemark"))
        return run(os.path.join(folder, "run"), HERE / "test_from_torch.py", **device.environment("h100"), PYTHONPATH=alone)


if __name__ == "__main__":
    sys.exit(1 if {"package": package, "from_torch": from_torch}[WHAT]() else 0)
