#!/usr/bin/env python3
"""Names that PyTorch has and Tidemark does not model are there, and are refused when they are used.

    known_names_test.py PATH/TO/tidemark
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
NAMES = pathlib.Path(__file__).resolve().parents[2] / "sim/library/torch/names.txt"
HEAD = "import torch\nimport torch.nn.functional as F\nx = torch.zeros(3, device='cuda')\n"


def names_of(release):
    """owner -> the names that names.txt gives that minor release"""
    owners = {}
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        if line.endswith(":") and not line.startswith((" ", "#")):
            names = owners.setdefault(line[:-1], [])
        elif not line.startswith("#"):
            for word in line.split():
                name, _, span = word.partition("@")
                first, _, last = span.partition("-")
                if int((first or "2.0")[2:]) <= release <= int((last or "2.99")[2:]):
                    names.append(name.split("=")[0])
    return owners


class KnownNames(unittest.TestCase):
    def run_script(self, body, *options):
        """what it prints, or the text of the refusal"""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text(HEAD + body, encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--format", "json", *options],
                                  capture_output=True, text=True, check=False, cwd=folder)
        return json.loads(done.stdout)["printed"] if done.returncode == 0 else done.stderr

    def test_every_name_of_a_release_is_there_and_listed(self):
        for release in (6, 11, 15):
            owners = names_of(release)
            self.assertGreater(sum(map(len, owners.values())), 3000)
            body = "import importlib\n"
            for owner, names in owners.items():
                body += "m = torch.Tensor if %r == 'torch.Tensor' else importlib.import_module(%r)\n" % (owner, owner)
                body += "listed = set(dir(m))\nfor n in %r:\n    if not hasattr(m, n) or n not in listed:\n        print(%r, n)\n" % (names, owner)
            self.assertEqual(self.run_script(body, "--set", "pytorch=2.%d" % release), "")

    def test_what_another_release_has_is_not_there(self):
        late = sorted(set(names_of(15)["torch"]) - set(names_of(6)["torch"]))
        self.assertIn("float8_e8m0fnu", late)
        for release, there in ((6, "0"), (15, str(len(late)))):
            self.assertEqual(self.run_script("print(sum(hasattr(torch, n) for n in %r))\n" % late, "--set", "pytorch=2.%d" % release), there + "\n")

    def test_asking_goes_as_in_pytorch(self):
        self.assertEqual(self.run_script("print(getattr(torch, 'svd_lowrank', None) is None, callable(torch.svd_lowrank), bool(torch.geqrf))\n"), "False True True\n")
        self.assertEqual(self.run_script("print(hasattr(torch, 'nosuch'), getattr(torch, 'nosuch', 7), hasattr(x, 'nosuch'))\n"), "False 7 False\n")
        self.assertEqual(self.run_script("print(x.is_xla, torch.newaxis, torch.has_mkl, round(torch.e, 3))\n"), "False None True 2.718\n")
        self.assertEqual(self.run_script("from torch import ScriptModule\nprint(isinstance(x, ScriptModule), x.dtype == torch.uint16)\n"), "False False\n")

    def test_a_use_is_refused_with_its_line(self):
        known = "; docs/language.md lists what is; an operator can be declared as a custom op: docs/scenario.md\n"
        for use, name in (("torch.geqrf(x)", "torch.geqrf"), ("F.scaled_grouped_mm(x, x)", "torch.nn.functional.scaled_grouped_mm"),
                          ("if torch.cuda.has_magma: pass", "torch.cuda.has_magma"), ("print(bool(x.names))", "torch.Tensor.names")):
            self.assertRegex(self.run_script(use + "\n", "--set", "pytorch=2.11"), r"^s\.py:4:\d+: error: " + name.replace(".", r"\.") + " is not modelled" + known)
        self.assertIn("s.py:4:1: error: Tensor.geqrf is not modelled; declare it as a custom op", self.run_script("x.geqrf()\n"))

    def test_a_refusal_is_no_error_that_a_program_can_take(self):
        self.assertIn("torch.geqrf is not modelled", self.run_script("try:\n    torch.geqrf(x)\nexcept Exception:\n    pass\n"))

    def test_a_name_that_pytorch_has_not_is_an_error_as_ever(self):
        self.assertIn("AttributeError: module 'torch' has no attribute 'igamac'", self.run_script("torch.igamac(x)\n"))


if __name__ == "__main__":
    unittest.main()
