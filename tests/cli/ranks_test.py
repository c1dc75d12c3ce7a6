#!/usr/bin/env python3
"""A job of several processes: which ranks are run, which of them is told, and what the others come to.

    ranks_test.py PATH/TO/tidemark
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
SCRIPT = """import torch, torch.distributed as dist
dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank % torch.cuda.device_count())
x = torch.ones((8 if rank == 3 else 1) * 2**20, device="cuda")
dist.all_reduce(x)
"""
LAST, OTHERS = 32 << 20, 4 << 20


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "train.py").write_text(SCRIPT, encoding="utf-8")

    def tidemark(self, *arguments):
        return subprocess.run([TIDEMARK, *arguments], capture_output=True, text=True, check=False, cwd=self.folder)

    def run_script(self, *options):
        done = self.tidemark("run", "train.py", "--device", "h100-sxm-80gb", "--format", "json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_the_worst_rank_is_told_and_those_that_do_the_same_share_a_line(self):
        for options in ((), ("--rank", "all")):
            report = self.run_script("--world", "4", *options)
            self.assertEqual((report["rank"], report["world"]), (3, 4))
            self.assertEqual(report["devices"][0]["peak_allocated"]["bytes"], LAST)
            self.assertEqual([(r["ranks"], r["peak_allocated_bytes"]) for r in report["ranks"]], [([3], LAST), ([0, 1, 2], OTHERS)])
        text = self.tidemark("run", "train.py", "--device", "h100", "--world", "4").stdout
        self.assertIn("rank 3 of 4", text)
        self.assertIn("\nRanks, 4 of 4", text)
        self.assertIn("\n  0-2 ", text)
        self.assertIn("rank 3, the worst", text)

    def test_a_rank_of_ones_own_is_run_alone(self):
        report = self.run_script("--world", "4", "--rank", "1")
        self.assertEqual((report["rank"], report.get("ranks")), (1, None))
        self.assertEqual(report["devices"][0]["peak_allocated"]["bytes"], OTHERS)

    def test_of_a_large_job_all_are_covered_by_those_that_differ(self):
        lines = self.run_script("--world", "512")["ranks"]
        self.assertEqual([len(line["ranks"]) for line in lines], [1, 511])
        text = self.tidemark("run", "train.py", "--device", "h100", "--world", "512").stdout
        self.assertIn("Ranks, 512 of 512", text)
        every = self.run_script("--world", "32", "--rank", "all")["ranks"]
        self.assertEqual([len(line["ranks"]) for line in every], [1, 31])

    def test_where_all_of_a_large_job_differ_some_are_run_unless_all_are_asked_for(self):
        path = self.folder / "train.py"
        path.write_text(SCRIPT.replace("(8 if rank == 3 else 1)", "(1 + rank)"), encoding="utf-8")
        some = [r for line in self.run_script("--world", "512")["ranks"] for r in line["ranks"]]
        self.assertEqual(len(some), len(set(some)))
        self.assertTrue({0, 1, 7, 8, 256, 255, 503, 504, 510, 511} <= set(some), some)
        self.assertLess(len(some), 40)
        text = self.tidemark("run", "train.py", "--device", "h100", "--world", "512").stdout
        self.assertIn("Ranks, %d of 512" % len(some), text)
        self.assertIn("--rank all", text)

    def test_a_rank_that_runs_out_of_memory_is_the_worst(self):
        path = self.folder / "train.py"
        path.write_text(SCRIPT.replace("8 if rank == 3 else 1", "40 if rank == 3 else 30000 if rank == 2 else 1"), encoding="utf-8")
        report = self.run_script("--world", "4")
        self.assertEqual(report["verdict"], "out_of_memory")
        self.assertEqual([r["ranks"] for r in report["ranks"]], [[2], [3], [0, 1]])
        self.assertEqual([r["ended_by_oom"] for r in report["ranks"]], [True, False, False])

    def test_files_are_of_the_rank_that_is_told(self):
        self.run_script("--world", "4", "--events", "events.csv")
        self.assertIn(",%d," % LAST, (self.folder / "events.csv").read_text())

    def test_a_rank_whose_program_fails_ends_the_run_with_its_line(self):
        path = self.folder / "train.py"
        path.write_text(SCRIPT + "assert rank != 2, 'rank two'\n", encoding="utf-8")
        done = self.tidemark("run", "train.py", "--device", "h100", "--world", "4")
        self.assertEqual(done.returncode, 2)
        self.assertIn("train.py:7:", done.stderr)

    def test_collectives_refuse_tensors_with_gaps_as_nccl_does(self):
        (self.folder / "gaps.py").write_text("""import torch, torch.distributed as dist
dist.init_process_group("nccl")
def gaps(): return torch.zeros(4, 8, device="cuda").t()
def whole(rows=8): return torch.zeros(rows, 4, device="cuda")
def last(): return torch.zeros(2, 3, 4, 4, device="cuda").to(memory_format=torch.channels_last)
for call in (lambda: dist.all_reduce(gaps()), lambda: dist.broadcast(gaps(), 0), lambda: dist.reduce(gaps(), 0),
             lambda: dist.all_gather_into_tensor(whole(16), gaps()), lambda: dist.all_gather([whole(), whole()], gaps()),
             lambda: dist.all_to_all_single(gaps(), whole()), lambda: dist.all_to_all_single(whole(), gaps()),
             lambda: dist.all_to_all([whole(), whole()], [gaps(), gaps()]), lambda: dist.gather(gaps(), [whole(), whole()], 0),
             lambda: dist.all_reduce(last()), lambda: dist.all_gather([gaps(), gaps()], whole()),
             lambda: dist.reduce_scatter_tensor(whole(4), gaps()), lambda: dist.scatter(whole(), [gaps(), gaps()], 0),
             lambda: dist.send(gaps(), 1)):
    try:
        call()
        print("taken")
    except ValueError as error:
        print(error)
""", encoding="utf-8")
        done = self.tidemark("run", "gaps.py", "--device", "h100", "--world", "2", "--rank", "0")
        self.assertEqual(done.stdout.splitlines()[:14], ["Tensors must be contiguous"] * 9 + ["taken"] * 5)

    def test_ranks_exchange_their_statistics_where_batch_norm_is_synchronised(self):
        """The sizes are those of the real PyTorch 2.11, but for the counts, which are not computed there."""
        (self.folder / "train.py").write_text(
            "import torch, torch.nn as nn, torch.distributed as dist\n"
            "dist.init_process_group('nccl')\n"
            "torch.cuda.set_device(dist.get_rank())\n"
            "layer = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2d(16)).cuda()\n"
            "layer(torch.randn(8, 16, 32, 32, device='cuda', requires_grad=True)).sum().backward()\n",
            encoding="utf-8",
        )
        self.run_script("--world", "2", "--rank", "0", "--events", "events.csv")
        with open(self.folder / "events.csv", encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["action"] == "alloc"]
        found = [(row["op"].split(": ")[-1], int(row["bytes"])) for row in rows if "batch_norm" in row["op"]]
        elements = 8 * 16 * 32 * 32 * 4
        self.assertEqual(
            found,
            [("batch_norm_stats", 64)] * 2
            + [("batch_norm_gather_stats_with_counts", 64)] * 2
            + [("batch_norm_elemt", elements)]
            + [("batch_norm_backward_reduce", 64)] * 4
            + [("batch_norm_backward_elemt", elements)],
        )
        self.assertIn(2 * (2 * 16 + 1) * 4, [int(row["bytes"]) for row in rows])  # both ranks' means, deviations and counts

    def test_numbers_that_other_ranks_send_are_told_to_be_taken(self):
        (self.folder / "train.py").write_text(
            "import torch, torch.distributed as dist\n"
            "dist.init_process_group('nccl')\n"
            "t = torch.tensor(5 if dist.get_rank() == 0 else -1, device='cuda')\n"
            "dist.all_reduce(t)\n"
            "dist.all_gather([torch.zeros(1, dtype=torch.int64, device='cuda') for _ in range(2)], t.view(1))\n"
            "dist.all_reduce(torch.randn(4, device='cuda'))\n",
            encoding="utf-8",
        )
        text = self.tidemark("run", "train.py", "--device", "h100", "--world", "2", "--rank", "1").stdout
        told = [line.strip() for line in text.splitlines() if "numbers that other ranks send" in line]
        self.assertEqual([line.removeprefix("train.py:")[:2] for line in told], ["4:", "5:"])

    def test_a_rank_hears_what_others_say(self):
        # Rank 2 has another number, rank 0 alone the settings and the list that all compare with theirs.
        (self.folder / "train.py").write_text(
            "import torch, torch.distributed as dist\n"
            "dist.init_process_group('nccl')\n"
            "rank = dist.get_rank()\n"
            "n = 100 + 7 * rank + (1000 if rank == 2 else 0)\n"
            "all_of = [None] * 4\n"
            "dist.all_gather_object(all_of, {'n': n, 'name': f\"it's {rank}\", 'more': (rank, None, 1.5)})\n"
            "settings = [{'hidden': 64}] if rank == 0 else [None]\n"
            "dist.broadcast_object_list(settings, src=0)\n"
            "dealt = [None]\n"
            "dist.scatter_object_list(dealt, [i * i for i in range(4)] if rank == 0 else None, src=0)\n"
            "pair = [dist.new_group([0, 1]), dist.new_group([2, 3])][rank // 2]\n"
            "two = [None, None]\n"
            "dist.all_gather_object(two, rank * 10, group=pair)\n"
            "flags = torch.tensor([3, 5] if rank == 0 else [-1, -1], device='cuda')\n"
            "dist.broadcast(flags, src=0)\n"
            "assert flags.tolist() == [3, 5]\n"
            "x = torch.empty(settings[0]['hidden'], max([each['n'] for each in all_of]), device='cuda')\n"
            "print([each['name'] for each in all_of], all_of[rank]['more'], tuple(x.shape), dealt, two)\n",
            encoding="utf-8",
        )
        names = "[\"it's 0\", \"it's 1\", \"it's 2\", \"it's 3\"]"
        for rank in range(4):
            got = self.tidemark("run", "train.py", "--device", "h100", "--world", "4", "--rank", str(rank))
            two = [0, 10] if rank < 2 else [20, 30]
            expected = f"{names} ({rank}, None, 1.5) (64, 1114) [{rank * rank}] {two}"
            self.assertEqual(got.stdout.splitlines()[0], expected, got.stderr)
            self.assertNotIn("that other ranks send", got.stdout)
        self.assertIn("Ranks, 4 of 4", self.tidemark("run", "train.py", "--device", "h100", "--world", "4").stdout)

    def test_every_command_on_scenarios_takes_the_job(self):
        (self.folder / "s.yaml").write_text("schema_version: 1\ndevice: h100\nscript: train.py\nranks: {world: 4, rank: all}\n", encoding="utf-8")
        self.assertIn("rank 3 of 4", self.tidemark("run", "s.yaml").stdout)
        told = json.loads(self.tidemark("explain", "train.py", "--device", "h100", "--world", "4", "--format", "json").stdout)
        self.assertEqual([r["ranks"] for r in told["ranks"]], [[3], [0, 1, 2]])
        with (self.folder / "s.yaml").open("a", encoding="utf-8") as file:
            file.write("sweep: {grid: {ranks.world: [2, 4]}}\n")
        swept = self.tidemark("sweep", "s.yaml", "--format", "csv")
        self.assertEqual(swept.returncode, 0, swept.stderr)
        self.assertIn(str(LAST), swept.stdout)
        self.assertIn(str(OTHERS), swept.stdout)

    def test_the_fewest_gpus_are_told_with_their_layout(self):
        # Six blocks of 2 x 1,000 x 4,000 numbers of four bytes are 183 MiB; with gradients and two states 732. One GPU with room for 900 MiB
        # has none left for what the optimizer makes besides; of two, each with half of it, both have.
        (self.folder / "net.py").write_text(
            "from torch import nn\n"
            "class Net(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 1000)) for _ in range(6))\n"
            "    def forward(self, x):\n"
            "        for block in self.blocks:\n"
            "            x = block(x)\n"
            "        return x\n",
            encoding="utf-8",
        )
        (self.folder / "s.yaml").write_text(
            "schema_version: 1\ndevice: {name: h100-sxm-80gb, total: 1500MiB, context: 600MiB}\nmodel: {file: net.py, class: Net}\n"
            "train: {batch: 8, input: [1000], target: [], loss: F.cross_entropy, parallel: {reshard: false}}\n",
            encoding="utf-8",
        )
        done = self.tidemark("fit", "s.yaml", "--over", "gpus", "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        layouts = [(p["gpus"], p["pp"], p["fsdp"], p["fits"]) for p in report["probes"]]
        self.assertEqual(layouts, [(1, 1, 1, False), (2, 1, 2, True), (2, 2, 1, True)])
        best = min((p for p in report["probes"] if p["fits"]), key=lambda p: p["peak_reserved_bytes"])
        self.assertEqual(report["best"], {key: best[key] for key in ("gpus", "fsdp", "tp", "pp", "cp", "ep")})
        text = self.tidemark("fit", "s.yaml", "--over", "gpus").stdout
        self.assertTrue(text.startswith("2 GPUs fit: "), text)

    def test_a_pipeline_says_what_it_cannot_split(self):
        (self.folder / "net.py").write_text(
            "from torch import nn\nimport torch\n"
            "class Net(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.word, self.place = nn.Embedding(10, 8), nn.Embedding(16, 8)\n"
            "        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(2))\n"
            "    def forward(self, x):\n"
            "        x = self.word(x) + self.place(torch.arange(16, device=x.device))\n"
            "        for block in self.blocks:\n"
            "            x = block(x)\n"
            "        return x.mean((1, 2))\n",
            encoding="utf-8",
        )
        head = (
            "schema_version: 1\ndevice: a10\nranks: {world: %d, rank: %d}\nmodel: {file: net.py, class: Net}\n"
            "train: {batch: %d, inputs: [{shape: [16], dtype: long}], target: [], loss: out.sum() + 0 * y.sum(), parallel: {pp: %d}}\n"
        )
        for values, said in (
            ((2, 1, 4, 2), "place is of another stage, and forward() gives it a tensor of (16,) where stages hand on (2, 16, 8)"),
            ((4, 0, 4, 4), "2 blocks are too few for 4 stages"),
            ((2, 0, 3, 2), "a batch of 3 is not 2 micro-batches of one size"),
            ((3, 0, 4, 2), "pp 2 x replicate 1 x fsdp 1 x tp 1 is not the world of 3 ranks"),
        ):
            with self.subTest(said):
                (self.folder / "s.yaml").write_text(head % values, encoding="utf-8")
                self.assertIn(said, self.tidemark("run", "s.yaml").stderr)

    def experts(self, parallel, world=4):
        (self.folder / "net.py").write_text(
            "import torch\nfrom torch import nn\n"
            "class Experts(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.weight = nn.Parameter(torch.zeros(4, 512, 512))\n"
            "    def forward(self, x):\n"
            "        return torch.bmm(x, self.weight)\n"
            "class Block(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.experts = Experts()\n"
            "    def forward(self, x):\n"
            "        return x + self.experts(x.view(4, -1, 512)).view(x.shape)\n"
            "class Net(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.first = nn.Linear(512, 512)\n"
            "        self.blocks = nn.ModuleList(Block() for _ in range(2))\n"
            "    def forward(self, x):\n"
            "        x = self.first(x)\n"
            "        for block in self.blocks:\n"
            "            x = block(x)\n"
            "        return x\n",
            encoding="utf-8",
        )
        (self.folder / "s.yaml").write_text(
            f"schema_version: 1\ndevice: h100-sxm-80gb\nranks: {{world: {world}}}\nmodel: {{file: net.py, class: Net}}\n"
            f"train: {{batch: 16, input: [512], target: [], loss: out.sum() + 0 * y.sum(), parallel: {parallel}}}\n",
            encoding="utf-8",
        )
        return self.tidemark("run", "s.yaml", "--format", "json")

    def test_experts_are_shared_among_ranks_and_all_do_the_same(self):
        layouts = ("{}", "{ep: 4, experts: [blocks.*.experts]}", "{ep: 2, experts: [blocks.*.experts]}", "{pp: 2, ep: 2, experts: [blocks.*.experts]}")
        peaks = []
        for layout in layouts:
            done = self.experts(layout)
            self.assertEqual((done.returncode, done.stderr), (0, ""), layout)
            report = json.loads(done.stdout)
            self.assertEqual(len(report["ranks"]), 2 if "pp" in layout else 1, layout)
            peaks.append(report["devices"][0]["peak_allocated"]["bytes"])
        # Who has experts of its own does not gather those of others.
        self.assertLess(peaks[1], peaks[0])
        self.assertLess(peaks[1], peaks[2])
        self.assertLess(peaks[2], peaks[0])

    def test_experts_that_cannot_be_shared_are_told(self):
        for world, layout, said in (
            (8, "{ep: 8, experts: [blocks.*.experts]}", "4 experts of blocks.0.experts.weight are not shared evenly by ep 8"),
            (4, "{ep: 3, experts: [blocks.*.experts]}", "fsdp 4 is not a multiple of ep 3"),
            (4, "{ep: 2, experts: [layers.*.moe]}", "no module of the model is called layers.*.moe"),
            (4, "{ep: 2}", "ep needs the modules of experts"),
            (4, "{ep: 2, cp: 2, experts: [blocks.*.experts]}", "stands beside fsdp, replicate and pp alone"),
        ):
            with self.subTest(said):
                done = self.experts(layout, world)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)

    def test_layouts_of_experts_are_tried(self):
        self.experts("{experts: [blocks.*.experts]}", 1)
        done = self.tidemark("fit", "s.yaml", "--over", "gpus", "--format", "json", "--set", "device={name: a10, total: 650MiB, context: 600MiB}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        tried = [(p["gpus"], p["pp"], p["fsdp"], p["ep"]) for p in json.loads(done.stdout)["probes"]]
        self.assertEqual(tried[:4], [(1, 1, 1, 1), (2, 1, 2, 1), (2, 1, 2, 2), (2, 2, 1, 1)])

    def test_ways_to_lay_out_tensors_are_one_object_each(self):
        (self.folder / "p.py").write_text(
            "import copy\n"
            "from torch.distributed.tensor import Partial, Replicate, Shard\n"
            "print(Shard(1) == Shard(1), Shard(1) == Shard(0), copy.deepcopy(Shard(1)) == Shard(1), {Shard(0): 1}[Shard(0)],\n"
            "      Partial() == Partial('sum'), Partial('avg') == Partial(), copy.copy(Replicate()) == Replicate(), Shard(dim=1))\n",
            encoding="utf-8",
        )
        done = self.tidemark("run", "p.py", "--device", "h100-sxm-80gb")
        self.assertIn("True False True 1 True False True Shard(dim=1)", done.stdout)

    def test_what_is_no_rank_is_told(self):
        done = self.tidemark("run", "train.py", "--device", "h100", "--world", "4", "--rank", "some")
        self.assertEqual(done.returncode, 2)
        self.assertIn("rank", done.stderr)
        done = self.tidemark("run", "train.py", "--device", "h100", "--world", "4", "--rank", "4")
        self.assertIn("the ranks of 4 end at 3", done.stderr)

    def test_a_program_of_torchruns_is_told_how_to_be_a_job(self):
        (self.folder / "alone.py").write_text("import os\nprint(os.environ['LOCAL_RANK'])\n")
        done = self.tidemark("run", "alone.py", "--device", "h100")
        self.assertIn("alone.py:2:7: error: KeyError: 'LOCAL_RANK'; torchrun sets it: '--world N'", done.stderr)


if __name__ == "__main__":
    unittest.main()
