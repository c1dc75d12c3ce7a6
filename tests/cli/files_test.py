#!/usr/bin/env python3
"""Files of numbers that a program reads: types and shapes come from their headers, and what is no header is refused as the libraries do.

    files_test.py PATH/TO/tidemark
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def npy(shape, kind="<f4", numbers=None):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(4 * numbers if numbers is not None else 48)


def tensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.folder = pathlib.Path(self.directory.name)

    def run_script(self, text, arguments=(), **files):
        for name, content in files.items():
            (self.folder / name.replace("__", ".")).write_bytes(content)
        (self.folder / "s.py").write_text(text, encoding="utf-8")
        command = [PROGRAM, "run", "s.py", "--device", "t4", "--format", "json", "--", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)

    def printed(self, text, arguments=(), **files):
        done = self.run_script(text, arguments, **files)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["printed"]

    def test_an_array_of_a_file_has_its_type_and_shape(self):
        text = ("import numpy as np, torch\nx = np.load('x.npy')\nm = np.load('x.npy', mmap_mode='r')\n"
                "print(x.shape, x.dtype, m.shape, torch.from_numpy(x).cuda().shape)\n")
        self.assertEqual(self.printed(text, x__npy=npy((3, 4))), "(3, 4) float32 (3, 4) torch.Size([3, 4])\n")

    def test_what_a_program_saved_is_there_again_and_nothing_is_written(self):
        text = "import numpy as np\nnp.save('own', np.arange(3))\nprint(np.load('own.npy'))\n"
        self.assertEqual(self.printed(text), "[0 1 2]\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["s.py"])

    def test_what_an_argument_of_the_command_names_is_read(self):
        with tempfile.TemporaryDirectory() as other:
            (pathlib.Path(other) / "words.txt").write_text("one two", encoding="utf-8")
            text = ("import os, sys\nfor each in sys.argv[1:]:\n    folder = each.split('=')[-1]\n"
                    "    try:\n        print(open(os.path.join(folder, 'words.txt')).read())\n    except PermissionError:\n        print('refused')\n")
            for argument, printed in ((other, "one two\n"), ("--data=" + other, "one two\n"), ("--data=/", "refused\n")):
                self.assertEqual(self.printed(text, arguments=[argument]), printed)
            # A path that the program itself makes up is outside of what it may see.
            self.assertEqual(self.printed(f"import os\nprint(os.path.isdir({other!r}))\n"), "False\n")

    def test_a_link_has_what_the_file_has(self):
        text = ("import os\nwith open('a.txt', 'w') as f:\n    f.write('x')\nos.link('a.txt', 'b.txt')\nos.symlink('a.txt', 'c.txt')\n"
                "print(open('b.txt').read(), open('c.txt').read())\ntry:\n    os.link('a.txt', 'b.txt')\n"
                "except FileExistsError:\n    print('there')\n")
        self.assertEqual(self.printed(text), "x x\nthere\n")

    def test_a_tokenizer_counts_words_and_marks(self):
        text = ("from tokenizers import Tokenizer, models, processors\nimport copy\n"
                "t = Tokenizer(models.WordPiece(vocab={'[PAD]': 0, '[CLS]': 1, '[SEP]': 2, 'last': 99}))\n"
                "t.post_processor = processors.TemplateProcessing(single='[CLS] $A [SEP]', pair='[CLS] $A [SEP] $B:1 [SEP]:1', special_tokens=[])\n"
                "print(t.get_vocab_size(), t.add_special_tokens(['[NEW]']), t.get_vocab_size(), t.num_special_tokens_to_add(True))\n"
                "e = t.encode('Hello, world', 'yes!')\nprint(e.tokens, e.type_ids, e.special_tokens_mask, e.ids[0], e.ids[-1])\n"
                "t.enable_truncation(6, strategy='longest_first')\nt.enable_padding(length=8)\n"
                "e = t.encode_batch([('a b c d', 'e f'), 'g'])\nprint([len(x) for x in e], e[0].tokens, e[1].attention_mask)\n"
                "u = Tokenizer.from_str(t.to_str())\nprint(u.get_vocab_size(), u.encode('a').tokens, copy.deepcopy(t).encode('a b').ids == t.encode('a b').ids)\n")
        self.assertEqual(
            self.printed(text),
            "100 1 101 3\n"
            "['[CLS]', 'Hello', ',', 'world', '[SEP]', 'yes', '!', '[SEP]'] [0, 0, 0, 0, 0, 1, 1, 1] [1, 0, 0, 0, 1, 0, 0, 1] 1 2\n"
            "[8, 8] ['[CLS]', 'a', '[SEP]', 'e', 'f', '[SEP]', '[PAD]', '[PAD]'] [1, 1, 1, 0, 0, 0, 0, 0]\n"
            "101 ['[CLS]', 'a', '[SEP]'] True\n")

    def test_a_refusal_does_not_name_this_process(self):
        text = "print(open('/proc/mounts').read().split()[1])\ntry:\n    open('/proc/self/maps')\nexcept OSError as error:\n    print(error)\n"
        self.assertRegex(self.printed(text), r"^/\n.*'/proc/self/maps' lies outside of")

    def test_a_program_decides_what_its_own_classes_are(self):
        text = ("class A:\n    _stands_for = int\nprint(type(A()).__name__, type(A().__dict__) is dict, type(vars(A())).__mro__)\n"
                "import copy\na = A()\na.x = 1\nb = copy.copy(vars(a))\nb['x'] = 2\nprint(a.x, b)\n")
        self.assertEqual(self.printed(text), "A True (<class 'dict'>, <class 'object'>)\n1 {'x': 2}\n")

    def test_the_host_has_room(self):
        text = "import psutil\nprint(psutil.virtual_memory().available >> 40, psutil.Process().memory_info().rss, psutil.cpu_count() > 0)\n"
        self.assertEqual(self.printed(text), "1 0 True\n")

    def test_a_file_that_ends_too_early_is_no_array(self):
        text = "import numpy as np\ntry:\n    np.load('x.npy')\nexcept ValueError as error:\n    print('refused')\n"
        for content in (npy((3, 4), numbers=11), npy((3, 4))[:30]):
            self.assertEqual(self.printed(text, x__npy=content), "refused\n")

    def test_tensors_of_a_file_have_their_types_and_shapes(self):
        header = {"b": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, "a": {"dtype": "F32", "shape": [4], "data_offsets": [12, 28]},
                  "__metadata__": {"format": "pt"}}
        text = ("from safetensors import safe_open\nfrom safetensors.torch import load_file\nwith safe_open('x.st', 'pt') as f:\n"
                "    print(f.keys(), list(f.offset_keys()), f.metadata())\nprint([(t.shape, t.dtype) for t in load_file('x.st', device='cuda').values()])\n")
        self.assertEqual(self.printed(text, x__st=tensors(header, bytes(28))),
                         "['a', 'b'] ['b', 'a'] {'format': 'pt'}\n[(torch.Size([2, 3]), torch.bfloat16), (torch.Size([4]), torch.float32)]\n")

    def test_storages_of_the_host_have_numbers_of_their_own(self):
        text = ("import torch\nfrom safetensors.torch import save_file\na, b = torch.zeros(3), torch.zeros(3)\n"
                "at = [t.untyped_storage().data_ptr() for t in (a, b, a[1:])]\nprint(at[0] == at[1], at[0] == at[2])\n"
                "save_file({'a': a, 'b': b}, 'x')\ntry:\n    save_file({'a': a, 'c': a[1:]}, 'x')\nexcept RuntimeError:\n    print('shared')\n")
        self.assertEqual(self.printed(text), "False True\nshared\n")

    def test_what_is_no_file_of_tensors_is_refused(self):
        text = ("from safetensors import SafetensorError, safe_open\ntry:\n    safe_open('x.st', 'pt')\n"
                "except SafetensorError as error:\n    print(str(error).split(': ')[1].split(' for')[0])\n")
        one = {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}
        huge = {"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}
        for content, words in ((b"12", "header too small"), (b"\xff" * 8, "header too large"), (tensors({}, length=10**7), "invalid header length"),
                               (tensors(b"[1,2]"), "invalid JSON in header"), (tensors(b'{"a":{}}'), "invalid JSON in header"),
                               (tensors(one, bytes(15)), "invalid offset"), (tensors(huge, bytes(16)), "invalid offset")):
            with self.subTest(words):
                self.assertEqual(self.printed(text, x__st=content), words + "\n")

    def test_there_is_no_network(self):
        text = ("import httpx, httpx2\nfor ask in (httpx.get, httpx2.Client().get):\n    try:\n        ask('https://example.org')\n"
                "    except httpx.ConnectError as error:\n        print(error)\n")
        done = self.run_script(text)
        report = json.loads(done.stdout)
        self.assertEqual(report["printed"], "[Errno -3] Temporary failure in name resolution\n" * 2)
        self.assertIn("no network: GET https://example.org is not asked for", json.dumps(report["notes"]))

    def test_a_script_imports_from_the_root_of_its_project(self):
        for name, text in (("root/pyproject.toml", ""), ("root/lib/__init__.py", ""), ("root/lib/net.py", "SIZE = 7\n"), ("root/lib/data.txt", "7"),
                           ("root/train/run.py", "import os, sys\nROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))\nsys.path.append(ROOT)\n"
                                                 "from lib import net\nprint(net.SIZE)\nopen(ROOT + '/lib/data.txt')\n")):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([PROGRAM, "run", "run.py", "--device", "t4"], cwd=self.folder / "root" / "train", capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, "7\n"))  # code of the project, not its data
        self.assertIn("outside of what may be read here", done.stderr)

    def test_a_program_that_expects_a_refusal_goes_on_and_the_refusal_is_told(self):
        done = self.run_script("try:\n    open('/etc/hostname')\nexcept OSError as error:\n    print(error.errno)\n")
        report = json.loads(done.stdout)
        self.assertEqual(report["printed"], "13\n")
        self.assertIn("'/etc/hostname' lies outside of what may be read here", json.dumps(report["notes"]))
        done = self.run_script("try:\n    open('/etc/hostname')\nexcept FileNotFoundError:\n    pass\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--allow-read FOLDER", done.stderr)

    def test_what_was_saved_in_memory_goes_into_a_file_as_its_bytes_would(self):
        printed = self.printed(
            "import fsspec, io, torch\n"
            "buffer = io.BytesIO()\n"
            "torch.save(torch.nn.Linear(4, 2).state_dict(), buffer)\n"
            "fs, path = fsspec.core.url_to_fs('made.pt')\n"
            "with fs.transaction, fs.open(path, 'wb') as f:\n"
            "    f.write(buffer.getvalue())\n"
            "print(torch.load(path, map_location='cuda')['weight'].device)\n"
            "print(torch.load(io.BytesIO(buffer.getvalue()))['weight'].shape)\n")
        self.assertEqual(printed, "cuda:0\ntorch.Size([2, 4])\n")


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
