#!/usr/bin/env python3
"""What the build says of a record that is wrong: records_test.py RECORD_COMPILER."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else ""


def compiled(text):
    """Exit code and what was said of records of that text."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "records.yaml")
        source.write_text(text, encoding="utf-8")
        run = subprocess.run([COMPILER, str(pathlib.Path(folder, "table.cc")), str(source)], capture_output=True, text=True)
        return run.returncode, run.stderr.replace(folder + "/", "")


def record(gradient):
    return ("source: docs/rules/pointwise.md#2\nrecords:\n  - func: mul(Tensor self, Tensor other) -> Tensor\n"
            f"    self: {gradient}\n")


class Records(unittest.TestCase):
    def test_a_record_is_compiled(self):
        self.assertEqual(compiled(record("grad * other")), (0, ""))

    def test_a_name_that_nobody_knows_has_its_place(self):
        code, said = compiled(record("grad * another"))
        self.assertEqual(code, 2)
        self.assertIn("records.yaml:4:18: error: 'another' is not known here", said)

    def test_an_operator_without_a_record_has_its_place(self):
        code, said = compiled(record("grad * tanh(other)"))
        self.assertEqual(code, 2)
        self.assertIn("records.yaml:4:18: error: no operator or function 'tanh' has a record", said)

    def test_an_expression_that_does_not_end_has_its_place(self):
        code, said = compiled(record("grad * (other"))
        self.assertEqual(code, 2)
        self.assertIn("records.yaml:4:24: error: expected ')'", said)

    def test_a_key_that_nobody_knows_has_its_place(self):
        code, said = compiled(record("grad") + "    autocats: fp32\n")
        self.assertEqual(code, 2)
        self.assertIn("records.yaml:5:5: error: unknown key 'autocats'; did you mean 'autocast'?", said)


if __name__ == "__main__":
    unittest.main()
