#!/usr/bin/env python3
"""Runs ranks of distributed scripts: Tidemark's events must be those of the real PyTorch, recorded by the oracle.

    dist_test.py TIDEMARK

A line of list.txt is a recording of 2.11: `NAME: SCRIPT --rank R --world N [--settle] [--compiled warm]`; NAME.events.gz has its events. One of
releases.txt is the same of another release, which comes first. Addresses and streams are compared by the order in which they
first appear.
"""

import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tools"))
from hunting import chance  # noqa: E402

PROGRAM = sys.argv.pop(1)
DEVICE = ["--device", "h100-sxm-80gb", "--set", "backends.cudnn_sdp=false"]
OF_THE_ORACLE = ("--settle", "--compiled", "warm")  # how it records
SETTING = [*DEVICE, "--set", "pytorch=2.11"]


def events(text):
    """(action, bytes, number of the stream, number of the address) of each event"""
    streams, addresses = {}, {}
    rows = [row for row in csv.DictReader(text.splitlines()) if row["action"] != "snapshot"]
    return [
        (
            row["action"],
            int(row["bytes"]),
            streams.setdefault(row["stream"], len(streams)),
            addresses.setdefault(row["address"], len(addresses)),
        )
        for row in rows
    ]


def recordings():
    """(release, name, script, options) of each recording"""
    for file, release in (("list.txt", "2.11"), ("releases.txt", "")):
        for line in (HERE / file).read_text().splitlines():
            if line.startswith("#"):
                continue
            names, rest = line.split(": ")
            script, *options = rest.split()
            yield release or names.split()[0], names.split()[-1], script, [x for x in options if x not in OF_THE_ORACLE]


def simulated(release, script, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "events.csv"
        command = [PROGRAM, "run", HERE / script, *DEVICE, "--set", f"pytorch={release}", "--events", path, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if not path.exists():
            raise AssertionError(done.stderr)
        return events(path.read_text())


class Ranks(unittest.TestCase):
    def test_every_rank_is_exact(self):
        for release, name, script, options in recordings():
            with self.subTest(name):
                expected = events(gzip.decompress((HERE / f"{name}.events.gz").read_bytes()).decode())
                found = simulated(release, script, options)
                for i, (want, have) in enumerate(zip(expected, found)):
                    self.assertEqual(have, want, f"event {i}")
                self.assertEqual(len(found), len(expected))

    def test_a_loop_that_shares_its_model_asks_what_the_script_asks(self):
        for name, rank, options in (
            ("shared_model-rank0-of-4", 0, []),
            ("shared_model-rank3-of-4", 3, []),
            ("shared_model_offload-rank0-of-4", 0, ["--variant", "offload"]),
            ("layouts_sharded-rank3-of-4", 3, []),
            ("layouts_deep-rank7-of-8", 7, ["--variant", "deep"]),
            ("layouts_interleaved-rank1-of-2", 1, ["--variant", "interleaved"]),
            ("layouts_sequence-rank0-of-4", 0, ["--variant", "sequence"]),
            ("experts_all-rank1-of-4", 1, []),
            ("experts_some-rank5-of-8", 5, ["--variant", "some"]),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "events.csv"
                kind = name.split("_")[0]
                scenario = HERE / f"{kind if kind in ('layouts', 'experts') else 'shared_model'}.yaml"
                command = [PROGRAM, "run", scenario, "--set", f"ranks.rank={rank}", "--events", path, *options]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.stderr, "")
                found = events(path.read_text())
                expected = events(gzip.decompress((HERE / f"{name}.events.gz").read_bytes()).decode())
                self.assertEqual(found, expected[: len(found)])
                # What is left of the script: its function's own names go.
                self.assertGreater(len(found), 1000)
                self.assertEqual({e[0] for e in expected[len(found) :]} - {"free_requested", "free_completed"}, set())

    def test_both_ends_of_what_is_left_to_chance_are_those_of_recordings(self):
        # Runs of PyTorch that differ: frees at the earliest end, and at the latest.
        for script, options in (
            ("dropped_gradients.py", []),
            ("buckets_kept.py", ["--rank", "0", "--world", "4"]),
        ):
            for end in ("early", "late"):
                with self.subTest(script, end=end):
                    golden = HERE / f"{script[:-3]}-{end}.events.gz"
                    expected = events(gzip.decompress(golden.read_bytes()).decode())
                    self.assertEqual(simulated("2.11", script, [*options, "--assume", f"chance={end}"]), expected)

    def test_a_pass_in_halves_differs_from_its_recording_by_chance_alone(self):
        options = ["--rank", "0", "--world", "2", "--assume"]
        early, late = (simulated("2.11", "zero_bubble.py", [*options, f"chance={end}"]) for end in ("early", "late"))
        recorded = events(gzip.decompress((HERE / "zero_bubble-by_chance.events.gz").read_bytes()).decode())
        self.assertNotEqual(recorded, early)
        self.assertEqual(chance.explains(recorded, early, late), "")
        self.assertEqual(chance.placed(chance.replayed(PROGRAM, recorded)), chance.placed(recorded))
        # No more than that: the first free elsewhere, one block more.
        first = next(i for i, e in enumerate(recorded) if e[0] == "free_requested")
        self.assertIn("is freed after", chance.explains(recorded[:first] + recorded[first + 2 :], early, late))
        self.assertEqual(chance.explains([*recorded, ("alloc", 512, 0, 0)], early, late), "other requests for memory")

    def test_both_ends_are_told_where_they_come_to_other_peaks(self):
        command = [PROGRAM, "run", HERE / "buckets_kept.py", *SETTING, "--rank", "0", "--world", "4"]
        told = json.loads(subprocess.run([*command, "--format", "json"], capture_output=True, text=True).stdout)
        ends = {one["assume"][0]: one for one in told["alternatives"]}
        # As recorded: 648 MiB where the watchdog has looked, 752 MiB where it has not.
        self.assertEqual(
            [(end, one["peak_reserved_bytes"] >> 20, one["is_shown"]) for end, one in ends.items()],
            [("chance=early", 648, True), ("chance=late", 752, False)],
        )
        self.assertTrue(any("NCCL's watchdog" in note["text"] for note in told["notes"]))
        told = json.loads(subprocess.run([*command, "--format", "json", "--set", "device.total=1236MiB"], capture_output=True, text=True).stdout)
        self.assertEqual([one["ended_by_oom"] for one in told["alternatives"]], [False, True])
        self.assertEqual([one["is_shown"] for one in told["alternatives"]], [False, True])
        text = subprocess.run(command, capture_output=True, text=True).stdout
        self.assertIn("Left to chance", text)
        self.assertIn("reserved 648 MiB to 752 MiB", " ".join(text.split()))

    def test_experts_get_as_many_tokens_as_a_stated_routing_says(self):
        # Recorded with the counts as arguments: tokens_of_experts() of tests/unit/base/routing_test.cc for 256 tokens, 2 of 8 experts.
        for name, rank, how in (("uniform-rank0", 0, "uniform"), ("zipf-rank0", 0, "zipf:1"), ("zipf-rank3", 3, "zipf:1")):
            with self.subTest(name):
                golden = HERE / f"routed_experts_{name}-of-4.events.gz"
                expected = events(gzip.decompress(golden.read_bytes()).decode())
                options = ["--rank", str(rank), "--world", "4", "--assume", f"routing={how},falling"]
                self.assertEqual(simulated("2.11", "routed_experts.py", options), expected)

    def test_a_routing_is_answered_as_an_interval(self):
        command = [PROGRAM, "run", HERE / "routed_experts.py", *SETTING, "--rank", "0", "--world", "4", "--format", "json"]
        refused = subprocess.run(command, capture_output=True, text=True)
        self.assertRegex(refused.stderr, r"routed_experts.py:4\d")
        with tempfile.TemporaryDirectory() as folder:
            shares = pathlib.Path(folder) / "shares.txt"
            shares.write_text("# of each expert\n" + "\n".join("8 4 2.7 2 1.6 1.3 1.1 1".split()))
            ends = {}
            for how in ("uniform", "zipf:1", "zipf:2", str(shares)):
                done = subprocess.run([*command, "--routing", how], capture_output=True, text=True)
                told = json.loads(done.stdout)
                self.assertTrue(any("of 8 experts each token chooses 2" in note["text"] for note in told["notes"]), how)
                ends[how] = [one["peak_allocated_bytes"] for one in told["alternatives"]]
                self.assertEqual([one["assume"][0].rsplit(",", 1)[1] for one in told["alternatives"]], ["falling", "rising"])
        # This rank has the first experts: the more they are favoured the more it holds.
        self.assertGreater(ends["zipf:2"][0], ends["zipf:1"][0])
        self.assertGreater(ends["zipf:1"][0], ends["uniform"][0])
        self.assertGreater(ends["uniform"][0], ends["uniform"][1])
        self.assertGreater(ends["uniform"][1], ends["zipf:1"][1])
        # Shares stay with their experts; what chance adds to them differs.
        falling, rising = ends[str(shares)]
        self.assertLess(abs(falling - ends["zipf:1"][0]), ends["zipf:1"][0] // 50)
        self.assertLess(abs(falling - rising), falling // 10)

    def test_a_routing_that_is_none_is_refused(self):
        for how, message in (
            ("even", "routing: 'even' is no distribution; write uniform, zipf:S with S from 0 to 10, or a file of shares"),
            ("zipf:x", "routing: 'zipf:x' is no distribution; write uniform, zipf:S with S from 0 to 10, or a file of shares"),
        ):
            command = [PROGRAM, "run", HERE / "routed_experts.py", *SETTING, "--world", "4", "--routing", how]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_a_large_model_reserves_what_pytorch_does(self):
        # 84,356 MiB and 68,574 MiB of the real PyTorch, after the second and the third step.
        for world, peak in (("8", "82.38"), ("128", "66.97")):
            with self.subTest(world):
                options = ["--device", "h200-sxm-141gb", *SETTING[2:], "--world", world, "--rank", "0"]
                command = [PROGRAM, "run", HERE / "llama3_8b.py", *options]
                done = subprocess.run(command, capture_output=True, text=True)
                steps = [line.split() for line in done.stdout.splitlines()[:3]]
                self.assertEqual([s[:2] for s in steps[1:]], [["1", peak], ["2", peak]], done.stderr)

    def test_a_rank_has_the_environment_of_torchrun(self):
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK")
        told = "import os\nimport torch\nprint(torch.cuda.device_count(), *[os.environ[x] for x in {!r}])\n".format(names)
        for options, expected in (
            (["--world", "16", "--rank", "11"], "8 11 16 3 8 1"),
            (["--nnodes", "2", "--nproc-per-node", "4", "--rank", "6"], "4 6 8 2 4 1"),
            (["--nproc-per-node", "2"], "2 0 2 0 2 0"),
        ):
            with self.subTest(options), tempfile.TemporaryDirectory() as folder:
                script = pathlib.Path(folder) / "told.py"
                script.write_text(told)
                done = subprocess.run([PROGRAM, "run", script, *SETTING, *options], capture_output=True, text=True)
                self.assertIn(expected, (done.stdout + done.stderr).splitlines(), done.stderr)


if __name__ == "__main__":
    unittest.main()
