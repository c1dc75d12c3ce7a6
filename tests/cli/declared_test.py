#!/usr/bin/env python3
"""declared_test.py TIDEMARK: what a scenario's `data:` says of folders of pictures and of loaders."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

TIDEMARK = os.path.abspath(sys.argv.pop(1))


class DeclaredData(unittest.TestCase):
    def run_script(self, data, script):
        """the report as JSON, or the text of the refusal"""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "train.py").write_text(textwrap.dedent(script), encoding="utf-8")
            (pathlib.Path(folder) / "s.yaml").write_text(
                "schema_version: 1\ndevice: h100-sxm-80gb\nscript: train.py\n" + textwrap.dedent(data), encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.yaml", "--format", "json"], capture_output=True, text=True,
                                  check=False, cwd=folder)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def test_a_folder_of_pictures_has_its_classes_its_counts_and_its_size(self):
        report = self.run_script("""
            data:
              images/train: {images: 25, classes: 4, size: [30, 40]}
              images/flat: {images: 3, size: [8, 9]}
            """, """
            import os
            from PIL import Image
            found = [(e.name, len(os.listdir(e.path))) for e in os.scandir("images/train") if e.is_dir()]
            print(found, os.path.isdir("images/train/class00004"), os.path.isfile("images/train/class00001/00000005.jpg"))
            with open("images/train/class00001/00000005.jpg", "rb") as file:
                print(Image.open(file).convert("RGB").size)
            print(os.listdir("images/flat"), Image.open("images/flat/00000002.jpg").size, os.path.exists("images/flat/x.jpg"))
            print(sum(len(files) for _, _, files in os.walk("images/train")))
            """)
        self.assertEqual(report["printed"].splitlines(), [
            "[('class00000', 7), ('class00001', 6), ('class00002', 6), ('class00003', 6)] False True", "(40, 30)",
            "['00000000.jpg', '00000001.jpg', '00000002.jpg'] (9, 8) False", "25"])
        self.assertIn("folders of pictures are declared", json.dumps(report))

    def test_a_loader_gives_items_of_declared_shapes_and_lengths(self):
        data = """
            data:
              datasets.load_dataset:
                splits: {train: 100, validation: 10}
                item: {text: text, label: int, ids: {list: 5..9}}
              webdata.Loader: {length: 3, item: [{shape: [3, 4..6], dtype: float32}, {image: [5, 6]}, int]}
            """
        report = self.run_script(data, """
            import torch
            from datasets import load_dataset
            import webdata
            all = load_dataset("imdb")
            print({name: len(each) for name, each in all.items()}, all["train"].column_names)
            train = load_dataset("imdb", split="train[:20%]").map(lambda x: {"n": len(x["ids"])}, remove_columns=["text"])
            print(len(train), train.column_names, sorted({x["n"] for x in train}))
            batched = all.map(lambda b: {"m": [len(t) for t in b["ids"]]}, batched=True).shuffle(seed=1)["validation"]
            print(batched[0:2]["m"] == [len(x) for x in batched[0:2]["ids"]], batched.select(range(4)).num_rows)
            loader = webdata.Loader("x", shuffle=True)
            print([(tuple(a.shape), str(a.dtype), b.size) for a, b, c in loader])
            cuda = [x.cuda() for x, _, _ in loader]
            parts = all["train"].train_test_split(test_size=0.1)
            print(len(parts["train"]), len(parts["test"]))
            formatted = all["train"].with_format("torch", columns=["ids"])
            print(sorted(formatted[0]), formatted[0]["ids"].dtype)
            """)
        self.assertEqual(report["printed"].splitlines(), [
            "{'train': 100, 'validation': 10} ['text', 'label', 'ids']", "20 ['label', 'ids', 'n'] [5, 6, 7, 8, 9]", "True 4",
            "[((3, 5), 'torch.float32', (6, 5)), ((3, 4), 'torch.float32', (6, 5)), ((3, 6), 'torch.float32', (6, 5))]",
            "90 10", "['ids'] torch.int64"])

    def test_what_is_not_declared_is_refused_by_name_as_before(self):
        refused = self.run_script("", "from webdata import Loader\nLoader(1)\n")
        self.assertIn("webdata.Loader cannot be used", refused)

    def test_matrices_of_scipy_that_is_nowhere_have_their_shapes(self):
        report = self.run_script("", """
            import numpy as np
            from scipy import linalg as la
            q, r = la.qr(np.random.randn(5, 3))
            p, l, u = la.lu(np.zeros((4, 6), dtype=np.float32))
            print(q.shape, r.shape, la.qr(np.ones((5, 3)), mode="economic")[0].shape, p.shape, l.shape, u.shape, u.dtype)
            try:
                import scipy.optimize
            except ImportError:
                print("nowhere")
            """)
        self.assertEqual(report["printed"], "(5, 5) (5, 3) (5, 3) (4, 4) (4, 4) (4, 6) float32\nnowhere\n")

    def test_a_scenario_without_a_script_has_no_use_for_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "s.yaml"
            path.write_text("schema_version: 1\ndevice: t4\nlayers: [Linear(2, 2)]\ntrain: {batch: 1, input: [2]}\n"
                            "data: {a: {images: 1, size: [2, 2]}}\n", encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", str(path)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("it is read by a script, and there is none", done.stderr)


if __name__ == "__main__":
    unittest.main()
