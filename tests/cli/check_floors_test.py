#!/usr/bin/env python3
"""Tests of tools/check_floors.py: each rule fires on a tree that breaks it, and on no other."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_floors.py"
sys.path.insert(0, str(SCRIPT.parent))
import check_floors  # noqa: E402


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

    def test_a_lower_room_may_not_include_a_higher_one(self):
        self.assertEqual(findings({"sim/lang/syntax/a.cc": '\n#include "sim/lang/runtime/b.h"\n'}),
                         ['sim/lang/syntax/a.cc:2: room lang/syntax may not include room lang/runtime '
                          '("sim/lang/runtime/b.h")'])
        self.assertEqual(findings({"sim/lang/runtime/a.cc": '#include "sim/lang/syntax/b.h"\n',
                                   "sim/lang/runtime/c.cc": '#include "sim/lang/runtime/d.h"\n',
                                   "sim/run/e.cc": '#include "sim/lang/imports/f.h"\n'}), [])

    def test_neighbouring_rooms_may_not_include_each_other(self):
        self.assertEqual(len(findings({"sim/torch/autograd/a.cc": '#include "sim/torch/emitter/b.h"\n'})), 1)

    def test_a_floor_with_rooms_has_its_code_in_them(self):
        self.assertEqual(findings({"sim/torch/a.cc": ""}),
                         ["sim/torch/a.cc:1: no room of floor torch in tools/check_floors.py"])
        self.assertEqual(findings({"sim/torch/attic/a.h": "#pragma once\n"}),
                         ["sim/torch/attic/a.h:1: no room of floor torch in tools/check_floors.py"])
        self.assertEqual(findings({"sim/torch/CMakeLists.txt": "", "sim/ops/a.cc": ""}), [])

    def test_variables_of_threads_are_compiled_for_any_place(self):
        text = "int a;\nstatic thread_local int b{};\n"
        self.assertEqual(findings({"sim/alloc/a.cc": text}),
                         ["sim/alloc/a.cc:2: thread_local in a file that tidemark_any_place() does not name"])
        self.assertEqual(findings({"sim/alloc/a.cc": text, "sim/alloc/CMakeLists.txt": "tidemark_any_place(b.cc a.cc)\n"}), [])
        self.assertEqual(findings({"sim/cli/a.cc": text, "sim/alloc/b.cc": "// thread_local here\n"}), [])

    def test_the_tables_have_no_circle(self):
        for table in (check_floors.FLOORS, *check_floors.ROOMS.values()):
            done = set()
            rest = {name: set(others.split()) for name, others in table.items()}
            while rest:
                free = {name for name, others in rest.items() if others <= done}
                self.assertTrue(free, rest)
                done |= free
                rest = {name: others for name, others in rest.items() if name not in free}

    def test_a_table_of_rooms_names_only_rooms_that_stand_before(self):
        with mock.patch.dict(check_floors.ROOMS, {"x": {"low": "high", "high": ""}}, clear=True):
            self.assertEqual(len(check_floors.check_rooms_table()), 1)
        with mock.patch.dict(check_floors.ROOMS, {"x": {"low": "", "high": "low"}}, clear=True):
            self.assertEqual(check_floors.check_rooms_table(), [])

    def test_includes_start_at_the_root_and_stay_in_sim(self):
        self.assertEqual(len(findings({"sim/base/a.cc": '#include "a.h"\n'})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": '#include "tests/support/b.h"\n'})), 1)

    def test_third_party_headers_have_their_places(self):
        for path, include in [("sim/run/a.cc", "<yaml-cpp/yaml.h>"), ("sim/report/a.h", "<yaml-cpp/yaml.h>"),
                              ("sim/run/a.cc", "<boost/program_options.hpp>"), ("sim/alloc/a.cc", "<boost/graph/x.hpp>"),
                              ("sim/run/a.cc", "<sqlite3.h>"), ("sim/cli/a.cc", "<zlib.h>"),
                              ("sim/device/a.cc", "<cuda_runtime.h>"), ("sim/cli/a.cc", "<iostream>")]:
            text = ("#pragma once\n" if path.endswith(".h") else "") + f"#include {include}\n"
            self.assertEqual(len(findings({path: text})), 1, (path, include))

    def test_an_unknown_floor_is_told(self):
        self.assertEqual(findings({"sim/attic/a.cc": ""}),
                         ["sim/attic:1: no floor of this name in tools/check_floors.py"])

    def test_a_file_of_the_library_is_python_of_some_columns_and_lines(self):
        self.assertEqual(findings({
            "sim/library/python/a.py": "x = 1\n",
            "sim/library/python/b.py": "x = 1\ndef f(:\n",
            "sim/library/torch/c.py": "x = 1\n" + "y" * 117 + " = 2\n",
            "sim/library/torch/d.py": "x = 1\n" * 601,
        }), ["sim/library/python/b.py:2: not valid Python: invalid syntax",
             "sim/library/torch/c.py:2: 121 columns: more than 120",
             "sim/library/torch/d.py:601: 601 lines: more than 600"])

    def test_what_is_wrong_with_documents_counts(self):
        self.assertEqual(len(findings({"docs/a.md": "word " * 25})), 1)

    def test_habits(self):
        unfinished = "TO" + "DO"
        home = "/ho" + "me/someone/x"
        self.assertEqual(len(findings({"sim/base/a.cc": f"// {unfinished}: later\n"})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": f'const char* p = "{home}";\n'})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": "#define MAX(a) a\n"})), 1)
        self.assertEqual(len(findings({"sim/base/a.cc": "using namespace std;\n"})), 1)
        self.assertEqual(len(findings({"sim/base/a.h": "// no guard\n"})), 1)
        self.assertEqual(findings({"sim/base/a.cc": "\n" * 601}), ["sim/base/a.cc:601: 601 lines: more than 600"])

    def test_files_of_every_language_are_short(self):
        for path, text in [("tools/a.py", ""), ("sim/library/python/a.py", ""), ("plots/a.sh", ""), ("cmake/a.cmake", ""),
                           ("tools/a", "#!/bin/sh"), ("sim/python/a.pyi", ""), ("tests/golden/a.py", "")]:
            self.assertEqual(findings({path: text + "\n" * 601}), [f"{path}:601: 601 lines: more than 600"])
        self.assertEqual(findings({"tests/golden/a.txt": "\n" * 601, "tests/fuzz/a": "\n" * 601}), [])


if __name__ == "__main__":
    unittest.main()
