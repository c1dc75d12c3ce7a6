"""run(): the command line's numbers, arrays without copies, tables, a notebook's view."""
import gc
import io
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy
import pandas
from support import MLP, SIMPLE, document, program

import tidemark


class Import(unittest.TestCase):
    def test_importing_the_package_loads_neither_torch_nor_pandas_nor_numpy(self):
        seen = "import sys, tidemark; from tidemark import *; tidemark.devices(); print([m for m in ('torch', 'pandas', 'numpy') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", seen], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "[]")

    def test_the_version_is_the_programs(self):
        self.assertEqual(program("--version").split()[1], tidemark.__version__)

    def test_every_public_name_is_there_and_has_a_docstring(self):
        for name in tidemark.__all__:
            if name != "__version__":
                self.assertTrue(getattr(tidemark, name).__doc__, name)


class Numbers(unittest.TestCase):
    def test_the_document_is_the_command_lines(self):
        self.assertEqual(tidemark.run(SIMPLE).document, document("run", SIMPLE))

    def test_overrides_and_device_do_what_set_and_device_do(self):
        ours = tidemark.run(SIMPLE, set={"batch": [8, 4], "train.steps": 2, "allocator.conf": "expandable_segments:True"}, device="t4")
        theirs = document("run", SIMPLE, "--device", "t4", "--set", "batch=[8, 4]", "--set", "train.steps=2",
                          "--set", "allocator.conf=expandable_segments:True")
        self.assertEqual(ours.document, theirs)

    def test_a_text_of_ones_own_is_a_scenario_like_any_other(self):
        scenario = tidemark.Scenario.from_text(MLP)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.yaml")
            scenario.save(path)
            theirs = document("run", path)
        ours = tidemark.run(scenario).document
        self.assertEqual(ours["devices"], theirs["devices"])

    def test_the_text_is_the_command_lines(self):
        self.assertEqual(tidemark.run(SIMPLE).text(), program("run", SIMPLE))

    def test_running_out_of_memory_is_a_result(self):
        result = tidemark.run(SIMPLE, set={"batch": 100000}, device="rtx-3060")
        self.assertTrue(result.ended_by_oom)
        self.assertFalse(result.fits)
        self.assertIn("CUDA out of memory", result.devices[0].ooms[0]["message"])
        self.assertIn("fault", result.diagnosis())

    def test_what_a_run_rests_on_is_told_with_both_peaks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import random, torch\nn = random.randint(1, 9)\nx = torch.randn(n, 1024, device='cuda')\n"
                           "if x.sum() > 5:\n    y = torch.zeros(8, device='cuda')\n")
            result = tidemark.run(path, device="h100-sxm-80gb")
            theirs = document("run", path, "--device", "h100-sxm-80gb")
        self.assertEqual([(each["line"], each["text"], each["direction"], each["times"]) for each in result.assumptions], [(4, "x.sum() > 5", False, 1)])
        self.assertEqual([each["line"] for each in result.notes], [2])
        self.assertIn("random is used without a seed", result.notes[0]["text"])
        self.assertEqual((result.assumptions, result.notes), (theirs["assumptions"], theirs["notes"]))
        for name in ("peak_allocated", "peak_reserved"):
            self.assertEqual(getattr(result, name).bytes, theirs["devices"][0][name]["bytes"])
        self.assertLess(result.peak_allocated.bytes, result.peak_reserved.bytes)

    def test_without_events_the_peaks_are_the_same(self):
        whole, short = tidemark.run(SIMPLE), tidemark.run(SIMPLE, events=False)
        self.assertEqual(whole.peak_reserved.bytes, short.peak_reserved.bytes)
        self.assertEqual(len(short.timeline), 0)

    def test_steps_that_repeat_are_left_out_when_asked(self):
        scenario = tidemark.Scenario.from_text(MLP).having({"train.steps": 100000})
        result = tidemark.run(scenario, every_step=False)
        self.assertEqual(len(result.document["repeats"]), 1)

    def test_warnings_of_the_scenario_become_pythons(self):
        scenario = tidemark.Scenario.from_text(MLP).having({"allocator.conf": "release_lock_on_cudamalloc:True"}, variant="")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            checked = scenario.check()
            tidemark.run(scenario)
        self.assertEqual([str(each.message) for each in seen], checked)


class Timelines(unittest.TestCase):
    def test_arrays_are_read_only_views_of_one_memory(self):
        timeline = tidemark.run(SIMPLE).timeline
        self.assertFalse(timeline.bytes.flags.owndata)
        self.assertFalse(timeline.bytes.flags.writeable)
        # An event is 32 bytes: address 8, bytes 8, id 4, instruction 4, stream 2, action 1, device 1.
        self.assertEqual(timeline.bytes.strides, (32,))
        places = {name: getattr(timeline, name).__array_interface__["data"][0] for name in ("address", "bytes", "id")}
        self.assertEqual((places["bytes"] - places["address"], places["id"] - places["address"]), (8, 16))
        self.assertEqual(timeline.reserved_bytes.strides, (48,))

    def test_an_array_keeps_the_run_alive(self):
        reserved = tidemark.run(SIMPLE).timeline.reserved_bytes
        gc.collect()
        self.assertEqual(int(reserved.max()), document("run", SIMPLE)["devices"][0]["peak_reserved"]["bytes"])

    def test_the_table_is_the_timeline_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.csv")
            program("run", SIMPLE, "--timeline", path)
            theirs = pandas.read_csv(path, keep_default_na=False, index_col="index")
        ours = tidemark.run(SIMPLE).timeline.frame()
        self.assertEqual(list(ours.columns), list(theirs.columns))
        for column in theirs.columns:
            self.assertTrue((ours[column].astype(theirs[column].dtype) == theirs[column]).all(), column)

    def test_the_hosts_memory_is_views_too_and_the_table_its_file(self):
        host = tidemark.run(SIMPLE).host_timeline
        self.assertFalse(host.pageable_bytes.flags.owndata or host.pageable_bytes.flags.writeable)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "h.csv")
            program("run", SIMPLE, "--host-timeline", path)
            theirs = pandas.read_csv(path, keep_default_na=False, index_col="index")
        ours = host.frame()
        self.assertGreater(len(ours), 0)
        self.assertEqual(list(ours.columns), list(theirs.columns))
        for column in theirs.columns:
            self.assertTrue((ours[column].astype(theirs[column].dtype) == theirs[column]).all(), column)

    def test_categories_add_up_to_what_is_allocated(self):
        timeline = tidemark.run(SIMPLE).timeline
        stacked = timeline.by_category()
        self.assertEqual(next(iter(stacked)), "parameters")
        self.assertTrue((sum(stacked.values()) == timeline.allocated_bytes).all())

    def test_phases_hold_every_event(self):
        device = tidemark.run(SIMPLE).devices[0]
        counts = numpy.bincount(device.timeline.phase, minlength=len(device.phases))
        self.assertEqual(list(counts), [phase.events for phase in device.phases])
        self.assertEqual(len(device.frame()), len(device.phases))

    def test_events_are_written_as_the_command_line_does(self):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = os.path.join(folder, "a.csv"), os.path.join(folder, "b.csv")
            tidemark.run(SIMPLE).devices[0].save_events(ours)
            program("run", SIMPLE, "--events", theirs)
            with open(ours, encoding="utf-8") as a, open(theirs, encoding="utf-8") as b:
                self.assertEqual(a.read(), b.read())

    def test_memory_stats_are_the_stats_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            program("run", SIMPLE, "--stats", path)
            theirs = pandas.read_json(path, typ="series", dtype=False)
        self.assertEqual(tidemark.run(SIMPLE).devices[0].memory_stats(), {key: int(value) for key, value in theirs.items()})


class Notebook(unittest.TestCase):
    def test_a_result_shows_the_answer_the_peaks_and_a_curve(self):
        html = tidemark.run(SIMPLE)._repr_html_()
        for part in ("FITS", "115,343,360", "activations", "<svg", "<polyline"):
            self.assertIn(part, html)
        self.assertNotIn("<script", html)

    def test_a_refusal_shows_pytorchs_message(self):
        html = tidemark.run(SIMPLE, set={"batch": 100000}, device="rtx-3060")._repr_html_()
        self.assertIn("DOES NOT FIT", html)
        self.assertIn("CUDA out of memory", html)

    def test_names_from_the_scenario_are_escaped(self):
        html = tidemark.run(tidemark.Scenario.from_text(MLP, name="<b>&"))._repr_html_()
        self.assertIn("&lt;b&gt;&amp;", html)

    def test_it_is_well_formed(self):
        import xml.dom.minidom

        html = tidemark.run(SIMPLE)._repr_html_().replace("&nbsp;", " ")
        xml.dom.minidom.parse(io.StringIO(html))


if __name__ == "__main__":
    unittest.main()
