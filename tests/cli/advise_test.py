#!/usr/bin/env python3
"""tidemark advise, tune and fit over devices as whole programs: what they promise is run again, what they write is read again.

    advise_test.py TIDEMARK
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""
os.environ["COLUMNS"] = "160"  # sentences stand in one line
GPT2 = "configs/scenarios/gpt2.yaml"
SCRIPT = """import torch
LENGTHS = [700, 40, 900, 120, 650]
BATCH_SIZE = 16
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for n in LENGTHS:
    x = torch.zeros(BATCH_SIZE, n, 512, device="cuda")
    loss = model(x).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
"""


def run(*words):
    return subprocess.run([TIDEMARK, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)


def overrides(change):
    return [word for path, value in change["overrides"].items() for word in ("--set", f"{path}={value}")]


def peak(*words):
    return json.loads(run("run", *words, "--format", "json").stdout)["devices"][0]["peak_reserved"]["bytes"]


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script = self.folder / "train.py"
        self.script.write_text(SCRIPT)

    def refused(self, message, *words):
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"error: {message}\n"))


class Advise(WithFolder):
    def test_a_script_that_cannot_be_sharded_by_an_edit_gets_an_estimate(self):
        self.script.write_text('''import torch
class Trainer:
    def __init__(self):
        layers = [torch.nn.Linear(32768, 32768, bias=False, device="cuda") for _ in range(80)]
        self.model = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
    def step(self):
        self.model(torch.randn(16, 32768, device="cuda")).mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
trainer = Trainer()
trainer.step()
trainer.step()
''')
        words = ("advise", self.script, "--device", "a100-sxm-80gb")
        advice = json.loads(run(*words, "--format", "json").stdout)
        self.assertEqual(advice["meeting"], [])
        self.assertIn("shard", advice["not_for"])
        told = advice["estimated_gpus"]
        self.assertEqual(told["shared_bytes"], 2 * 80 * 32768 * 32768 * 4)  # weights and their gradients
        room = advice["total_bytes"] - advice["context_bytes"] - advice["headroom_bytes"] - told["rest_bytes"]
        self.assertEqual(told["gpus"], -(-told["shared_bytes"] // room))
        self.assertIn(f"An estimate, not simulated: about {told['gpus']} GPUs", run(*words).stdout)

    def test_every_row_keeps_its_promise(self):
        done = run("advise", GPT2, "--set", "batch_size=128", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["kind"], found["before"]["fits"]), ("advice", False))
        self.assertGreater(len(found["meeting"]), 2)
        for change in found["meeting"][:3] + found["saving"][:2]:
            words = [GPT2, "--set", "batch_size=128", *overrides(change)]
            self.assertEqual(run("run", *words, "--fail-on-oom").returncode, 0 if change["fits"] else 3, change["change"])
            self.assertEqual(peak(*words), change["peak_reserved_bytes"], change["change"])
            self.assertEqual(change["saved_bytes"], found["before"]["need_bytes"] - change["need_bytes"])
        for change in found["useless"]:
            self.assertTrue(change["error"] or change["saved_bytes"] <= 0)

    def test_the_table_answers_first_and_says_what_costs_memory(self):
        done = run("advise", GPT2, "--set", "batch_size=128")
        self.assertRegex(done.stdout, r"\nDOES NOT FIT\. With room for all it reserves [\d.]+ GiB \([\d,]+ bytes\) beside the CUDA context's 528 MiB\.\n")
        self.assertRegex(done.stdout, r"\nWhat makes it fit, each simulated, the cheapest first\n +# +price")
        self.assertIn("\nCheapest that makes it fit: ", done.stdout)
        fits = run("advise", GPT2)
        self.assertRegex(fits.stdout, r"\nFITS\. Peak reserved 9\.52 GiB \([\d,]+ bytes\); 69\.1 GiB stay free\.\n")
        part = fits.stdout[fits.stdout.index("What does not help\n"):]
        self.assertRegex(part, r"foreach=False\) +(costs [\d.]+ [MG]iB of memory|changes nothing)")
        self.assertIn("\nNot for this scenario, or there already:\n  free-outside, whole-device, keep-numbers, no-grad, set-to-none", fits.stdout)

    def test_what_is_written_runs_from_its_place_with_the_promised_peak(self):
        words = ("advise", GPT2, "--set", "batch_size=128", "--device", "a100-sxm-80gb", "--allow", "training")
        found = json.loads(run(*words, "--format", "json").stdout)
        for number in (1, 2):
            new = self.folder / f"new{number}.yaml"
            done = run(*words, "--write", new, "--pick", number)
            self.assertTrue(done.stdout.endswith(f"{new}: number {number} applied\n"), done.stdout + done.stderr)
            text = new.read_text()
            change = found["meeting"][number - 1]
            self.assertTrue(text.startswith(f"# tidemark advise: {change['change']}; needs {change['need_bytes']} bytes"), text)
            self.assertIn("# GPT-2 small (124 M parameters)", text)
            self.assertIn("\ndevice: a100-sxm-80gb\n", text)
            self.assertEqual(peak(new), change["peak_reserved_bytes"])

    def test_capacity_headroom_and_price_set_the_goal(self):
        done = run("advise", GPT2, "--capacity", "9GiB", "--headroom", "10%", "--allow", "time", "--format", "json")
        found = json.loads(done.stdout)
        self.assertEqual((found["total_bytes"], found["headroom_bytes"]), (9 << 30, (9 << 30) // 10))
        self.assertTrue(found["meeting"])
        for change in found["meeting"]:
            self.assertGreaterEqual(change["spare_bytes"], found["headroom_bytes"])
        prices = {change["price"] for key in ("meeting", "saving", "useless") for change in found[key]}
        self.assertLessEqual(prices, {"free", "time"})

    def test_how_far_each_change_goes_is_what_fit_says(self):
        words = (GPT2, "--set", "layers=2", "--device", "a10")
        found = json.loads(run("advise", *words, "--over", "batch", "--allow", "free", "--format", "json").stdout)
        best = lambda *more: json.loads(run("fit", *words, *more, "--format", "json").stdout)["best"]
        self.assertEqual(found["before"]["reaches"], best())
        change = found["meeting"][0]
        self.assertEqual(change["reaches"], best(*overrides(change)))
        self.assertIn("batch up to", run("advise", *words, "--over", "batch", "--allow", "free").stdout)

    def test_a_script_is_advised_and_written_as_a_scenario(self):
        new = self.folder / "sub.yaml"
        done = run("advise", self.script, "--device", "t4", "--write", new)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('script: "train.py"\n', new.read_text())
        self.assertEqual(run("run", new).returncode, 0)

    def test_mistakes_are_told_and_nothing_is_written(self):
        new = self.folder / "new.yaml"
        tight = (GPT2, "--set", "batch_size=128", "--allow", "free", "--write", new)
        self.refused("--write: no change known makes the scenario fit; --pick N writes one that is not enough", "advise", *tight)
        self.assertFalse(new.exists())
        done = run("advise", *tight, "--pick", "99")
        self.assertRegex(done.stderr, r"^error: --write: the table has \d+ changes, no number 99\n$")
        self.refused("--pick: says what to write; give --write FILE or --diff", "advise", GPT2, "--pick", "2")
        self.refused("--over layrs: is no parameter with an integer value; did you mean 'layers'?", "advise", GPT2, "--over", "layrs")
        done = run("advise", GPT2, "--allow", "tim")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'time'?", done.stderr)


class Tune(WithFolder):
    def test_a_scenario_is_tuned_for_all_orders_of_its_steps(self):
        env = self.folder / "conf.env"
        done = run("tune", self.script, "--device", "t4", "--write", env, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["orders"][:3], ["as given", "smallest first", "largest first"])
        best = found["settings"][found["best"]]
        given = found["settings"][found["given"]]
        self.assertEqual(given["alloc_conf"], "")
        self.assertLessEqual(best["worst_reserved_bytes"], given["worst_reserved_bytes"])
        self.assertGreaterEqual(best["worst_reserved_bytes"], found["least_bytes"])
        self.assertEqual(env.read_text(), f"PYTORCH_ALLOC_CONF={best['alloc_conf']}\n")
        for row in (best, given):
            for order, lengths in enumerate((None, "[40, 120, 650, 700, 900]")):
                words = ["--set", f"LENGTHS={lengths}"] if lengths else []
                conf = json.dumps(row["alloc_conf"])
                self.assertEqual(peak(self.script, "--device", "t4", "--set", f"allocator.conf={conf}", *words),
                                 row["by_order"][order]["peak_reserved_bytes"])

    def test_the_text_has_the_best_the_table_and_the_orders(self):
        done = run("tune", self.script, "--device", "t4")
        self.assertRegex(done.stdout, r"\nBest: PYTORCH_ALLOC_CONF=\S*\n  Peak reserved [\d.]+ [MG]iB in the worst order \(")
        self.assertRegex(done.stdout, r"\n\d+ settings tried, the most promising in all 6 orders; the best of them\n")
        self.assertRegex(done.stdout, r"\nOrder by order\n +best +given\n  as given ")
        self.assertEqual(done.stdout, run("tune", self.script, "--device", "t4", "--threads", "1").stdout)

    def test_a_trace_and_a_snapshot_have_one_order_and_say_so(self):
        trace = self.folder / "t.tmt"
        trace.write_text("tidemark-trace 1\nalloc 1 5242880\nalloc 2 5242880\nfree 1\nalloc 3 31457280\nfree 2\n")
        done = run("tune", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Other orders were not tried: a request trace has the order that it has.\n", done.stdout)
        snapshot = "tests/golden/recordings/small_network.pickle.gz"
        done = run("tune", snapshot, "--format", "json")
        found = json.loads(done.stdout)
        self.assertEqual(found["no_orders"], "a recording has the order that it has")
        rows = json.loads(run("replay", snapshot, "--alloc-conf", found["settings"][found["best"]]["alloc_conf"], "--format", "json").stdout)
        best = next(row for row in rows["settings"] if row["alloc_conf"] == found["settings"][found["best"]]["alloc_conf"])
        self.assertEqual(best["peak_reserved_bytes"], found["settings"][found["best"]]["worst_reserved_bytes"])

    def test_options_of_another_kind_of_input_are_refused(self):
        self.refused("--from: is for memory snapshots", "tune", GPT2, "--from", "1")
        self.refused("--alloc-conf: is for traces and snapshots; give --set allocator.conf=...", "tune", GPT2, "--alloc-conf", "")
        self.refused("--set: is for scenarios", "tune", "tests/golden/recordings/mlp.pickle.gz", "--set", "a=1")


class Fit(WithFolder):
    def test_every_device_is_run_by_its_memory(self):
        done = run("fit", GPT2, "--device", "all", "--headroom", "2%", "--format", "json")
        found = json.loads(done.stdout)
        totals = [probe["total_bytes"] for probe in found["probes"]]
        self.assertEqual(len(totals), len(list((ROOT / "configs/devices").glob("*.yaml"))))
        self.assertEqual(totals, sorted(totals))
        fitting = [probe for probe in found["probes"] if probe["fits"]]
        self.assertEqual(found["best"], fitting[0]["device"])
        for probe in fitting:
            self.assertGreaterEqual(probe["spare_bytes"] * 50, probe["total_bytes"])
        text = run("fit", GPT2, "--device", "all", "--headroom", "2%").stdout
        self.assertTrue(text.startswith(f"{found['best']} is the smallest GPU that fits with 2.0 % kept free\n"), text)

    def test_length_layers_and_constants_of_a_script(self):
        for word, path in (("length", "params.seq_len"), ("layers", "params.layers")):
            found = json.loads(run("fit", GPT2, "--over", word, "--device", "a10", "--format", "json").stdout)
            by_value = {probe["value"]: probe["fits"] for probe in found["probes"]}
            self.assertEqual(found["path"], path)
            self.assertEqual((by_value[found["best"]], by_value[found["best"] + 1]), (True, False))
        found = json.loads(run("fit", self.script, "--over", "batch", "--device", "t4", "--format", "json").stdout)
        self.assertEqual(found["path"], "params.BATCH_SIZE")
        self.assertGreater(found["best"], 16)
        smallest = run("fit", self.script, "--over", "device").stdout
        self.assertRegex(smallest, r"^\S+ is the smallest GPU that fits\n")

    def test_what_cannot_be_asked_is_refused(self):
        self.refused("--device all: runs the scenario as it stands on every GPU; leave --over out, or name one device",
                     "fit", GPT2, "--device", "all", "--over", "length")
        self.refused("--over params.layer: is no parameter with an integer value; did you mean 'layers'?", "fit", GPT2, "--over", "params.layer")


class Assert(WithFolder):
    def test_several_claims_with_sums_are_5_with_a_line_each(self):
        done = run("run", GPT2, "--assert", "peak_reserved - peak_allocated < 1MiB", "--assert", "peak_reserved < 0.9 * total",
                   "--assert", "retries == 1")
        self.assertEqual(done.returncode, 5)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertRegex(lines[0], r"^assertion failed: peak_reserved - peak_allocated < 1MiB: peak_reserved is .*, peak_allocated is ")
        self.assertEqual(lines[1], "assertion failed: retries == 1: retries is 0")
        self.refused("--assert 'peak_resreved < 1': there is no figure 'peak_resreved'; did you mean 'peak_reserved'?",
                     "run", GPT2, "--assert", "peak_resreved < 1")


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    unittest.main()
