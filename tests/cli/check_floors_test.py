#!/usr/bin/env python3
"""Tests of tools/check_floors.py: each rule fires on a tree that breaks it, and on no other."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_floors.py"


def findings(files):
    """What the script says of a tree of these files, given by path."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "sim" / "base").mkdir(parents=True)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(SCRIPT), folder], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == (1 if len(lines) > 1 else 0), done
    return lines[:-1]


class CheckFloors(unittest.TestCase):
    def test_a_tree_in_order_has_no_findings(self):
        self.assertEqual(findings({
            "sim/base/a.h": "#pragma once\n",
            "sim/alloc/b.cc": '#include "sim/alloc/b.h"\n#include "sim/base/a.h"\n#include <vector>\n',
            "sim/yaml/yaml.cc": "#include <yaml-cpp/yaml.h>\n",
            "sim/cli/arguments.cc": "#include <boost/program_options.hpp>\n",
            "tests/unit/a_test.cc": '#include "sim/cli/command.h"\n',
        }), [])

    def test_a_lower_floor_may_not_include_a_higher_one(self):
        self.assertEqual(findings({"sim/alloc/a.cc": '\n#include "sim/run/b.h"\n'}),
                         ['sim/alloc/a.cc:2: floor alloc may not include floor run ("sim/run/b.h")'])

    def test_neighbours_may_not_include_each_other(self):
        self.assertEqual(len(findings({"sim/engine/a.cc": '#include "sim/alloc/b.h"\n'})), 1)

    def test_includes_start_at_the_root_and_stay_in_sim(self):
        self.assertEqual(len(findings({"sim/base/a.cc": '#include "a.h"\n'})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": '#include "tests/support/b.h"\n'})), 1)

    def test_third_party_headers_have_their_places(self):
        for path, include in [("sim/run/a.cc", "<yaml-cpp/yaml.h>"), ("sim/lang/a.h", "<yaml-cpp/yaml.h>"),
                              ("sim/run/a.cc", "<boost/program_options.hpp>"), ("sim/alloc/a.cc", "<boost/graph/x.hpp>"),
                              ("sim/run/a.cc", "<sqlite3.h>"), ("sim/cli/a.cc", "<zlib.h>"),
                              ("sim/device/a.cc", "<cuda_runtime.h>"), ("sim/cli/a.cc", "<iostream>")]:
            text = ("#pragma once\n" if path.endswith(".h") else "") + f"#include {include}\n"
            self.assertEqual(len(findings({path: text})), 1, (path, include))

    def test_an_unknown_floor_is_told(self):
        self.assertEqual(findings({"sim/attic/a.cc": ""}),
                         ["sim/attic:1: no floor of this name in tools/check_floors.py"])

    def test_habits(self):
        unfinished = "TO" + "DO"
        home = "/ho" + "me/someone/x"
        self.assertEqual(len(findings({"sim/base/a.cc": f"// {unfinished}: later\n"})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": f'const char* p = "{home}";\n'})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": "#define MAX(a) a\n"})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": "using namespace std;\n"})), 1)
        self.assertEqual(len(findings({"sim/base/a.h": "// no guard\n"})), 1)
        self.assertEqual(findings({"sim/base/a.cc": "\n" * 601}), ["sim/base/a.cc:601: 601 lines: more than 600"])


if __name__ == "__main__":
    unittest.main()
