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
        made = [str(pathlib.Path(folder, name)) for name in ("table.cc", "rows.cc")]
        run = subprocess.run([COMPILER, *made, str(source)], capture_output=True, text=True)
        return run.returncode, run.stderr.replace(folder + "/", "")


def record(gradient):
    return ("rule: docs/rules/pointwise.md#2\nrecords:\n  - func: mul(Tensor self, Tensor other) -> Tensor\n"
            f"    self: {gradient}\n")


def loss(keys):
    return ("rule: docs/rules/losses.md#2\nrecords:\n  - func: f(Tensor self, str reduction='mean') -> Tensor\n"
            + keys)


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

    def test_a_loss_has_steps_or_cpp_that_does_them(self):
        both = "    kind: loss\n    forward: kernel(self)\n    dispatch: f(self)\n"
        for keys in (both, "    kind: loss\n"):
            code, said = compiled(loss(keys))
            self.assertEqual(code, 2)
            self.assertIn("expected 'forward' or 'dispatch' where the kind is none of pointwise, extern and of_graph", said)

    def test_a_reduction_that_does_not_exist_has_its_place(self):
        code, said = compiled(loss('    kind: loss\n    forward: self if reduction == "median" else self\n'))
        self.assertEqual(code, 2)
        self.assertIn('expected the reduction compared with "none", "mean" or "sum"', said)

    def test_a_name_that_a_dispatch_does_not_have_has_its_place(self):
        code, said = compiled(loss("    kind: loss\n    dispatch: f(self, weight)\n"))
        self.assertEqual(code, 2)
        self.assertIn("records.yaml:5:23: error: 'weight' is not known here", said)

    def test_a_composite_may_be_made_of_others(self):
        text = loss("    kind: composite\n    forward: half(self)\n") + (
            "  - func: half(Tensor self) -> Tensor\n    kind: composite\n    forward: self.sum([], False)\n")
        self.assertEqual(compiled(text), (0, ""))
        code, said = compiled(text.replace("half(self)", "half()"))
        self.assertEqual(code, 2)
        self.assertIn("half() takes 'self', too", said)


if __name__ == "__main__":
    unittest.main()
