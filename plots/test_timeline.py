#!/usr/bin/env python3
"""Tests of timeline.py: that it reads both forms, keeps every peak, refuses what is no timeline, and draws the sample."""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
    import numpy as np
except ImportError as missing:
    print(f"skipped: 1 suite of plots, {missing}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import timeline  # noqa: E402

SAMPLE = HERE / "sample" / "timeline.csv.gz"
SMALL_CSV = """index,action,bytes,phase,op,reserved_bytes,allocated_bytes,parameters_bytes,activations_bytes
0,segment_alloc,2097152,model,to,2097152,0,0,0
1,alloc,1000,model,to,2097152,1024,1024,0
2,alloc,4000,forward 0,"fc: a, b",2097152,5120,1024,4096
3,free_requested,4000,forward 0,drop,2097152,1024,1024,0
"""
SMALL_JSON = {
    "schema_version": 1,
    "kind": "timeline",
    "device": {"name": "Test GPU", "total_bytes": 8388608, "context_bytes": 1048576},
    "events": 4,
    "phases": [{"name": "model", "first_event": 0, "events": 2}, {"name": "forward 0", "first_event": 2, "events": 2}],
    "columns": {
        "action": ["segment_alloc", "alloc", "alloc", "free_requested"],
        "reserved_bytes": [2097152] * 4,
        "allocated_bytes": [0, 1024, 5120, 1024],
        "parameters_bytes": [0, 1024, 1024, 1024],
        "activations_bytes": [0, 0, 4096, 0],
    },
}


def run(*args, stdin=None, script="timeline.py"):
    return subprocess.run([sys.executable, str(HERE / script), *args], capture_output=True, input=stdin, check=False)


class ReadTimeline(unittest.TestCase):
    def test_csv_and_json_give_the_same_columns_and_phases(self):
        from_csv = timeline.from_csv(SMALL_CSV)
        from_json = timeline.from_json(SMALL_JSON)
        for name in ("reserved_bytes", "allocated_bytes", "parameters_bytes", "activations_bytes"):
            np.testing.assert_array_equal(from_csv["columns"][name], from_json["columns"][name])
        self.assertEqual(list(from_csv["phase"]), ["model", "model", "forward 0", "forward 0"])
        self.assertEqual(list(from_csv["phase"]), list(from_json["phase"]))

    def test_other_files_are_refused(self):
        for text in ("", "a,b\n1,2\n"):
            with self.assertRaises(timeline.InputError):
                timeline.from_csv(text)
        with self.assertRaises(timeline.InputError):
            timeline.from_json({"kind": "run", "schema_version": 1})
        with self.assertRaises(timeline.InputError):
            timeline.from_json({**SMALL_JSON, "schema_version": 2})


class Parts(unittest.TestCase):
    def test_thinning_keeps_both_peaks_and_both_ends(self):
        generator = np.random.default_rng(1)
        allocated = generator.integers(0, 1000, 50_000)
        reserved = allocated + generator.integers(0, 1000, 50_000)
        chosen = timeline.choose_columns(allocated, reserved)
        self.assertLessEqual(len(chosen), timeline.MAX_COLUMNS + 4)
        self.assertEqual(allocated[chosen].max(), allocated.max())
        self.assertEqual(reserved[chosen].max(), reserved.max())
        self.assertEqual((chosen[0], chosen[-1]), (0, 49_999))

    def test_phases_become_runs(self):
        phase = np.array(["model", "model", "forward 0", "forward 0", "forward 1"], dtype=object)
        self.assertEqual(timeline.spans(phase), [("model", 0, 2), ("forward 0", 2, 4), ("forward 1", 4, 5)])
        self.assertEqual(timeline.split_phase("forward 1.2"), ("forward", "1.2"))
        self.assertEqual(timeline.split_phase("optimizer_init"), ("optimizer_init", ""))

    def test_amounts_are_short(self):
        self.assertEqual([timeline.human(n) for n in (12, 2048, 3 << 20, 110 << 20, 85017755648)],
                         ["12 B", "2 KiB", "3 MiB", "110 MiB", "79.2 GiB"])

    def test_the_curves_are_the_columns(self):
        figure = timeline.draw(timeline.from_json(SMALL_JSON), title="small")
        axes = figure.axes[0]
        reserved = next(line for line in axes.lines if line.get_linewidth() == 1.5)
        np.testing.assert_allclose(reserved.get_ydata(), [2] * 5)  # MiB, the last value held to the right edge
        texts = [text.get_text() for text in axes.texts]
        self.assertIn("peak allocated 5 KiB", texts)
        self.assertIn("peak reserved 2 MiB", texts)
        self.assertTrue(any(text.startswith("device: 7 MiB") for text in texts))


    def test_the_host_has_a_panel_of_its_own(self):
        host = {"event": np.array([0, 0, 2]), "host_bytes": np.array([3 << 20, 7 << 20, 4 << 20]),
                "pageable_bytes": np.array([3 << 20, 3 << 20, 0]), "pinned_bytes": np.array([0, 4 << 20, 4 << 20])}
        figure = timeline.draw(timeline.from_json(SMALL_JSON), host=host)
        below = figure.axes[1]
        np.testing.assert_allclose(below.lines[0].get_ydata(), [0, 3, 7, 4, 4])  # MiB, from nothing to the right edge
        np.testing.assert_allclose(below.lines[0].get_xdata(), [0, 0, 0, 2, 4])
        self.assertIn("peak of the host 7 MiB", [text.get_text() for text in below.texts])
        self.assertEqual(below.get_xlim(), figure.axes[0].get_xlim())


class WholeProgram(unittest.TestCase):
    def test_the_sample_is_drawn_in_every_format_the_same_each_time(self):
        begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
        with tempfile.TemporaryDirectory() as folder:
            for ending, begin in begins.items():
                written = []
                for name in ("a", "b"):
                    path = pathlib.Path(folder) / f"{name}.{ending}"
                    done = run(str(SAMPLE), "-o", str(path), "--title", "sample", "--device-bytes", "85017755648")
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    written.append(path.read_bytes())
                self.assertTrue(written[0].startswith(begin))
                self.assertGreater(len(written[0]), 5000)
                self.assertEqual(written[0], written[1])

    def test_several_timelines_are_drawn_beside_each_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "compare.png"
            args = [str(SAMPLE)] * 3 + ["-o", str(path), "--title", "thrice"]
            done = run(*args, "--names", "a,b,c", script="compare.py")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertTrue(path.read_bytes().startswith(b"\x89PNG"))
            self.assertEqual(run(*args, "--names", "a,b", script="compare.py").returncode, 2)

    def test_standard_input_and_gzip_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.png"
            done = run("-", "-o", str(path), stdin=gzip.compress(json.dumps(SMALL_JSON).encode()))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertTrue(path.exists())

    def test_errors_are_one_line_and_an_exit_code(self):
        done = run("-", "-o", "x.png", stdin=b"a,b\n1,2\n")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.decode(), "-: no timeline: the header has no allocated_bytes and reserved_bytes\n")
        self.assertEqual(run("no-such-file.csv", "-o", "x.png").returncode, 4)
        self.assertEqual(run(str(SAMPLE), "-o", "x.gif").returncode, 2)
        done = run(str(SAMPLE), "-o", "x.png", "--host", "-", stdin=b"a,b\n1,2\n")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.decode(), "-: no host timeline: expected rows with event, host_bytes, pageable_bytes and pinned_bytes\n")
        self.assertEqual(run("-", "-o", "x.png", "--x", "time", stdin=SMALL_CSV.encode()).returncode, 2)


if __name__ == "__main__":
    unittest.main()
