#!/usr/bin/env python3
"""The page of `tidemark report` on a sweep, the pictures of plots/plot.py on one, and its table as Parquet.

    sweep_page_test.py TIDEMARK
"""

import importlib.util
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
SCENARIO = ROOT / "configs/scenarios/gpt2_sweep.yaml"


def run(*words):
    environment = {**os.environ, "TIDEMARK_PYTHON": sys.executable}
    return subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True, text=True, check=False, env=environment)


class SweepPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.results = cls.root / "gpt2.sqlite"
        done = run(TIDEMARK, "sweep", SCENARIO, "--out", cls.results)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def page(self, *words):
        path = self.root / "page.html"
        done = run(TIDEMARK, "report", self.results, "-o", path, *words)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{path}\n", ""))
        return path

    def test_the_answer_stands_first_and_the_page_asks_no_network(self):
        text = self.page().read_text()
        self.assertLess(text.index("54 of 80 combinations fit; 26 run out of memory."), text.index("<script"))
        self.assertIn("batch_size goes up to 64 on h100, the largest that was tried (seq_len 512, allocator.conf", text)
        for outside in ("<script src", "<link", "@import", "https://"):
            self.assertNotIn(outside, text)
        self.assertLess(len(text.rsplit("<script>", 1)[1]), 40_000)

    def test_every_row_can_be_made_again_by_its_command(self):
        data = self.page("--where", "device = 'a10g' and batch_size = 4 and seq_len = 512").read_text()
        data = json.loads(data.split('id="data">')[1].split("</script>")[0])
        self.assertEqual(len(data["cells"]["number"]), 2)
        peaks = data["figures"][0]["values"]
        for i in range(2):
            words = data["again"] + "".join(f" {axis['options'][at[i]]}" for axis, at in zip(data["axes"], data["cells"]["at"]) if at[i] >= 0)
            done = run(TIDEMARK, *shlex.split(words)[1:], "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["devices"][0]["peak_reserved"]["bytes"], peaks[i])

    @unittest.skipIf(browser.program() is None, "no Chromium to open pages in")
    def test_each_time_has_its_band(self):
        page = browser.Browser()
        self.addCleanup(page.close)
        page.open(self.page())
        page.value("(document.querySelector('#map-place button').click(), 0)")
        shown = page.value("[...document.querySelectorAll('tr')].map(r => r.textContent).filter(t => t.startsWith('time'))")
        self.assertEqual(len(shown), 1, shown)
        self.assertRegex(shown[0], r"^time[0-9.]+ m?s \([0-9.]+ m?s to [0-9.]+ m?s\)$")

    @unittest.skipIf(browser.program() is None, "no Chromium to open pages in")
    def test_what_is_shown_and_clicked(self):
        page = browser.Browser()
        self.addCleanup(page.close)
        page.open(self.page())
        text = lambda selector: page.value(f"document.querySelector('{selector}').textContent")  # noqa: E731
        reach = dict(page.value("[...document.querySelectorAll('#reach thead th')].slice(1).map((h, i) => "
                                "[h.textContent, document.querySelectorAll('#reach tbody td')[i].textContent])"))
        self.assertEqual(reach["h100"], "64 or more")
        for device, said in reach.items():
            rows = json.loads(run(TIDEMARK, "results", self.results, "--where", f"device = '{device}' and status = 'fits'", "--format", "json", "--limit", "0").stdout)
            self.assertEqual(said.split()[0], str(max(row["batch_size"] for row in rows)), device)
        # Another device, by its control. Failed cells are told as such, and look so.
        before = text("#choice")
        page.value("(() => { const s = [...document.querySelectorAll('#controls label')].find(l => l.textContent.startsWith('device')).querySelector('select'); "
                   "s.selectedIndex = [...s.options].findIndex(o => o.text === 't4'); s.dispatchEvent(new Event('change')); })()")
        self.assertNotEqual(text("#choice"), before)
        states = page.value("[...document.querySelectorAll('#map td')].map(t => [t.className, t.textContent])")
        self.assertEqual({kind for kind, _ in states if kind}, {"fits", "oom"})
        self.assertTrue(all((words == "OOM") == (kind == "oom") for kind, words in states), states)
        left, top, width, height = page.box("#map td.oom button")
        page.click(left + width / 2, top + height / 2)
        self.assertIn("out of memory", text("#cell"))
        done = run(TIDEMARK, *shlex.split(text("#cell pre"))[1:])
        self.assertIn("DOES NOT FIT.", done.stdout)
        self.assertGreater(page.value("document.querySelectorAll('#lines circle').length"), 1)
        self.assertGreater(page.value("document.querySelectorAll('#lines .cross').length"), 0)
        self.assertGreater(page.value("document.querySelectorAll('#front .best').length"), 0)
        page.size(360, 800)
        page.settle()
        self.assertLessEqual(page.value("document.documentElement.scrollWidth"), 360)
        # A narrow table is pushed aside; its words stay whole, and a head stands above its numbers.
        self.assertLess(max(page.value("[...document.querySelectorAll('.scroll .row')].map(r => r.offsetHeight)")), 48)
        heads = page.value("[...document.querySelectorAll('.scroll thead:has(+ tbody .row) th')].slice(0, 2).map(h => getComputedStyle(h).textAlign)")
        self.assertEqual(heads, ["right", "right"])
        self.assertEqual(page.errors, [])

    def test_options_of_one_run_are_refused(self):
        done = run(TIDEMARK, "report", self.results, "--gpu", "0")
        self.assertEqual((done.returncode, done.stderr),
                         (2, f"error: --gpu: is for a page on one run; '{self.results}' holds a sweep; --where chooses cells\n"))
        done = run(TIDEMARK, "report", SCENARIO, "--where", "1")
        self.assertEqual((done.returncode, done.stderr), (2, f"error: --where: is for a sweep; '{SCENARIO}' holds none\n"))

    def test_pictures_show_one_cell_at_one_place(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no matplotlib (Debian: python3-matplotlib)")
        picture = self.root / "map.png"
        plot = [sys.executable, ROOT / "plots/plot.py"]
        several = run(*plot, "heatmap", self.results, "-o", picture)
        self.assertEqual(several.returncode, 2)
        self.assertIn("several cells at one place: choose a value of ", several.stderr)
        done = run(*plot, "heatmap", self.results, "-o", picture, "--where", "device = 'h100' and \"allocator.conf\" = ''")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))

    def test_parquet_has_the_same_rows_or_says_what_it_needs(self):
        path = self.root / "r.parquet"
        done = run(TIDEMARK, "results", self.results, "--format", "parquet", "-o", path)
        if importlib.util.find_spec("pyarrow") is None:
            self.assertEqual(done.returncode, 4)
            self.assertIn(f"--format parquet: {path} was not written; it needs pyarrow: ", done.stderr)
            self.assertFalse(path.exists())
            return
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        from pyarrow import parquet
        rows = json.loads(run(TIDEMARK, "results", self.results, "--format", "json").stdout)
        self.assertEqual(parquet.read_table(path).to_pylist(), rows)

    def test_parquet_is_not_for_a_terminal(self):
        done = run(TIDEMARK, "results", self.results, "--format", "parquet")
        self.assertEqual((done.returncode, done.stderr), (2, "error: --format parquet: is not for a terminal; give --output FILE\n"))


if __name__ == "__main__":
    TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    for test, why in result.skipped:
        print(f"skipped: {test.id()}: {why}")
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)  # CTest counts 77
