"""replay(), fit(), sweep(), explain(): the command line's numbers, tables, files that both read."""
import os
import tempfile
import threading
import unittest

import pandas
from support import CONFIGS, MLP, SIMPLE, TRACES, document, program

import tidemark

TRACE = next(iter(sorted(TRACES.rglob("*.tmt.gz"))))


class Replay(unittest.TestCase):
    def test_several_settings_are_the_command_lines_rows(self):
        confs = ["", "expandable_segments:True", "backend:ideal"]
        ours = tidemark.replay(TRACE, confs, device="a100-sxm-40gb")
        words = [word for conf in confs for word in ("--alloc-conf", conf)]
        self.assertEqual(ours.document, document("replay", TRACE, "--device", "a100-sxm-40gb", *words))
        self.assertEqual(list(ours.frame()["alloc_conf"]), confs)

    def test_its_timeline_is_the_timeline_file(self):
        ours = tidemark.replay(TRACE, events=True).timeline().frame()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.csv")
            program("replay", TRACE, "--timeline", path)
            theirs = pandas.read_csv(path, keep_default_na=False, index_col="index")
        self.assertEqual(list(ours.columns), list(theirs.columns))
        for column in theirs.columns:
            self.assertTrue((ours[column].astype(theirs[column].dtype) == theirs[column]).all(), column)

    def test_without_events_there_is_no_timeline(self):
        with self.assertRaisesRegex(ValueError, "events=True"):
            tidemark.replay(TRACE).timeline()

    def test_a_snapshot_is_compared_with_its_recording_and_ranked(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.pickle")
            tidemark.run(SIMPLE).save_snapshot(path)
            ours = tidemark.replay(path, grid=True)
            self.assertEqual(ours.document, document("replay", path, "--grid"))
            self.assertTrue(ours.recording["agrees"])
            part = tidemark.replay(path, start="step:1", stop="step:2", device_bytes=1 << 30)
            self.assertEqual(part.document, document("replay", path, "--from", "step:1", "--to", "step:2", "--device-bytes", "1GiB"))

    def test_what_is_for_snapshots_is_refused_for_traces(self):
        with self.assertRaises(tidemark.InputError):
            tidemark.replay(TRACE, grid=True)


class Fit(unittest.TestCase):
    def test_the_largest_value_is_the_command_lines(self):
        ours = tidemark.fit(SIMPLE, set={"batch": 1, "device": "t4"})
        self.assertEqual(ours.document, document("fit", SIMPLE, "--set", "batch=1", "--set", "device=t4"))
        self.assertEqual(ours.path, "train.batch")
        probes = ours.frame()
        self.assertTrue(probes[probes["value"] == ours.best]["fits"].all())

    def test_headroom_is_a_share(self):
        ours = tidemark.fit(SIMPLE, headroom=0.5, set={"batch": 1, "device": "t4"})
        self.assertEqual(ours.document, document("fit", SIMPLE, "--headroom", "50%", "--set", "batch=1", "--set", "device=t4"))

    def test_the_smallest_gpu_comes_with_larger_ones(self):
        found = tidemark.fit_devices(SIMPLE)
        sizes = [each.total_bytes for each in found]
        self.assertEqual(sizes, sorted(sizes))
        self.assertTrue(found[-1].fits)


class Sweep(unittest.TestCase):
    def scenario(self):
        return tidemark.Scenario.from_text(MLP)

    def test_a_table_of_every_cell(self):
        swept = tidemark.sweep(self.scenario())
        table = swept.frame()
        self.assertEqual((len(table), swept.cells, swept.axes), (6, 6, ["batch", "width"]))
        self.assertTrue((table["status"] == "fits").all())
        # Each cell is the run of its scenario.
        for row in table.itertuples():
            alone = tidemark.run(self.scenario(), set={"batch": row.batch, "width": row.width}, events=False)
            self.assertEqual(row.peak_reserved, alone.peak_reserved.bytes)

    def test_queries_are_those_of_results(self):
        swept = tidemark.sweep(self.scenario())
        self.assertEqual(swept.columns("batch = 16", columns=["width"], sort=["-width"]), {"width": [1024, 512, 256]})
        self.assertEqual(len(swept.frame(pivot=["batch", "width", "peak_reserved"]).columns), 4)
        with self.assertRaises(tidemark.InputError):
            swept.columns("no such column")

    def test_a_file_is_resumed_and_read_by_both(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.sqlite")
            part = tidemark.sweep(self.scenario(), out=path, shard=(1, 2))
            self.assertLess(len(part), 6)
            with self.assertRaises(OSError):
                tidemark.sweep(self.scenario(), out=path)
            whole = tidemark.sweep(self.scenario(), out=path, resume=True)
            self.assertEqual(len(whole), 6)
            del part, whole
            self.assertEqual(tidemark.results(path).frame().to_dict("list"), tidemark.sweep(self.scenario()).frame().to_dict("list"))
            self.assertEqual(program("results", path, "--format", "csv").count("\n"), 7)

    def test_progress_is_told_and_an_interruption_ends_it(self):
        told = []

        def interrupt(done, cells):
            told.append((done, cells))
            raise KeyboardInterrupt

        many = self.scenario().having({"train.steps": 20})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.sqlite")
            with self.assertRaises(KeyboardInterrupt):
                tidemark.sweep(many, out=path, threads=1, progress=interrupt)
            self.assertEqual(told[0][1], 6)
            self.assertEqual(len(tidemark.sweep(many, out=path, resume=True)), 6)


class Explain(unittest.TestCase):
    def test_a_run_a_snapshot_and_a_trace_are_explained(self):
        result = tidemark.run(SIMPLE)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.pickle")
            result.save_snapshot(path)
            of_file = tidemark.explain(path, churn=True)
            self.assertEqual(of_file.document, document("explain", path, "--top", "1000000"))
            self.assertEqual(of_file.churn, document("explain", path, "--churn", "--top", "1000000"))
        self.assertEqual(result.explain("step:1").document, document("explain", SIMPLE, "--at", "step:1", "--top", "1000000"))
        self.assertGreater(len(of_file.frame()), 0)
        self.assertEqual(tidemark.explain(TRACE).document, document("explain", TRACE, "--top", "1000000"))

    def test_a_refusal_has_its_class_and_what_helps(self):
        result = tidemark.run(CONFIGS / "batch_order.yaml", set={"device.total": "14GiB"})
        self.assertEqual(result.explain().oom["class"], "fragmentation")


class Threads(unittest.TestCase):
    def test_runs_in_several_threads_are_independent(self):
        want = tidemark.run(SIMPLE).document
        got = [None] * 4

        def work(i):
            got[i] = tidemark.run(SIMPLE).document

        workers = [threading.Thread(target=work, args=(i,)) for i in range(len(got))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(got, [want] * len(got))

    def test_the_lock_is_free_while_a_run_goes_on(self):
        long = tidemark.Scenario.from_text(MLP).having({"train.steps": 3000})
        turns = 0
        worker = threading.Thread(target=lambda: tidemark.run(long))
        worker.start()
        while worker.is_alive():
            turns += 1
        # With the lock held this thread would have had a turn before and after, and none between.
        self.assertGreater(turns, 1000)


if __name__ == "__main__":
    unittest.main()
