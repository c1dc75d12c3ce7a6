#!/usr/bin/env python3
"""How the ranks of a job wait for each other, what holds a rank's memory, and which layouts suit it.

    waits_test.py PATH/TO/tidemark
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = os.path.abspath(sys.argv.pop(1))
DIST = pathlib.Path(__file__).resolve().parents[1] / "golden/dist"
os.environ["COLUMNS"] = "160"
PIPELINE = """import sys, torch, torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import get_schedule_class

dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
device = torch.device("cuda", rank)
torch.cuda.set_device(device)
part = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(6)]).to(device)
like = torch.zeros(2048, 4096, device="meta")
stage = PipelineStage(part, rank, world, device, input_args=(like,), output_args=(like,))
schedule = get_schedule_class(sys.argv[1])(stage, int(sys.argv[2]), loss_fn=nn.functional.mse_loss)
optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
x = torch.randn(int(sys.argv[2]) * 2048, 4096, device=device)
for _ in range(4):
    if rank == 0:
        schedule.step(x)
    elif rank == world - 1:
        schedule.step(target=x, losses=[])
    else:
        schedule.step()
    optimizer.step()
    optimizer.zero_grad()
"""
DEADLOCK = """import torch, torch.distributed as dist
dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
x = torch.ones(1024, device="cuda")
if rank < 2:
    dist.send(x, 1 - rank)
    dist.recv(x, 1 - rank)
if rank == 2:
    dist.all_reduce(x, group=dist.group.WORLD)
"""


class Waits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tidemark(self, *arguments):
        done = subprocess.run([TIDEMARK, *arguments], capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def script(self, text):
        (self.folder / "train.py").write_text(text, encoding="utf-8")
        return "train.py", "--device", "h100-sxm-80gb"

    def times(self, schedule, count, world=4):
        words = ["run", *self.script(PIPELINE), "--world", str(world), "--format", "json", "--", schedule, str(count)]
        return json.loads(self.tidemark(*words))["times"]

    def bubbles(self, times):
        """the share of bubbles by rank"""
        return {r: one["bubble_ns"] / (one["end_ns"] - one["begin_ns"]) for one in times["ranks"] for r in one["ranks"]}

    def test_a_pipelines_bubble_is_what_the_schedule_leaves(self):
        # Of S stages and M micro-batches whose halves take as long each: (S - 1) / (M + S - 1).
        for schedule in ("GPipe", "1F1B"):
            for count in (4, 16):
                with self.subTest(schedule=schedule, count=count):
                    times = self.times(schedule, count)
                    self.assertEqual((times["window"], times.get("stuck")), ("step 3", None))
                    shares = self.bubbles(times)
                    self.assertEqual(sorted(shares), [0, 1, 2, 3])
                    for share in shares.values():
                        self.assertAlmostEqual(share, 3 / (count + 3), delta=0.06)

    def test_more_micro_batches_leave_less(self):
        few, many = (max(self.bubbles(self.times("1F1B", count)).values()) for count in (4, 16))
        self.assertGreater(few, 2 * many)

    def test_the_table_has_a_line_a_rank_and_the_longest_bubble(self):
        text = self.tidemark("run", *self.script(PIPELINE), "--world", "3", "--", "GPipe", "4")
        self.assertIn("Time, of step 3", text)
        self.assertRegex(text, r"\n  2 +\d+\.\d+ ms +\d+\.\d %")
        self.assertRegex(text, r"The longest bubble: \d+\.\d+ ms, rank \d: receive from rank \d, train\.py:\d+\n")
        self.assertIn("NVLink 4, 360 of 450 GB/s", text)
        self.assertNotIn("Time, of", self.tidemark("run", *self.script(PIPELINE), "--world", "3", "--rank", "0", "--", "GPipe", "4"))

    def test_each_ranks_time_is_written_without_gaps(self):
        self.tidemark("run", *self.script(PIPELINE), "--world", "3", "--rank-timeline", "ranks.csv", "--", "1F1B", "4")
        rows = list(csv.DictReader((self.folder / "ranks.csv").read_text().splitlines()))
        self.assertEqual(sorted({row["ranks"] for row in rows}), ["0", "1", "2"])
        ends = {}
        for row in rows:
            self.assertEqual(int(row["begin_ns"]), ends.get(row["ranks"], 0))
            ends[row["ranks"]] = int(row["end_ns"])
        self.assertEqual({row["state"] for row in rows} - {"computing", "moving", "lagging", "bubble", "idle"}, set())
        self.assertGreater(sum(row["state"] == "bubble" for row in rows), 5)

    def test_stages_in_the_middle_are_told_apart_though_they_do_the_same(self):
        times = self.times("GPipe", 4, 6)
        self.assertEqual([one["ranks"] for one in times["ranks"]], [[i] for i in range(6)])

    def test_ranks_that_wait_for_ever_are_told_with_their_lines(self):
        text = self.tidemark("run", *self.script(DEADLOCK), "--world", "3")
        self.assertIn("Ranks that seem to wait for each other for ever\n", text)
        self.assertIn("rank 0 waits for ever: send to rank 1, train.py:7", text)
        self.assertIn("rank 1 waits for ever: send to rank 0, train.py:7", text)
        self.assertIn("rank 2 waits for ever: all_reduce of 3 ranks, train.py:10; rank 0 never comes to it", text)

    def test_memory_is_that_of_each_rank_by_itself(self):
        words = ["run", *self.script(PIPELINE), "--world", "4", "--format", "json"]
        job = json.loads(self.tidemark(*words, "--", "1F1B", "8"))
        for one in job["ranks"]:
            alone = json.loads(self.tidemark(*words, "--rank", str(one["ranks"][0]), "--", "1F1B", "8"))
            device = alone["devices"][0]
            self.assertEqual(one["peak_allocated_bytes"], device["peak_allocated"]["bytes"])
            self.assertEqual(one["peak_reserved_bytes"], device["peak_reserved"]["bytes"])
            self.assertNotIn("times", alone)

    def test_the_same_job_has_the_same_times_however_it_is_run(self):
        words = ["run", *self.script(PIPELINE), "--world", "4", "--format", "json"]
        some = json.loads(self.tidemark(*words, "--", "1F1B", "8"))["times"]
        each = json.loads(self.tidemark(*words, "--rank", "all", "--", "1F1B", "8"))["times"]
        self.assertEqual(some, each)


class Holders(unittest.TestCase):
    def why(self, script, *options):
        words = [TIDEMARK, "run", str(DIST / script), "--device", "h100-sxm-80gb", "--why", *options]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_sharded_parameters_are_told_by_what_they_are(self):
        text = self.why("fully_shard.py", "--world", "4", "--rank", "0", "--top", "60")
        self.assertRegex(text, r"among them: FSDP: part of a parameter \(\d\.\w+\.\w+, ...: \d+ blocks\)")
        self.assertRegex(text, r"FSDP: (unsharded parameter|reduce-scatter buffer|sharded gradients|all-gather buffer)")

    def test_buckets_are_told(self):
        text = self.why("replicas.py", "--world", "2", "--rank", "0")
        self.assertRegex(text, r"among them: DDP: bucket \d of gradients, \d+ parameters?")

    def test_redistributions_are_told_by_the_module_that_asks(self):
        text = self.why("sequence_parallel.py", "--world", "4", "--rank", "0", "--top", "200")
        self.assertRegex(text, r"blocks\.\d\.mlp: DTensor:")

    def test_micro_batches_are_told(self):
        text = self.why("stages.py", "--world", "3", "--rank", "0")
        self.assertRegex(text, r"among them: stage 0, microbatch \d")


class Layouts(unittest.TestCase):
    def test_layouts_are_run_and_ordered(self):
        scenario = DIST / "shared_model.yaml"
        words = [TIDEMARK, "tune", str(scenario), "--over", "layouts", "--world", "4"]
        done = subprocess.run([*words, "--format", "json"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual((report["kind"], report["gpus"], report["fits"]), ("layouts", 4, True))
        fitting = [one for one in report["layouts"] if one["fits"]]
        self.assertEqual([one["batch_ns"] for one in fitting], sorted(one["batch_ns"] for one in fitting))
        self.assertTrue(all(one["batch_ns"] > 0 for one in fitting))
        for one in report["layouts"]:
            self.assertEqual(one["fsdp"] * one["tp"] * one["pp"] * one["cp"], 4)
        self.assertIn(4, {one["fsdp"] for one in fitting})
        text = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        self.assertIn("Best: ", text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
