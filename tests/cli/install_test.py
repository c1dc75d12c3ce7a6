#!/usr/bin/env python3
"""The installed program and the Debian package: everything that it needs lies beside it.

    install_test.py BUILD_FOLDER CMAKE CPACK [Class...]        exit code 77 when everything was skipped
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = CMAKE = CPACK = ""
# A Python that tells which scripts it is given.
WATCHED_PYTHON = """#!/bin/sh
echo "$1" >>"$0.log"
exec {python} "$@"
"""
EVERYWHERE = [
    "bin/tidemark",
    "share/man/man1/tidemark.1.gz",
    "share/bash-completion/completions/tidemark",
    "share/fish/vendor_completions.d/tidemark.fish",
    "share/tidemark/configs/scenarios/simple_conv.yaml",
    "share/tidemark/configs/models/simple_conv.py",
    "share/tidemark/configs/scenario.schema.json",
    "share/tidemark/plots/timeline.py",
    "share/tidemark/plots/to_parquet.py",
    "share/tidemark/validation/torch/run_scenario.py",
    "share/tidemark/validation/pretend/environment.py",
    "share/doc/tidemark/docs/scenario.md",
    "share/doc/tidemark/README.md",
]


def call(*words, folder="/", env=None):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, check=False, env={**plain, **(env or {})})


class Tests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Installed(Tests):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        done = call(CMAKE, "--install", BUILD, "--prefix", self.prefix)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.program = self.prefix / "bin" / "tidemark"
        self.scenario = self.prefix / "share/tidemark/configs/scenarios/simple_conv.yaml"
        python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
        self.python = self.folder / "python"
        self.python.write_text(WATCHED_PYTHON.format(python=python), encoding="utf-8")
        self.python.chmod(0o755)

    def scripts(self):
        return (self.folder / "python.log").read_text(encoding="utf-8").split()

    def has(self, module):
        return call(self.python, "-c", f"import {module}").returncode == 0

    def test_everything_is_in_its_place(self):
        for path in EVERYWHERE + ["share/zsh/site-functions/_tidemark"]:
            self.assertTrue((self.prefix / path).is_file(), path)
        left_out = [path for path in self.prefix.rglob("*") if path.name in ("__pycache__", "tests") or path.name.startswith("test_")]
        self.assertEqual(left_out, [])

    def test_it_runs_from_anywhere(self):
        self.assertEqual(call(self.program, "--version").returncode, 0)
        done = call(self.program, "run", self.scenario)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("FITS. ", done.stdout)

    def test_pictures_are_drawn_by_the_installed_script(self):
        if not self.has("matplotlib"):
            self.skipTest("matplotlib is not installed")
        picture = self.folder / "timeline.svg"
        done = call(self.program, "run", self.scenario, "--plot", picture, env={"TIDEMARK_PYTHON": str(self.python)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(picture.is_file())
        self.assertIn(str(self.prefix / "share/tidemark/plots/timeline.py"), self.scripts())

    def test_pages_of_runs_need_nothing_beside_the_program(self):
        page = self.folder / "report.html"
        done = call(self.program, "report", self.scenario, "-o", page, env={"TIDEMARK_PYTHON": "/nowhere", "TIDEMARK_PLOTS": "/nowhere"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(page.stat().st_size, 100_000)


@unittest.skipIf(shutil.which("dpkg-deb") is None, "dpkg-deb is not installed")
class Package(Tests):
    def test_it_holds_the_program_and_asks_for_what_it_needs(self):
        done = call(CPACK, "--config", pathlib.Path(BUILD) / "CPackConfig.cmake", "-B", self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (package,) = self.folder.glob("*.deb")
        control = call("dpkg-deb", "--field", package).stdout
        fields = dict(line.split(": ", 1) for line in control.splitlines() if ": " in line and not line.startswith(" "))
        self.assertEqual(fields["Package"], "tidemark")
        self.assertEqual(fields["Recommends"], "python3, python3-matplotlib, python3-numpy")
        extracted = self.folder / "extracted"
        self.assertEqual(call("dpkg-deb", "--extract", package, extracted).returncode, 0)
        for path in EVERYWHERE + ["share/zsh/vendor-completions/_tidemark"]:
            self.assertTrue((extracted / "usr" / path).is_file(), path)
        program = extracted / "usr/bin/tidemark"
        linked = call("ldd", program)
        # A static program asks for nothing; another one names the packages of its libraries.
        if "not a dynamic executable" in linked.stderr + linked.stdout or "statically linked" in linked.stdout:
            self.assertNotIn("Depends", fields)
        else:
            self.assertIn("libc6", fields["Depends"])
        self.assertEqual(call(program, "run", extracted / "usr/share/tidemark/configs/scenarios/simple_conv.yaml").returncode, 0)


if __name__ == "__main__":
    BUILD, CMAKE, CPACK = sys.argv[1:4]
    del sys.argv[1:4]
    result = unittest.main(exit=False).result
    if result.skipped and len(result.skipped) == result.testsRun:
        print("skipped:", result.skipped[0][1])
        sys.exit(77)  # CTest counts it
    sys.exit(0 if result.wasSuccessful() else 1)
