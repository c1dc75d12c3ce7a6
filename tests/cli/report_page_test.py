#!/usr/bin/env python3
"""The page of `tidemark report` on runs and recordings, looked at and clicked in with headless Chromium.

    report_page_test.py TIDEMARK
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIO = "configs/scenarios/simple_conv.yaml"
TIDEMARK = ""


def run(*words):
    done = subprocess.run([TIDEMARK, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), (words, done.stderr)
    return done.stdout


class Written(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def page(self, *words):
        path = self.folder / "page.html"
        self.assertEqual(run("report", *words, "-o", path), f"{path}\n")
        return path


class Files(Written):
    def test_one_file_of_our_own_script(self):
        text = self.page(SCENARIO).read_text(encoding="utf-8")
        for outside in ("<script src", "<link", "@import", "http://www.w3.org/1999", "https://"):
            self.assertNotIn(outside, text)
        script = text.rsplit("<script>", 1)[1].split("</script>")[0]
        self.assertLess(len(script.encode()), 40_000)
        self.assertLess(len(text), 100_000)

    def test_names_that_look_like_html_stay_text(self):
        program = self.folder / "a<b>&.py"
        program.write_text("import torch\nx = torch.zeros(4, device='cuda')  # </script><!--\n", encoding="utf-8")
        text = self.page(program, "--device", "t4").read_text(encoding="utf-8")
        self.assertIn("a&lt;b>&amp;.py</title>", text)
        data = text.split('id="data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(data)["runs"][0]["title"], str(program))

    def test_a_run_is_told_as_one_of_its_own_release(self):
        for release in ("2.6", "2.11", "2.15"):
            text = self.page(SCENARIO, "--set", f'pytorch="{release}"').read_text(encoding="utf-8")
            self.assertRegex(text, f"Run of device 0, [\\d,]+ events, allocator of PyTorch {release}, default settings")

    def test_the_same_run_gives_the_same_page(self):
        first = self.page(SCENARIO).read_bytes()
        self.assertEqual(self.page(SCENARIO).read_bytes(), first)


@unittest.skipIf(browser.program() is None, "no Chromium to open pages in")
class Seen(Written):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        self.browser.errors.clear()
        self.browser.media()
        self.browser.size(1280, 1000)

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])  # a request of the network is one

    def show(self, *words):
        self.browser.open(self.page(*words))
        return self.browser.value

    def refused(self):
        return self.show(SCENARIO, "--set", "batch=4096", "--set", "device={name: t4, total: 1GiB}")

    def text(self, selector):
        return self.browser.value(f"document.querySelector('{selector}').textContent")

    def test_what_it_rebuilds_is_what_the_allocator_did(self):
        for settings in ([], ["--set", "allocator.conf=expandable_segments:True"], ["--set", "allocator.conf=max_split_size_mb:21"],
                         ["--set", "allocator.conf=roundup_power2_divisions:4"]):
            stats = self.folder / "stats.json"
            run("run", SCENARIO, "--stats", stats, *settings)
            expected = json.loads(stats.read_text(encoding="utf-8"))
            value = self.show(SCENARIO, *settings)
            got = value("(() => { const r = tidemark.runs[0]; return [r.reserved[r.peakReserved], r.active[r.peakActive], r.active[r.events], r.reserved[r.events]]; })()")
            self.assertEqual(got, [expected[f"{kind}_bytes.all.{when}"] for kind, when in
                                   (("reserved", "peak"), ("active", "peak"), ("active", "current"), ("reserved", "current"))], settings)

    def test_a_recording_of_pytorch_opens_too(self):
        recording = "tests/golden/recordings/mlp.pickle.gz"
        told = json.loads(run("explain", recording, "--format", "json", "--at", "peak"))
        value = self.show(recording, "--at", "peak")
        moment = value("tidemark.sections[0].timeline.moment")
        self.assertEqual(moment, told["event"] + 1)
        self.assertEqual(value(f"tidemark.runs[0].reserved[{moment}]"), told["reserved_bytes"])
        self.assertEqual(value(f"tidemark.runs[0].active[{moment}]"), told["active_bytes"])

    def test_bands_are_painted_and_told(self):
        value = self.show(SCENARIO)
        left, top, _, _ = self.browser.box("#timeline-0")
        block, x, y = value("""(() => { const t = tidemark.sections[0].timeline, {left, top} = t.plot();
          const i = t.hit.findIndex(b => b >= 0 && tidemark.runs[0].meta.purposes[tidemark.runs[0].of[b]] === 'activations');
          return [t.hit[i], left + i % t.hitWidth + 0.5, top + Math.floor(i / t.hitWidth) + 0.5]; })()""")
        red, green, blue = self.browser.pixel("#timeline-0", x, y)
        self.assertTrue(green > red and green > blue, (red, green, blue))  # activations are green, in every shade
        self.browser.mouse("mouseMoved", left + x, top + y)
        self.browser.settle()
        size = value(f"tidemark.runs[0].asked[{block}]")
        self.assertIn(f"({size:,} bytes), activations", self.text("#tip"))
        self.browser.click(left + x, top + y)
        self.assertIn(f"({size:,} bytes), activations", self.text("#block-0"))
        self.assertIn("forward", self.text("#block-0") + self.text("#said-0") + self.text("#tip"))

    def test_a_click_shows_the_moment_and_its_segments(self):
        value = self.show(SCENARIO)
        before = self.text("#said-0")
        left, top, width, height = self.browser.box("#timeline-0")
        self.browser.click(left + 64 + 40, top + height / 2)
        moment = value("tidemark.sections[0].timeline.moment")
        self.assertNotEqual(self.text("#said-0"), before)
        self.assertIn(f"After event {moment - 1:,}", self.text("#said-0"))
        self.assertRegex(self.text("#why-0"), r"^The next request that the cache does not serve: [\d.]+ [KM]iB at event \d+ \(.*\)\. ([\d.]+ [KM]iB free|Nothing is free)")
        sums = value("""(() => { const r = tidemark.runs[0], t = tidemark.sections[0].timeline, m = tidemark.sections[0].map.memory;
          let free = 0; for (const piece of m.free()) free += piece.bytes;
          return [m.segments.reduce((s, x) => s + x.bytes, 0), free, r.reserved[t.moment], r.active[t.moment]]; })()""")
        self.assertEqual(sums[0], sums[2])
        self.assertEqual(sums[1], sums[2] - sums[3])
        self.assertEqual(len(re.findall("0x", self.text("#run-0 details:nth-of-type(2)"))), value("tidemark.sections[0].map.memory.segments.length"))

    def test_keys_wheel_and_drag_move_the_view(self):
        value = self.show(SCENARIO)
        view = "(() => { const t = tidemark.sections[0].timeline; return [t.from, t.to, t.moment]; })()"
        left, top, width, height = self.browser.box("#timeline-0")
        self.browser.click(left + width / 2, top + height / 2)
        start, end, moment = value(view)
        value("document.querySelector('#timeline-0').focus()")
        self.browser.key("+", "+")
        nearer = value(view)
        self.assertAlmostEqual(nearer[1] - nearer[0], (end - start) / 2, delta=1)
        self.browser.key("ArrowRight")
        self.assertEqual(value(view)[2], moment + 1)
        self.browser.drag(left + width / 2, top + height / 2, left + width / 2 - 100, top + height / 2)
        moved = value(view)
        self.assertGreater(moved[0], nearer[0])
        self.assertEqual(moved[2], moment + 1)  # a drag chooses nothing
        self.browser.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-120)
        self.browser.settle()
        self.assertLess(value(view)[1] - value(view)[0], moved[1] - moved[0])
        self.browser.key("0", "0")
        self.assertEqual(value(view)[:2], [start, end])
        self.browser.key("a", "a")
        self.assertEqual(value(view)[2], value("tidemark.runs[0].peakActive"))

    def test_a_refused_request_is_told_first_and_marked(self):
        value = self.refused()
        self.assertTrue(value("document.querySelector('main p').matches('.verdict.failed')"))
        self.assertTrue(self.text("main p").startswith("DOES NOT FIT."), self.text("main p"))
        self.assertTrue(self.text("#why-0").startswith("Refused: "), self.text("#why-0"))
        x, y = value("""(() => { const t = tidemark.sections[0].timeline, r = tidemark.runs[0], p = t.plot(), w = t.canvas.width - p.left - p.right,
          h = t.canvas.height - p.top - p.bottom; return [Math.round(t.x(r.ooms[0] + 0.5, p.left, w)), p.top + h - r.reserved[r.ooms[0]] / t.highest * h - 6]; })()""")
        red, green, blue = self.browser.pixel("#timeline-0", x, y)
        self.assertTrue(red > 150 and green < 150 and blue < 150, (red, green, blue))
        self.assertIn("refused", self.text("#run-0 details"))

    def test_two_runs_and_what_differs(self):
        value = self.show(SCENARIO, "--set-beside", "batch=128")
        self.assertIn("with batch=128", self.text("#run-1 h2"))
        rows = dict(value("[...document.querySelectorAll('#difference tbody tr')].map(r => [r.cells[0].textContent, r.cells[3].textContent])"))
        self.assertEqual(rows["parameters at the peak of allocated"], "=")
        self.assertRegex(rows["activations at the peak of allocated"], r"^\+[\d.]+ MiB$")
        boxes = [self.browser.box(f"#run-{i}") for i in (0, 1)]
        self.assertEqual(boxes[0][1], boxes[1][1])
        self.assertGreaterEqual(boxes[1][0], boxes[0][0] + boxes[0][2])

    def test_dark_narrow_and_print(self):
        value = self.show(SCENARIO)
        paper = "getComputedStyle(document.body).backgroundColor"
        self.assertEqual(value(paper), "rgb(255, 255, 255)")
        light = self.browser.pixel("#timeline-0", 80, 20)
        self.browser.media(scheme="dark")
        self.browser.settle()
        self.assertEqual(value(paper), "rgb(20, 24, 29)")
        self.assertNotEqual(self.browser.pixel("#timeline-0", 700, 60), light)
        self.browser.media()
        self.browser.size(360, 800)
        self.browser.settle()
        self.assertLessEqual(value("document.documentElement.scrollWidth"), 360)
        self.browser.media(kind="print")
        self.assertEqual(value("getComputedStyle(document.querySelector('.tools')).display"), "none")
        value("dispatchEvent(new Event('beforeprint'))")
        self.assertTrue(value("[...document.querySelectorAll('details')].every(d => d.open)"))

    def test_each_picture_has_words_and_a_table(self):
        value = self.show(SCENARIO)
        for name in ("timeline-0", "addresses-0"):
            self.assertGreater(len(value(f"document.getElementById('{name}').getAttribute('aria-label')")), 30)
        self.assertTrue(value("document.getElementById('timeline-0').tabIndex === 0"))
        self.assertTrue(value("document.getElementById('said-0').getAttribute('aria-live') === 'polite'"))
        self.assertGreaterEqual(value("document.querySelectorAll('#run-0 details table').length"), 3)
        self.assertIn("peak of reserved", self.text("#run-0 details"))


if __name__ == "__main__":
    TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    if result.skipped and len(result.skipped) == result.testsRun:
        print("skipped:", result.skipped[0][1])
        sys.exit(77)  # CTest counts it
    sys.exit(0 if result.wasSuccessful() else 1)
