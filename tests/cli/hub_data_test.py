#!/usr/bin/env python3
"""Data sets that are known by name: rows of each split, columns, what map() makes of them, and refusals by name.

    hub_data_test.py PATH/TO/tidemark
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


class HubData(unittest.TestCase):
    def run_script(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text(text, encoding="utf-8")
            command = [PROGRAM, "run", "s.py", "--device", "t4", "--format", "json"]
            return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)

    def ran(self, text):
        done = self.run_script(text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_rows_and_columns_are_those_of_the_hub(self):
        found = self.ran(
            "from datasets import load_dataset\n"
            "d = load_dataset('nyu-mll/glue', 'mrpc')\n"
            "print({k: len(v) for k, v in d.items()}, d['train'].column_names, d['train'].features['label'].names)\n"
            "print(len(load_dataset('imdb', split='train[:10%]')), len(load_dataset('ag_news', split='train+test')))\n"
            "print(load_dataset('cifar10', split='test')[3]['img'].size)\n")
        self.assertEqual(found["printed"], "{'train': 3668, 'validation': 408, 'test': 1725} ['sentence1', 'sentence2', 'label', 'idx'] ['0', '1']\n"
                                           "2500 127600\n(32, 32)\n")
        self.assertTrue(any("is not downloaded" in json.dumps(note) for note in found["notes"]), found["notes"])

    def test_files_of_the_disk_give_their_rows(self):
        found = self.ran(
            "from datasets import load_dataset, concatenate_datasets, interleave_datasets\n"
            "from datasets.distributed import split_dataset_by_node\n"
            "from datasets.features import ClassLabel\n"
            "from datasets.utils.logging import set_verbosity_error\n"
            "set_verbosity_error()\n"
            "open('a.csv', 'w').write('text,label,share\\nhello,1,0.5\\nworld,0,2\\n')\n"
            "open('a.jsonl', 'w').write('{\"n\": 1}\\n{\"n\": 2}\\n{\"n\": 3}\\n')\n"
            "open('a.txt', 'w').write('one\\ntwo\\n')\n"
            "a = load_dataset('csv', data_files='a.csv', split='train')\n"
            "print(a.column_names, a[0], a[1])\n"
            "b = load_dataset('json', data_files={'train': 'a.jsonl', 'test': 'a.jsonl'})\n"
            "t = load_dataset('text', data_files=['a.txt', 'a.txt'])['train']\n"
            "print({k: len(v) for k, v in b.items()}, t['text'][:])\n"
            "few, many = b['train'].select([2]), b['test'].map(lambda row: {'n': 10 * row['n']})\n"
            "print(concatenate_datasets([few, many])['n'][:], interleave_datasets([few, many])['n'][:])\n"
            "print(interleave_datasets([few, many], stopping_strategy='all_exhausted')['n'][:])\n"
            "print([split_dataset_by_node(many, rank=r, world_size=2)['n'][:] for r in range(2)])\n")
        self.assertEqual(found["printed"], "['text', 'label', 'share'] {'text': 'hello', 'label': 1, 'share': 0.5} "
                                           "{'text': 'world', 'label': 0, 'share': 2.0}\n"
                                           "{'train': 3, 'test': 3} ['one', 'two', 'one', 'two']\n"
                                           "[3, 10, 20, 30] [3, 10]\n[3, 10, 3, 20, 3, 30]\n[[10, 20], [30]]\n")

    def test_map_takes_rows_one_by_one_and_in_batches(self):
        text = ("from datasets import Dataset, load_dataset\n"
                "d = load_dataset('imdb', split='test').map(lambda b: {'n': [len(t.split()) for t in b['text']]}, batched=True, remove_columns=['text'])\n"
                "print(d.column_names, len(d), all(60 <= row['n'] <= 400 for row in d.select(range(50))))\n"
                "own = Dataset.from_dict({'x': list(range(10))})\n"
                "print(own.map(lambda row: {'y': row['x'] * 2})[3], len(own.map(lambda b: {'z': b['x'][::2]}, batched=True, batch_size=4)))\n"
                "s = own.train_test_split(test_size=0.2)\nprint(len(s['train']), len(s['test']), s['train'][0])\n")
        self.assertEqual(self.ran(text)["printed"], "['label', 'n'] 25000 True\n{'x': 3, 'y': 6} 5\n8 2 {'x': 0}\n")

    def test_metrics_have_names_and_no_values(self):
        text = ("import evaluate\nm = evaluate.load('glue', 'mrpc')\nm.add_batch(predictions=[1], references=[0])\n"
                "print(sorted(m.compute()), list(evaluate.load('accuracy').compute(predictions=[1], references=[1])))\n")
        self.assertEqual(self.ran(text)["printed"], "['accuracy', 'f1'] ['accuracy']\n")

    def test_another_name_is_refused_with_what_helps(self):
        done = self.run_script("from datasets import load_dataset\nload_dataset('someone/her-own-set')\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("s.py:2:1: error: datasets.load_dataset('someone/her-own-set') is not known", done.stderr)
        self.assertIn("data:", done.stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
