#!/usr/bin/env python3
"""Tests of plot.py: every kind is drawn from what `tidemark` writes, shows the file's own figures, and refuses other files.

    test_plot.py TIDEMARK
"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

try:
    import matplotlib  # noqa: F401
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"skipped: 1 suite of plots, {missing}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import plot  # noqa: E402

TIDEMARK = ""
NONE = types.SimpleNamespace(names=None, device_bytes=None)


def call(*words):
    """The command in this process: exit code and what it says on standard error."""
    err, before = io.StringIO(), sys.argv
    sys.argv = ["plot.py", *words]
    try:
        with contextlib.redirect_stderr(err):
            return plot.main(), err.getvalue()
    finally:
        sys.argv = before


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


class EveryKind(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        cls.timeline, cls.events, cls.fit = (str(root / name) for name in ("t.json", "e.csv", "f.json"))
        scenario = str(HERE.parent / "configs/scenarios/simple_conv.yaml")
        subprocess.run([TIDEMARK, "run", scenario, "--timeline", cls.timeline, "--events", cls.events], check=True, capture_output=True)
        fit = [TIDEMARK, "fit", str(HERE.parent / "configs/scenarios/mlp_layers.yaml"), "--over", "width", "--format", "json"]
        pathlib.Path(cls.fit).write_bytes(subprocess.run(fit, check=True, capture_output=True).stdout)
        cls.one_run, cls.refused = str(root / "r.json"), str(root / "oom.csv")
        pathlib.Path(cls.one_run).write_bytes(subprocess.run([TIDEMARK, "run", scenario, "--format", "json"], check=True, capture_output=True).stdout)
        small = ["--set", "device=rtx-3060", "--set", "batch=100000", "--events", cls.refused]
        subprocess.run([TIDEMARK, "run", scenario, *small], check=True, capture_output=True)
        cls.swept = str(root / "s.sqlite")
        swept = root / "s.yaml"
        sweep = "sweep: {grid: {device: [t4, h100], batch: [64, 60000], allocator.conf: [\"\", \"expandable_segments:True\"]}}\n"
        swept.write_text(pathlib.Path(scenario).read_text().replace("../models", str(HERE.parent / "configs/models")) + sweep)
        subprocess.run([TIDEMARK, "sweep", str(swept), "--out", cls.swept], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def files(self, kind):
        if kind in ("map", "space", "lifetimes"):
            return [self.events]
        if kind in ("pareto", "sizes"):
            return [self.one_run] * 2
        if kind in ("heatmap", "axis"):
            return [self.swept]
        if kind in ("fit", "oom"):
            return [self.fit if kind == "fit" else self.refused]
        return [self.timeline] * (2 if kind in ("overlay", "compare") else 1)

    def test_every_kind_is_drawn_by_the_command(self):
        for kind in plot.KINDS:
            path = pathlib.Path(self.folder.name) / f"{kind}.png"
            chosen = ["--where", "\"allocator.conf\" = ''", "--y", "device"] if kind in ("heatmap", "axis") else []
            self.assertEqual(call(kind, *self.files(kind), "-o", str(path), *chosen), (0, ""), kind)
            self.assertTrue(path.read_bytes().startswith(b"\x89PNG"), kind)

    def test_growth_is_told_in_bytes_a_step(self):
        figure = plot.KINDS["growth"]([self.timeline], "", NONE)
        self.assertRegex(figure.legends[0].get_texts()[0].get_text(), r"^run 1: [+-][\d,]+ bytes a step$")

    def test_the_equation_leaves_out_what_the_peak_has(self):
        told = texts(plot.KINDS["equation"]([self.timeline], "", NONE))
        self.assertEqual(told[-1], "87.2 MiB")  # 91404288 bytes: the peak of allocated
        self.assertEqual(len(told), 3)

    def test_a_refusal_tells_what_was_asked_for(self):
        told = "\n".join(texts(plot.KINDS["oom"]([self.refused], "", NONE)))
        self.assertIn("asked for", told)
        self.assertEqual(call("oom", self.events, "-o", str(pathlib.Path(self.folder.name) / "no.png"))[0], 2)

    def test_the_waterfall_ends_at_the_device(self):
        # 110 MiB reserved at its highest and 528 MiB of context
        self.assertIn("638 MiB", texts(plot.KINDS["waterfall"]([self.timeline], "", NONE)))

    def test_the_fit_names_the_answer(self):
        best = json.loads(pathlib.Path(self.fit).read_text())["best"]
        self.assertIn(f"{best} fits, {best + 1} does not", texts(plot.KINDS["fit"]([self.fit], "", NONE)))

    def test_lifetimes_are_told_at_the_peak_of_what_was_requested(self):
        self.assertIn("peak of requested, 87.2 MiB", texts(plot.KINDS["lifetimes"]([self.events], "", NONE)))

    def test_the_map_has_one_row_a_segment(self):
        space, _ = plot.at_highest(plot.read_events(self.events))
        self.assertEqual(sum(size for size, _ in space.segments.values()), 115343360)
        figure = plot.KINDS["map"]([self.events], "", NONE)
        self.assertEqual(len(figure.axes[0].get_yticks()), len(space.segments))

    def test_each_rank_has_a_row_with_its_peak(self):
        with tempfile.TemporaryDirectory() as folder:
            paths, peaks = [], []
            for rank in range(2):
                paths.append(str(pathlib.Path(folder) / f"{rank}.json"))
                stages = ["--variant", "interleaved", "--set", f"ranks.rank={rank}", "--timeline", paths[-1]]
                subprocess.run([TIDEMARK, "run", str(HERE.parent / "tests/golden/dist/layouts.yaml"), *stages], check=True, capture_output=True)
                peaks.append(max(json.loads(pathlib.Path(paths[-1]).read_text())["columns"]["reserved_bytes"]))
            figure = plot.KINDS["ranks"](paths, "", NONE)
            picture = figure.axes[0].images[0].get_array()
            self.assertEqual(picture.shape[0], 2)
            self.assertEqual([label.get_text() for label in figure.axes[0].get_yticklabels()], ["rank 0", "rank 1"])
            self.assertEqual(texts(figure), [plot.human(peak) for peak in peaks])
            self.assertTrue((picture.max(axis=1) * 2**30 <= [*peaks]).all())
            matplotlib.pyplot.close(figure)

    def test_a_jobs_ranks_have_a_row_each_with_their_bubbles(self):
        rows = ["ranks,begin_ns,end_ns,state,phase,allocated_bytes", "0-1,0,100,idle,model,1024", "0-1,100,200,computing,forward 0,2048",
                "0-1,200,300,bubble,forward 0,1048576", "3,0,100,lagging,,0", "3,100,300,moving,forward 0,4096"]
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "ranks.csv")
            pathlib.Path(path).write_text("\n".join(rows) + "\n")
            figure = plot.KINDS["ranks"]([path], "", types.SimpleNamespace(names=None, dark=True))
            self.assertEqual(texts(figure), ["1 MiB\nbubble 50 %", "4 KiB\nbubble 0 %"])
            self.assertEqual([label.get_text() for label in figure.axes[0].get_yticklabels()], ["ranks 0-1", "rank 3"])
            self.assertEqual(call("ranks", path, "-o", path + ".svg"), (0, ""))
            pathlib.Path(path).write_text("\n".join([*rows, "3,300,400,asleep,forward 0,0"]) + "\n")
            code, told = call("ranks", path, "-o", path + ".svg")
            self.assertEqual(code, 2)
            self.assertIn("state 'asleep' is none of", told)

    def test_a_sweeps_pictures_show_one_cell_at_one_place(self):
        options = types.SimpleNamespace(names=None, device_bytes=None, x="batch", y="device", value="peak_reserved", where="\"allocator.conf\" = ''")
        figure = plot.KINDS["heatmap"]([self.swept], "", options)
        self.assertEqual([t.get_text() for t in figure.axes[0].texts].count("OOM"), 1)  # 60,000 on the T4
        code, message = call("heatmap", self.swept, "-o", "x.png")
        self.assertEqual(code, 2)
        self.assertIn("several cells at one place: choose a value of allocator.conf", message)
        code, message = call("axis", self.swept, "-o", "x.png", "--x", "bach")
        self.assertEqual((code, message), (2, f"{self.swept}: --x bach: these vary: device, batch, allocator.conf\n"))

    def test_other_files_are_refused_in_one_line(self):
        for kind, wrong in (("map", self.timeline), ("fit", self.timeline), ("gap", self.events), ("heatmap", self.events)):
            code, message = call(kind, wrong, "-o", "x.png")
            self.assertEqual((code, message.count("\n")), (2, 1), kind)


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    unittest.main()
