#!/usr/bin/env python3
"""What is refused of gradients of gradients, and with which words.

    double_backward_test.py PATH/TO/tidemark
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
START = "import torch\nx = torch.randn(64, 64, device='cuda', requires_grad=True)\ny = x * 2\n"
TWICE = "g, = torch.autograd.grad(y.sum(), x, create_graph=True)\ng.pow(2).sum().backward()\n"


class GradientsOfGradients(unittest.TestCase):
    def run_script(self, body):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "s.py").write_text(START + body + TWICE, encoding="utf-8")
            return subprocess.run([PROGRAM, "run", "s.py", "--device", "t4"], cwd=folder, capture_output=True, text=True)

    def test_an_operator_that_wrote_over_what_it_saved_is_refused_by_name(self):
        done = self.run_script("y.pow_(3)\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the gradient of the gradient of pow_ is not modelled (create_graph=True); write it out of place", done.stderr)

    def test_out_of_place_it_is_modelled(self):
        self.assertEqual(self.run_script("y = y.pow(3)\n").returncode, 0)

    def test_a_result_that_is_saved_is_no_copy(self):
        self.assertEqual(self.run_script("y.tanh_()\n").returncode, 0)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
