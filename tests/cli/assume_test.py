#!/usr/bin/env python3
"""What a run rests on is told: branches on values that nobody knows, and how --assume sets them.

    assume_test.py PATH/TO/tidemark
"""
import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = "import math, torch\nx = torch.randn(4, 8, device='cuda')\n"


class Assumptions(unittest.TestCase):
    def run_script(self, body, *options):
        """the report as JSON, or the text of the refusal"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "s.py"
            path.write_text(HEAD + body, encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--format", "json", *options],
                                  capture_output=True, text=True, check=False, cwd=folder)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def told(self, report):
        return [(a["line"], a["text"], a["direction"], a["kind"], a["times"]) for a in report.get("assumptions", [])]

    def test_a_branch_that_leaves_is_not_taken_and_told_with_its_count(self):
        report = self.run_script("for i in range(3):\n    if x.sum().item() > 5:\n        break\nprint(i)\n")
        self.assertEqual(report["printed"], "2\n")
        self.assertEqual(self.told(report), [(4, "x.sum().item() > 5", False, "branch", 3)])

    def test_a_module_that_is_not_there_and_variables_that_are_read_are_told(self):
        report = self.run_script("import os\ntry:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n"
                                 "os.environ['SET_HERE'] = '1'\n"
                                 "print(flash_attn, os.environ.get('BATCH', '8'), os.environ['SET_HERE'])\n")
        self.assertEqual(report["printed"], "None 8 1\n")
        self.assertEqual([(n["line"], n["text"]) for n in report["notes"]],
                         [(5, "flash_attn is not here: the program goes on without it"),
                          (9, "environment variable BATCH is read: it is not set")])

    def test_chance_without_a_seed_is_told(self):
        text = "torch is used without a seed: its numbers are those of torch.manual_seed(67280421310721)"
        def notes(body):
            return [(n.get("line"), n["text"], n["times"]) for n in self.run_script(body).get("notes", [])]
        draw = "for _ in range(2):\n    n = int(torch.randint(1, 9, (1,)))\n"
        self.assertEqual(notes(draw), [(4, text, 2)])
        self.assertEqual(notes("torch.manual_seed(1)\n" + draw), [])
        # Numbers that nobody looks at decide nothing; a generator of one's own begins with the same seed in PyTorch too.
        self.assertEqual(notes("net = torch.nn.Linear(8, 8)\n"), [])
        self.assertEqual(notes("g = torch.Generator()\nprint(torch.rand(3, generator=g).tolist())\n"), [])
        loader = "for b in torch.utils.data.DataLoader(torch.zeros(9, 2), batch_size=4, shuffle=%s):\n    pass\n"
        self.assertEqual(notes(loader % False), [])
        self.assertEqual([each[1] for each in notes(loader % True)], [text])

    def test_a_program_that_ends_itself_is_answered_up_to_there(self):
        for end, told in {"import sys\nsys.exit(3)\n": "the program ends itself with exit code 3",
                          "raise SystemExit('no data')\n": "the program ends itself with exit code 1: no data"}.items():
            report = self.run_script("y = torch.zeros(2**20, device='cuda')\n" + end + "z = torch.zeros(2**24, device='cuda')\n")
            self.assertEqual(report["devices"][0]["peak_allocated"]["bytes"], 2**22 + 512)
            self.assertEqual([note["text"] for note in report["notes"]], [told])
        self.assertNotIn("notes", self.run_script("import sys\nsys.exit()\n"))

    def test_bins_of_numbers_that_nobody_knows_are_given_noted_or_refused(self):
        head = "n = torch.bincount(x.argmax(-1)%s)\nprint(n.shape[0])\n"
        self.assertIn("s.py:3:5: error: a size depends on a value that is not known", self.run_script(head % ""))
        self.assertEqual(self.run_script(head % "", "--assume", "s.py:3=7")["printed"], "7\n")
        report = self.run_script(head % ", minlength=6")
        self.assertEqual(report["printed"], "6\n")
        self.assertEqual([(n["line"], n["text"]) for n in report["notes"]],
                         [(3, "bincount of numbers that are not known: none is taken to be above 5")])

    def test_where_the_other_branch_leaves_the_condition_holds(self):
        report = self.run_script("if x.sum() > 5:\n    print('goes on')\nelse:\n    raise ValueError\n")
        self.assertEqual(report["printed"], "goes on\n")
        self.assertEqual(self.told(report), [(3, "x.sum() > 5", True, "branch", 1)])

    def test_an_assertion_holds_whichever_way_it_is_written(self):
        report = self.run_script("assert x.sum() > 5\nassert not x.mean().item() > 3\n")
        self.assertEqual(self.told(report), [(3, "x.sum() > 5", True, "branch", 1),
                                             (4, "x.mean().item() > 3", False, "branch", 1)])

    def test_checks_for_faults_find_none(self):
        report = self.run_script("loss = x.sum()\nprint(math.isnan(loss.item()), torch.isfinite(loss).all().item(), "
                                 "torch.allclose(x, x + 1), loss.item() < math.inf, torch.equal(x, x))\n")
        self.assertEqual(report["printed"], "False True True True True\n")
        self.assertEqual({kind for _, _, _, kind, _ in self.told(report)}, {"check"})

    def test_what_a_check_for_faults_says_may_be_set(self):
        body = ("loss = x.sum()\ndef tell(name, says):\n    print(name, bool(says))\n"
                "tell('nan', math.isnan(loss.item()))\ntell('finite', bool(torch.isfinite(x).all()))\ntell('close', torch.allclose(x, x + 1))\n"
                "tell('below', loss.item() < math.inf)\ntell('itself', loss.item() == loss.item() or 0)\n"
                "tell('some', bool(torch.isinf(x).any() or torch.isnan(x).any()))\ntell('count', torch.isnan(x).sum().item())\n"
                "tell('list', any(torch.isnan(x[0]).tolist()))\n")
        usual = {6: "nan False", 7: "finite True", 8: "close True", 9: "below True", 11: "some False", 12: "count False", 13: "list False"}
        for line, says in usual.items():
            name, direction = says.split()
            other = {"True": "False", "False": "True"}[direction]
            report = self.run_script(body, "--assume", "s.py:%d=%s" % (line, other.lower()))
            printed = report["printed"].splitlines()
            self.assertIn(name + " " + other, printed)
            for each in usual:
                if each != line:
                    self.assertIn(usual[each], printed)
            # (`any` of eight elements ends with the first of them.)
            self.assertEqual({a["kind"] for a in report["assumptions"] if a["line"] == line}, {"given"})
        report = self.run_script("n = torch.isnan(x).sum().item()\nprint(torch.zeros(n).shape)\n", "--assume", "s.py:3=7")
        self.assertEqual(report["printed"], "torch.Size([7])\n")

    def test_a_step_that_found_infinity_is_left_out_when_one_says_so(self):
        body = ("w = torch.nn.Linear(512, 512, device='cuda')\no = torch.optim.Adam(w.parameters())\ns = torch.amp.GradScaler('cuda')\n"
                "for _ in range(3):\n    s.scale(w(torch.zeros(2, 512, device='cuda')).sum()).backward()\n"
                "    s.step(o)\n    s.update()\n    o.zero_grad()\nprint(len(o.state), s.get_scale())\n")
        report = self.run_script(body)
        self.assertEqual(report["printed"], "2 65536.0\n")
        self.assertEqual(self.told(report), [(8, "s.step(o)", False, "check", 3)])
        self.assertEqual([note["text"] for note in report["notes"]], ["the scale of GradScaler is read: it is taken not to have grown"])
        left_out = self.run_script(body, "--assume", "s.py:8=true")
        self.assertEqual(left_out["printed"], "0 8192.0\n")
        self.assertEqual(self.told(left_out), [(8, "s.step(o)", True, "given", 3)])
        both = self.run_script(body, "--assume", "s.py:8=both")["alternatives"]
        self.assertEqual([one["is_shown"] for one in both], [False, True])  # with states is the worst
        self.assertGreater(both[1]["peak_allocated_bytes"], both[0]["peak_allocated_bytes"] + 2 * 2**20)

    def test_the_scenarios_key_says_what_the_option_says(self):
        body = HEAD + "keep = []\n" + "".join(
            "if x.sum() > %d:\n    keep.append(torch.zeros(2**%d, device='cuda'))\n" % (i, 20 + i) for i in range(3)) + (
                "n = int(x.argmax())\nprint(len(keep), torch.zeros(n).shape[0])\n")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "s.py").write_text(body, encoding="utf-8")

            def report(assume, *options):
                (root / "s.yaml").write_text("schema_version: 1\ndevice: h100-sxm-80gb\nscript: s.py\nassume: %s\n" % assume, encoding="utf-8")
                done = subprocess.run([TIDEMARK, "run", "s.yaml", "--format", "json", *options], capture_output=True, text=True,
                                      check=False, cwd=folder)
                return json.loads(done.stdout) if done.returncode == 0 else done.stderr

            self.assertEqual(report("[s.py:10=5]")["printed"], "0 5\n")
            self.assertEqual(report("[s.py:10=5, s.py:4=true, s.py:6=false]")["printed"], "1 5\n")
            both = report("[s.py:10=5, s.py:4=both, s.py:6=both]")
            self.assertEqual(len(both["alternatives"]), 4)
            self.assertEqual([one["assume"] for one in both["alternatives"] if one["is_shown"]], [["s.py:10=5", "s.py:4=true", "s.py:6=true"]])
            self.assertEqual([one["assume"][0] for one in report("s.py:10=2..9")["alternatives"]], ["s.py:10=2", "s.py:10=9"])
            self.assertIn("a size depends on a value that is not known", report("s.py:4=true"))
            self.assertEqual(report("zeros")["printed"], "0 0\n")
            self.assertIn("assume: 's.py=5': no place and value", report("s.py=5"))
            # The option is added to the key.
            self.assertEqual(report("s.py:10=5", "--set", "assume=[s.py:10=6, s.py:8=true]")["printed"], "1 6\n")

    def test_as_many_ways_are_run_as_is_stated_and_no_more(self):
        body = "keep = []\n" + "".join("if x.sum() > %d: keep.append(torch.zeros(2**%d, device='cuda'))\n" % (i, 20 + i) for i in range(12))
        for branches, ways in ((1, 2), (2, 4), (4, 16)):
            options = [word for i in range(branches) for word in ("--assume", "s.py:%d=both" % (4 + i))]
            report = self.run_script(body, *options)
            self.assertEqual(len(report["alternatives"]), ways)
            self.assertEqual([one["assume"] for one in report["alternatives"] if one["is_shown"]],
                             [["s.py:%d=true" % (4 + i) for i in range(branches)]])
            self.assertEqual(report["devices"][0]["peak_allocated"]["bytes"], max(one["peak_allocated_bytes"] for one in report["alternatives"]))
        for branches in (5, 12):
            options = [word for i in range(branches) for word in ("--assume", "s.py:%d=both" % (4 + i))]
            self.assertIn("assume: more than 16 alternatives; give some of them one value", self.run_script(body, *options))

    def test_what_is_given_is_told_and_so_is_what_has_no_effect(self):
        report = self.run_script("n = int((x > 0).sum())\nif n > 3:\n    pass\n", "--assume", "s.py:3=7", "--assume", "s.py:9=true")
        self.assertEqual([(note.get("line"), note["text"]) for note in report["notes"]], [
            (3, "the number that is read here is given: 7"),
            (None, "assume: s.py:9=true is without effect: nothing there depends on a value that is not known")])

    def test_the_page_of_a_run_tells_what_it_rests_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "s.py"
            path.write_text(HEAD + "import random\nrandom.random()\nif x.sum() > 5:\n    y = torch.zeros(2**20, device='cuda')\n"
                            "if torch.isnan(x.sum()):\n    pass\n", encoding="utf-8")
            done = subprocess.run([TIDEMARK, "report", path, "--device", "h100-sxm-80gb", "-o", path.with_suffix(".html")], cwd=ROOT,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            page = html.unescape(path.with_suffix(".html").read_text(encoding="utf-8"))
        self.assertIn("x.sum() > 5: false, 1 time", page)
        self.assertIn("torch.isnan(x.sum()): false, 1 time", page)
        self.assertIn("random is used without a seed", page)

    def test_a_text_whose_tokens_nobody_knows_runs_to_its_bound(self):
        report = self.run_script(
            "ends = torch.tensor([2, 7], device='cuda')\nunfinished = torch.ones(4, dtype=torch.long, device='cuda')\n"
            "length = 0\nwhile True:\n    length += 1\n    tokens = (x * length).argmax(-1)\n"
            "    done = torch.full((4,), length >= 6, device='cuda') | torch.isin(tokens, ends)\n"
            "    unfinished = unfinished & ~done\n    if unfinished.max() == 0:\n        break\nprint(length)\n")
        self.assertEqual(report["printed"], "6\n")
        self.assertEqual([(line, kind) for line, _, _, kind, _ in self.told(report)], [(11, "check"), (11, "check")])

    def test_a_size_is_refused_with_its_line_unless_it_is_given(self):
        body = "n = int((x > 0).sum())\nprint(torch.zeros(n).shape)\n"
        text = self.run_script(body)
        self.assertIn("s.py:4:", text)
        self.assertIn("a size depends on a value that is not known, read at s.py:3", text)
        self.assertIn("--assume s.py:3=NUMBER", text)
        self.assertEqual(self.run_script(body, "--assume", "s.py:3=7")["printed"], "torch.Size([7])\n")

    def test_what_is_looked_up_by_a_value_that_nobody_knows_is_not_known_either(self):
        report = self.run_script("n = int(x.argmax())\nletters, sizes = {0: 'a', 1: 'b'}, [1, 2]\n"
                                 "print(''.join([letters[n]] * 2), sizes[n], '%d of %d' % (x.argmax(), 4))\n")
        self.assertEqual(report["printed"], "?? ? ? of 4\n")
        self.assertEqual([(n["line"], n["text"]) for n in report["notes"]],
                         [(5, "what is looked up here by a value that is not known is not known either")] * 2)
        refused = self.run_script("print({0: x, 1: x}[int(x.argmax())])\n")
        self.assertIn("a key depends on a value that is not known, read at s.py:3", refused)

    def test_weights_that_are_not_downloaded_fit_the_model_that_loads_them(self):
        report = self.run_script("weights = torch.hub.load_state_dict_from_url('https://host/net.pth')\n"
                                 "net = torch.nn.Linear(3, 2)\nprint(net.load_state_dict(weights), len(weights))\n")
        self.assertEqual(report["printed"].splitlines()[0], "<All keys matched successfully> 2")
        self.assertIn("weights are not downloaded: https://host/net.pth is taken to fit the model that loads it",
                      [n["text"] for n in report["notes"]])

    def test_a_slice_whose_bound_is_not_known_leaves_nothing_out_and_says_so(self):
        for body in ("print(x[:(x > 0).sum()].shape)\n", "n = (x > 0).sum().item()\nprint(x[n:].shape)\n"):
            report = self.run_script(body)
            whole = self.run_script("print(x.shape)\n")["printed"]
            self.assertEqual(report["printed"], whole)
            self.assertIn("a bound of a slice is not known: nothing is left out", [note["text"] for note in report["notes"]])
        self.assertIn("a size or an index depends on a value that is not known", self.run_script("x[:(x > 0).sum()] = 1\n"))

    def test_whole_numbers_are_settled_by_what_does_not_depend_on_them(self):
        head = "n = (x > 0).long()\n"
        for test, says in (("(n * torch.zeros_like(n)).any()", False), ("((n > 5) & torch.zeros_like(n).bool()).any()", False),
                           ("((n > 5) | torch.ones_like(n).bool()).all()", True)):
            report = self.run_script(head + f"print(bool({test}))\n")
            self.assertEqual((report["printed"], report.get("assumptions", [])), (f"{says}\n", []))
        report = self.run_script(head + "print(bool((x * torch.zeros_like(x)).any()))\n")  # NaN * 0 is NaN
        self.assertEqual(len(report["assumptions"]), 1)

    def test_a_mask_whose_count_is_not_known_is_refused(self):
        text = self.run_script("print(x[x > 0].shape)\n")
        self.assertIn("a size depends on a value that is not known", text)
        self.assertEqual(self.run_script("print(x[x > 0].shape)\n", "--assume", "s.py:3=5")["printed"], "torch.Size([5])\n")

    def test_rows_of_a_sparse_gradient_are_known_given_or_refused(self):
        head = "e = torch.nn.Embedding(100, 8, padding_idx=0, sparse=True).cuda()\n"
        shape = "print(torch.cuda.memory_allocated())\n"
        unknown = head + "e(x.argmax(-1)).sum().backward()\n" + shape
        self.assertIn("s.py:4:1: error: a size depends on a value that is not known", self.run_script(unknown))
        known = head + "e(torch.tensor([%s], device='cuda')).sum().backward()\n" + shape
        held = [int(self.run_script(known % tokens)["printed"]) for tokens in ("0, 0, 0, 0", "0, 7, 0, 0", ", ".join(["7"] * 40), ", ".join(["7", "0"] * 20))]
        # 40 rows of 8 numbers are 1,280 bytes, 20 are 640; one row and its index are a block of the least size each.
        self.assertEqual((held[2] - held[3], held[1] - held[0]), (1536 - 1024, 512 + 512))
        given = [int(self.run_script(unknown, "--assume", "s.py:4=%d" % rows)["printed"]) for rows in (1, 4)]
        self.assertEqual(given[0], given[1])  # of one to four rows a block of the least size

    def test_what_is_only_assumed_decides_no_size(self):
        self.assertIn("a size depends on a value that is not known", self.run_script("print(x[torch.isfinite(x)].shape)\n"))

    def test_a_loop_without_another_end_is_refused_and_one_with_a_bound_runs_to_it(self):
        self.assertIn("how often this loop runs depends on a value that is not known",
                      self.run_script("while x.sum() > 0:\n    x = x * 2\n"))
        report = self.run_script("n = 0\nwhile x.sum() > 0 and n < 5:\n    n += 1\nprint(n)\n")
        self.assertEqual(report["printed"], "5\n")

    def test_a_loop_that_its_body_leaves_goes_on_until_then(self):
        loop = "n = 0\nwhile x.sum() > 0:\n    n += 1\n    %s\nprint(n)\n"
        report = self.run_script(loop % "if n > 6: break")
        self.assertEqual(report["printed"], "7\n")
        self.assertEqual(self.told(report)[0][:3], (4, "x.sum() > 0", True))
        # A break of a loop within leaves nothing; one that does not come is none.
        for body in ("for i in range(9): break", "if n < 0: break"):
            self.assertIn("how often this loop runs depends on a value that is not known", self.run_script(loop % body))

    def test_early_stopping_does_not_stop(self):
        text = ("best = float('inf')\nwaited = 0\nfor i in range(9):\n    loss = x.sum().item()\n"
                "    if %s:\n        best = loss\n        %s\n    else:\n        waited += 1\n        %s\n%sprint(i, waited)\n")
        stop = "if waited >= 2: break"
        # What waits is told by the break within, or by its count.
        self.assertEqual(self.run_script(text % ("loss < best", "pass", stop, ""))["printed"], "8 0\n")
        self.assertEqual(self.run_script(text % ("loss < best", "waited = 0", "pass", "    " + stop + "\n"))["printed"], "8 0\n")
        swapped = ("waited = 0\nfor i in range(9):\n    if x.sum() > 5:\n        waited += 1\n    else:\n        waited = 0\n"
                   "    if waited > 2: break\nprint(i, waited)\n")
        self.assertEqual(self.run_script(swapped)["printed"], "8 0\n")

    def test_a_condition_may_be_given(self):
        body = "if x.sum() > 5:\n    print('yes')\n"
        self.assertEqual(self.run_script(body)["printed"], "")
        report = self.run_script(body, "--assume", "s.py:3=true")
        self.assertEqual((report["printed"], self.told(report)[0][3]), ("yes\n", "given"))

    def test_numbers_made_of_unknown_ones_are_unknown_and_print_as_such(self):
        report = self.run_script("total = 0.0\nfor i in range(2):\n    total += x.sum().item()\n"
                                 "print(f'{total / 2:.3f}', max(total, 1), round(total), abs(total))\n")
        self.assertEqual(report["printed"], "? ? ? ?\n")
        self.assertEqual(self.told(report), [])

    def test_a_loop_may_be_given_its_turns(self):
        report = self.run_script("for _ in range(2):\n    n = 0\n    while x.sum() > 0:\n        n += 1\n    print(n)\n",
                                 "--assume", "s.py:5=true*7")
        self.assertEqual(report["printed"], "7\n7\n")

    def test_both_ways_are_run_and_the_worst_is_told(self):
        body = "y = torch.zeros(2**20, device='cuda')\nif x.sum() > 5:\n    z = torch.zeros(2**22, device='cuda')\n"
        report = self.run_script(body, "--assume", "s.py:4=both")
        self.assertEqual([(one["assume"], one["is_shown"]) for one in report["alternatives"]],
                         [(["s.py:4=true"], True), (["s.py:4=false"], False)])
        peaks = [one["peak_allocated_bytes"] for one in report["alternatives"]]
        self.assertAlmostEqual(peaks[0] - peaks[1], 2**24, delta=4096)
        self.assertEqual(report["devices"][0]["peak_allocated"]["bytes"], peaks[0])

    def test_an_interval_is_run_at_both_ends(self):
        body = "n = int((x > 0).sum())\ny = torch.zeros(n, 2**18, device='cuda')\n"
        report = self.run_script(body, "--assume", "s.py:3=2..32")
        peaks = [one["peak_allocated_bytes"] for one in report["alternatives"]]
        self.assertEqual(peaks[1] - peaks[0], 30 * 2**20)
        self.assertEqual([one["is_shown"] for one in report["alternatives"]], [False, True])
        self.assertIn("LOW is above HIGH", self.run_script(body, "--assume", "s.py:3=9..2"))

    def test_a_way_in_which_the_program_fails_is_told_beside_the_others(self):
        body = "if x.sum() > 5:\n    raise ValueError('no')\n"
        failed, fits = self.run_script(body, "--assume", "s.py:3=both")["alternatives"]
        self.assertEqual(failed["error"], "ValueError: no")
        self.assertEqual((failed["is_shown"], fits["is_shown"]), (False, True))

    def test_more_than_sixteen_ways_are_refused(self):
        options = [text for line in range(3, 8) for text in ("--assume", f"s.py:{line}=both")]
        self.assertIn("more than 16 alternatives", self.run_script("", *options))

    def test_a_tensor_saved_and_written_over_since_is_pytorchs_error(self):
        text = self.run_script("w = torch.ones(4, device='cuda', requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()\n")
        self.assertIn("RuntimeError: one of the variables needed for gradient computation has been modified by an inplace "
                      "operation: [torch.cuda.FloatTensor [4]], which is output 0 of ExpBackward0, is at version 1", text)

    def test_text_names_the_line_and_a_sweep_counts_it(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text(HEAD + "if x.sum() > 5:\n    pass\n", encoding="utf-8")
            (pathlib.Path(folder) / "s.yaml").write_text("schema_version: 1\ndevice: h100-sxm-80gb\nscript: s.py\n"
                                                         "sweep:\n  grid:\n    allocator.conf: ['', 'roundup_power2_divisions:4']\n",
                                                         encoding="utf-8")
            def tell(*words):
                return subprocess.run([TIDEMARK, *words], capture_output=True, text=True, check=True, cwd=folder).stdout
            self.assertIn("Assumed, since values are not known\n  s.py:3:4: x.sum() > 5: false, 1 time\n",
                          tell("run", "s.py", "--device", "h100-sxm-80gb"))
            self.assertIn("  Each may be set: --assume FILE:LINE=true, false or both\n", tell("run", "s.py", "--device", "h100-sxm-80gb"))
            (pathlib.Path(folder) / "c.py").write_text(HEAD + "if not torch.isfinite(x.sum()):\n    pass\n", encoding="utf-8")
            self.assertIn("  c.py:3:8: torch.isfinite(x.sum()): true, 1 time\n  Each may be set: --assume FILE:LINE=true, false or both\n",
                          tell("run", "c.py", "--device", "h100-sxm-80gb"))
            tell("sweep", "s.yaml", "--out", "r.sqlite")
            rows = tell("results", "r.sqlite", "--format", "csv", "--columns", "assumed").splitlines()
        self.assertEqual(rows, ["assumed", "1", "1"])

    def test_turns_that_are_left_out_are_counted(self):
        body = ("import os\nw = torch.zeros(8, 8, device='cuda', requires_grad=True)\nfor i in range(20):\n"
                "    if (x @ w).sum().item() > 3:\n        pass\n    os.environ.get('NAME')\n")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text(HEAD + body, encoding="utf-8")
            text = subprocess.run([TIDEMARK, "run", "s.py", "--device", "t4"], capture_output=True, text=True, check=True,
                                  cwd=folder).stdout
        self.assertIn("exactly: not simulated again", text)
        self.assertIn("(x @ w).sum().item() > 3: false, 20 times\n", text)
        self.assertIn("environment variable NAME is read: it is not set, 20 times\n", text)
        # What holds so often in a row is no turn like the one before.
        report = self.run_script(body, "--assume", "s.py:6=true*7")
        self.assertEqual([(a["direction"], a["times"]) for a in report["assumptions"]], [(True, 18), (False, 2)])

    def test_a_condition_may_hold_so_often_and_then_never(self):
        body = "for i in range(5):\n    if x.sum().item() > 3:\n        print(i)\n"
        for value, printed in {"true*2,false": "0\n1\n", "false*3,true": "3\n4\n", "true*2": "0\n1\n3\n4\n"}.items():
            report = self.run_script(body, "--assume", "s.py:4=" + value)
            self.assertEqual(report["printed"], printed)
        self.assertIn("how often it is true is not a number", self.run_script(body, "--assume", "s.py:4=true*2,true"))
        body = ("w = torch.zeros(8, 8, device='cuda', requires_grad=True)\no = torch.optim.SGD([w], 0.1, momentum=0.9)\n"
                "s = torch.amp.GradScaler()\nfor i in range(4):\n    s.scale((x @ w).sum()).backward()\n    s.step(o)\n"
                "    s.update()\n    print(len(o.state))\n")
        report = self.run_script(body, "--assume", "s.py:8=true*2,false")
        self.assertEqual(report["printed"], "0\n0\n1\n1\n")

    def test_every_command_that_runs_a_script_says_what_it_rests_on(self):
        body = "if x.sum().item() > 3:\n    z = torch.zeros(1 << 28, device='cuda')\n"
        commands = {"advise": [], "fit": ["--over", "device"], "tune": ["--threads", "1"], "explain": [], "graph": ["--depth", "1"],
                    "plan": ["--out", "plan"], "diff": ["--set-b", "device=a100-sxm4-40gb"]}
        for command, options in commands.items():
            with self.subTest(command), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "s.py").write_text(HEAD + body, encoding="utf-8")
                def said(*more):
                    done = subprocess.run([TIDEMARK, command, "s.py", "--device", "t4", *options, *more], capture_output=True,
                                          text=True, check=False, cwd=folder)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    return done.stdout + done.stderr
                self.assertIn("x.sum().item() > 3: false, 1 time", said())
                if command in ("plan", "diff"):
                    continue
                both = said("--assume", "s.py:3=both")
                if command != "graph":
                    self.assertIn("s.py:3=true", both)
                if command in ("fit", "advise"):
                    alternatives = json.loads(said("--assume", "s.py:3=both", "--format", "json"))
                    self.assertEqual([one["assume"] for one in alternatives["alternatives"]], [["s.py:3=true"], ["s.py:3=false"]])

    def test_a_script_gets_its_arguments_from_every_command(self):
        body = "import sys\ny = torch.zeros(int(sys.argv[2]), 1 << 20, device='cuda')\n"
        for command, shown in {"run": "512 MiB", "advise": "514 MiB", "tune": "514 MiB", "explain": "512 MiB"}.items():
            with self.subTest(command), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "s.py").write_text(HEAD + body, encoding="utf-8")
                done = subprocess.run([TIDEMARK, command, "s.py", "--device", "t4", "--", "--n", "128"], capture_output=True,
                                      text=True, check=True, cwd=folder)
                self.assertIn(shown, done.stdout)

    def test_explain_says_how_a_run_ended_and_what_it_rests_on(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text(
                HEAD + "if x.sum() > 5:\n    pass\na = torch.empty(2**38, device='cuda')\n", encoding="utf-8")
            done = subprocess.run([TIDEMARK, "explain", "s.py", "--device", "h100-sxm-80gb"], capture_output=True, text=True,
                                  check=True, cwd=folder)
        self.assertEqual(done.stdout.splitlines()[:2], [
            "DOES NOT FIT. A refused request ends the run.",
            "Assumed, since values are not known: s.py:3:4: x.sum() > 5: false, 1 time"])

    def test_everything_unknown_may_count_as_zero(self):
        self.assertEqual(self.run_script("print(x.sum().item())\n", "--assume", "zeros")["printed"], "0.0\n")

    def test_a_place_that_is_no_place_is_told(self):
        self.assertIn("the line is not a number", self.run_script("", "--assume", "s.py:x=true"))

    def test_chance_without_a_seed_is_that_of_seed_0_and_told(self):
        report = self.run_script("import random\nprint(random.random(), random.randint(1, 6))\nrandom.seed(0)\n"
                                 "print(random.random(), random.randint(1, 6))\nimport numpy\nprint(numpy.random.rand())\n")
        self.assertEqual(report["printed"], "0.8444218515250481 4\n" * 2 + "0.5488135039273248\n")
        self.assertEqual([(n["line"], n["text"], n["times"]) for n in report["notes"]], [
            (4, "random is used without a seed: its numbers are those of random.seed(0)", 1),
            (8, "numpy.random is used without a seed: its numbers are those of numpy.random.seed(0)", 1)])

    def test_a_number_that_nobody_knows_is_the_first_of_the_list_it_is_taken_out_of(self):
        report = self.run_script("digits = [1, 2, 3]\ndigits.remove(x.argmax().item())\nprint(digits)\n")
        self.assertEqual(report["printed"], "[2, 3]\n")
        self.assertEqual([n["line"] for n in report["notes"]], [4])

    def test_a_power_that_nobody_knows_saves_what_a_number_does(self):
        report = self.run_script("w = torch.ones(2**20, device='cuda', requires_grad=True)\nmost = x.max().item()\n"
                                 "y = w ** most\nz = w.clamp(min=most)\nprint(torch.cuda.memory_allocated() >> 20)\n")
        self.assertEqual(report["printed"], "12\n")

    def test_an_array_of_a_file_has_its_length(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "train.bin").write_bytes(bytes(1000))
            (root / "s.py").write_text(
                "import numpy as np, os, torch\ndata = np.memmap(os.path.join('.', 'train.bin'), dtype=np.uint16, mode='r')\n"
                "x = torch.from_numpy(data[10:30].astype(np.int64)).to('cuda')\n"
                "print(len(data), data.nbytes, x.shape, np.fromfile('train.bin', dtype='float32').shape, os.path.getsize('train.bin'))\n"
                "try:\n    np.memmap('test.bin', mode='r')\n"
                "except FileNotFoundError as error:\n    print(error, error.errno, error.filename)\n", encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "NVIDIA H100 80GB HBM3"], capture_output=True,
                                  text=True, check=False, cwd=folder)
        self.assertEqual(done.stdout.splitlines()[:2], [
            "500 1000 torch.Size([20]) (250,) 1000", "[Errno 2] No such file or directory: 'test.bin' 2 test.bin"],
            done.stderr)

    def test_the_allocator_is_as_the_script_sets_it_before_it_asks_for_memory(self):
        body = "a = torch.empty(300 * 2**20, dtype=torch.uint8, device='cuda')\n"
        sets = "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n"

        def run(text, *options):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "s.py").write_text(text, encoding="utf-8")
                done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--format", "json", *options],
                                      capture_output=True, text=True, check=True, cwd=folder)
            report = json.loads(done.stdout)
            return report["devices"][0]["allocator_settings"], [note["text"] for note in report.get("notes", [])]

        conf, notes = run(sets + "import torch\n" + body)
        self.assertEqual(conf, "expandable_segments:True")
        self.assertIn("os.environ sets PYTORCH_CUDA_ALLOC_CONF to 'expandable_segments:True'", notes[0])
        conf, _ = run(sets + "import torch\n" + body, "--set", "allocator.conf=max_split_size_mb:64")
        self.assertEqual(conf, "max_split_size_mb:64")
        conf, _ = run("import torch\n" + body, "--env", "PYTORCH_ALLOC_CONF=max_split_size_mb:32")
        self.assertEqual(conf, "max_split_size_mb:32")
        conf, notes = run("import torch\n" + body + sets)
        self.assertEqual(conf, "")
        self.assertIn("without effect", notes[0])

    def test_numbers_that_nobody_knows_are_kept_in_tensors(self):
        report = self.run_script("losses = torch.zeros(3)\nfor k in range(3):\n    losses[k] = x.mean().item()\n"
                                 "losses[torch.tensor([0, 2])] = x.mean().item()\nprint(losses.mean().item() if losses.sum() > 1 else 'less')\n")
        self.assertEqual(report["printed"], "less\n")
        self.assertEqual([(line, kind) for line, _, _, kind, _ in self.told(report)], [(7, "branch")])

    def test_data_sets_have_their_counts_without_files(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {
                    "packages/torchvision/__init__.py": "",
                    "packages/torchvision/datasets/__init__.py": "from .mnist import MNIST\nfrom .cifar import CIFAR10\n",
                    "packages/torchvision/datasets/vision.py":
                        "from torch.utils.data import Dataset\nclass VisionDataset(Dataset):\n"
                        "    def __init__(self, root, transform=None, target_transform=None):\n"
                        "        self.root, self.transform, self.target_transform = root, transform, target_transform\n",
                    "helper.py": "SIDE = 3\n",
                    "s.py": "from torchvision.datasets import MNIST, CIFAR10\nimport helper, numpy, torch\n"
                            "train, test = MNIST('d', download=True), CIFAR10('d', train=False)\n"
                            "picture, label = test[helper.SIDE]\n"
                            "print(len(train), len(test), picture.size, picture.mode, numpy.array(picture).shape)\n"
                            "batch = torch.utils.data.default_collate([(torch.zeros(3), test[i][1]) for i in range(4)])\n"
                            "print(batch[1].dtype, batch[1].shape, 'SIDE' in helper.__dict__)\n"}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--packages", "packages",
                                   "--format", "json"], capture_output=True, text=True, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["printed"], "60000 10000 (32, 32) RGB (32, 32, 3)\ntorch.int64 torch.Size([4]) True\n")
        self.assertEqual([(n["line"], n["text"].split("'")[0]) for n in report["notes"]], [(3, "MNIST"), (3, "CIFAR10")])

    def test_what_an_installed_package_chooses_by_values_is_all_and_told(self):
        package = ("import torch\ndef pick(x):\n    kept = torch.where(x > 0)[0]\n    rest = x[x > 1]\n"
                   "    rows = torch.masked_select(x, x > 2)\n    kinds = torch.unique(torch.arange(x.numel(), device='cuda')[kept] // 2)\n"
                   "    return len(kept), rest, len(rows), len(kinds)\n")
        own = ("import torch\nfrom picker import pick\nx = torch.randn(40, device='cuda', requires_grad=True)\n"
               "kept, rest, rows, kinds = pick(x)\nrest.sum().backward()\nprint(kept, len(rest), rows, kinds)\n")

        def run(body, *options):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "packages").mkdir()
                (pathlib.Path(folder) / "packages" / "picker.py").write_text(package, encoding="utf-8")
                (pathlib.Path(folder) / "s.py").write_text(body, encoding="utf-8")
                done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--packages", "packages",
                                       "--format", "json", *options], capture_output=True, text=True, check=False, cwd=folder)
            return json.loads(done.stdout) if done.returncode == 0 else done.stderr

        report = run(own)
        self.assertEqual(report["printed"], "40 40 40 20\n")
        told = [(n["line"], n["times"]) for n in report["notes"] if n["text"].startswith("how many are chosen here is not known: taken to be all")]
        self.assertEqual(told, [(3, 1), (4, 1), (5, 1)])
        self.assertTrue(report["notes"][0]["text"].endswith("picker.py:3=NUMBER, SHARE% or LOW..HIGH says otherwise"), report["notes"])
        self.assertEqual(run(own, "--assume", "picker.py:4=25%")["printed"], "40 10 40 20\n")
        self.assertEqual(run(own, "--assume", "picker.py:4=7", "--assume", "picker.py:5=1000")["printed"], "40 7 40 20\n")
        both = run(own, "--assume", "picker.py:4=0%..50%")
        self.assertEqual((both["printed"], len(both["alternatives"])), ("40 20 40 20\n", 2))
        self.assertIn("a share is not from 0% to 100%", run(own, "--assume", "picker.py:4=130%"))
        # What the user's own text chooses the user is asked for.
        self.assertIn("s.py:3:1: error: a size depends on a value that is not known",
                      run("import torch\nx = torch.randn(40, device='cuda')\nx[x > 0]\n"))

    def test_parts_whose_sizes_nobody_knows_are_equal_in_an_installed_package(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "packages").mkdir()
            (pathlib.Path(folder) / "packages" / "parter.py").write_text(
                "def parts(x, sizes):\n    return [len(part) for part in x.split([2, *sizes])]\n", encoding="utf-8")
            head = "import torch\nfrom parter import parts\nx = torch.randn(12, device='cuda')\nn = (x[:3] > 0).long().tolist()\n"
            done = []
            for last in ("print(parts(x, n))\n", "x.split(n)\n"):
                (pathlib.Path(folder) / "s.py").write_text(head + last, encoding="utf-8")
                done.append(subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--packages", "packages",
                                            "--format", "json"], capture_output=True, text=True, check=False, cwd=folder))
        report = json.loads(done[0].stdout)
        self.assertEqual(report["printed"], "[2, 3, 3, 4]\n")
        self.assertIn("into what sizes this is split is not known: taken to be equal ones", [n["text"] for n in report["notes"]])
        self.assertIn("s.py:5:1: error: a size depends on a value that is not known", done[1].stderr)

    def test_a_script_is_ended_after_so_many_steps(self):
        body = ("net = torch.nn.Linear(4, 4, device='cuda')\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\ntry:\n    while True:\n"
                "        net(torch.randn(2, 4, device='cuda')).sum().backward()\n        optimizer.step()\nfinally:\n    torch.randn(4096, device='cuda')\n")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s.py").write_text("import torch\n" + body, encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--steps", "3", "--format", "json"],
                                  capture_output=True, text=True, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertIn("the program is ended after 3 steps, as --steps or script.steps asks", [n["text"] for n in report["notes"]])
        self.assertNotIn("16384", done.stdout)
        self.assertIn("forward 2", done.stdout)
        self.assertNotIn("forward 3", done.stdout)

    def test_a_check_of_a_count_that_nobody_knows_finds_no_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "packages").mkdir()
            (pathlib.Path(folder) / "packages" / "metric_like.py").write_text(
                "import torch\ndef validate(target, classes):\n    found = len(torch.unique(target))\n"
                "    if classes is None:\n        raise ValueError('how many?')\n    if found > classes:\n"
                "        raise RuntimeError(f'found {found} of {classes}')\n    print('valid')\n", encoding="utf-8")
            (pathlib.Path(folder) / "s.py").write_text(
                "import torch\nfrom metric_like import validate\nlabels = torch.randint(0, 3, (40,), device='cuda')\n"
                "for classes in 3, 50:\n    validate(labels, classes)\ntry:\n    validate(torch.arange(4, device='cuda'), 3)\n"
                "except RuntimeError as error:\n    print(error)\n"
                "try:\n    validate(labels, None)\nexcept ValueError as error:\n    print(error)\n", encoding="utf-8")
            done = subprocess.run([TIDEMARK, "run", "s.py", "--device", "h100-sxm-80gb", "--packages", "packages",
                                   "--format", "json"], capture_output=True, text=True, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["printed"], "valid\nvalid\nfound 4 of 3\nhow many?\n")
        self.assertIn(("a check of how many are chosen is taken to find no fault", 1), [(n["text"], n["times"]) for n in report["notes"]])

    def test_a_mask_of_several_dimensions_stands_beside_other_indices(self):
        report = self.run_script("y = torch.zeros(3, 4, 5, device='cuda')\nm = torch.ones(3, 4, device='cuda', dtype=torch.bool)\n"
                                 "at = torch.zeros(12, device='cuda', dtype=torch.int64)\ny[m, at] = 1.0\nprint(y[m, at].shape, y[m, 1:3].shape)\n")
        self.assertEqual(report["printed"], "torch.Size([12]) torch.Size([12, 2])\n")


if __name__ == "__main__":
    unittest.main()
