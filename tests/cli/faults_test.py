#!/usr/bin/env python3
"""What --why says of the articles' fault table and of scenarios of our own: each gets its class, healthy ones no other, and every fault a
change that undoes it, run and found to do so.

    faults_test.py TIDEMARK
"""
import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = ""

# Row of the table, scenario, variant, class, the remedy that undoes it.
TABLE = [
    ("in the first forward", "S50", "resnet152 b256", "activations", "micro-batch"),
    ("in the first forward", "S50", "resnet152 b128", "activations", "micro-batch"),
    ("in the first forward, fits", "S50", "resnet18 b256", "healthy", None),
    ("in backward", "S51", "plain", "backward", "checkpoint"),
    ("in backward, mended", "S51", "checkpoint", "healthy", None),
    ("over time: the loss", "S52", "keep loss", "growth", "keep-numbers"),
    ("over time: the loss, detached", "S52", "keep loss.detach", "growth", "keep-numbers"),
    ("over time: the output", "S52", "keep output", "growth", "keep-numbers"),
    ("over time: the output, detached", "S52", "keep output.detach", "growth", "keep-numbers"),
    ("over time, mended", "S52", "keep output.cpu", "healthy", None),
    ("over time, mended", "S52", "keep loss.item", "healthy", None),
    ("over time: a sum", "S52", "keep running loss", "healthy", None),
    ("over time: validation", "S52", "validation loss kept", "growth", "keep-numbers"),
    ("over time: validation, mended", "S52", "validation loss.item kept", "healthy", None),
    ("on large inputs", "S53", "batch 32 always", "backward", "smaller-batch"),
    ("on large inputs", "S53", "batch 32, longest first", "backward", "smaller-batch"),
    ("on large inputs, mended", "S53", "16384 tokens a batch", "healthy", None),
    ("on varied inputs", "S53", "40 random lengths, default", "fragmentation", "expandable-segments"),
    ("on varied inputs, mended", "S53", "40 random lengths, expandable", "healthy", None),
    ("after many epochs", "S54", "predictions kept", "growth", "keep-numbers"),
    ("after many epochs, empty_cache", "S54", "predictions kept, empty_cache", "growth", "keep-numbers"),
    ("after many epochs, mended", "S54", "predictions on cpu", "healthy", None),
]

HEAD = "schema_version: 1\nname: own\ndevice: {device}\nparams: {{batch: {batch}}}\nmodel:\n  code: |\n{model}\n  function: make\nloop: |\n{loop}\n"
MLP = "def make():\n    return nn.Sequential(nn.Linear(1000, {width}), nn.ReLU(), nn.Linear({width}, 1000)).cuda()"
STEP = """with phase(f"forward {step}"):
        out = model(torch.randn(batch, 1000, device="cuda"))
        loss = out.square().mean()
    with phase(f"backward {step}"):
        opt.zero_grad()
        loss.backward()
    with phase(f"optimizer {step}"):
        opt.step()"""
ADAM = "opt = torch.optim.Adam(model.parameters())"


def loop(before="", after="pass", steps=12, body=STEP, opt=ADAM):
    return f"{opt}\n{before}\nfor step in range({steps}):\n    {body}\n    {after}"


# Name, class, model width, batch, device, loop.
OWN = [
    ("a plain loop", "healthy", 2000, 64, "h100", loop()),
    ("momentum", "healthy", 2000, 64, "h100", loop(opt="opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)")),
    ("sizes that alternate", "healthy", 2000, 64, "h100", loop(body=STEP.replace("randn(batch", "randn(batch * (1 + step % 3)"))),
    ("the last outputs alone", "healthy", 2000, 64, "h100", loop("kept = []", "kept = (kept + [out.detach()])[-3:]")),
    ("numbers in a list", "healthy", 2000, 64, "h100", loop("kept = []", "kept.append(loss.item())")),
    ("outputs on the host", "healthy", 2000, 64, "h100", loop("kept = []", "kept.append(out.detach().cpu())")),
    ("a running mean", "healthy", 2000, 64, "h100", loop("mean = torch.zeros(1000, device='cuda')", "mean.mul_(0.9).add_(out.detach().mean(0), alpha=0.1)")),
    ("a copy of the weights", "healthy", 2000, 64, "h100", loop("ema = [p.detach().clone() for p in model.parameters()]", "[e.lerp_(p.detach(), 0.1) for e, p in zip(ema, model.parameters())]")),
    ("a cache that fills up", "healthy", 2000, 64, "h100", loop("cache = {}", "cache[step % 4] = out.detach()", steps=16)),
    ("evaluation without a graph", "healthy", 2000, 64, "h100", loop("", "with torch.no_grad():\n        model(torch.randn(batch, 1000, device='cuda'))")),
    ("empty_cache in each step", "healthy", 2000, 64, "h100", loop("", "torch.cuda.empty_cache()")),
    ("half the weights frozen", "healthy", 2000, 64, "h100", loop("for p in model[0].parameters():\n    p.requires_grad_(False)")),
    ("outputs in a list", "growth", 2000, 64, "h100", loop("kept = []", "kept.append(out)")),
    ("outputs by step", "growth", 2000, 64, "h100", loop("kept = {}", "kept[step] = out.detach()")),
    ("a tensor that gets longer", "growth", 2000, 64, "h100", loop("kept = []", "kept += [out.detach().half()]")),
    ("a leak to the end", "growth", 2000, 4096, "rtx-3060", loop("kept = []", "kept.append(out)", steps=1000)),
    ("a model too large", "model", 2000000, 1, "rtx-3060", loop()),
    ("Adam's state too large", "optimizer", 600000, 1, "rtx-3060", loop()),
    ("too large a batch", "activations", 2000, 1600000, "rtx-3060", loop()),
    ("gradients on top", "backward", 1000, 700000, "rtx-3060", loop()),
]


def diagnose(*words, text=None):
    done = subprocess.run([TIDEMARK, "run", *words, "--why", "--format", "json"], cwd=ROOT, capture_output=True, text=True, check=False, input=text)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


class Faults(unittest.TestCase):
    def check(self, found, fault, remedy=None):
        self.assertIsInstance(found, dict, found)
        self.assertEqual(found["fault"], fault)
        if fault == "healthy":
            self.assertEqual(found["tried"], [])
            return
        self.assertIsNotNone(found["smallest"], "nothing undoes it")
        best = found["tried"][found["smallest"]]
        self.assertTrue(best["undoes"])
        if remedy:
            self.assertEqual(best["remedies"], [remedy])

    def test_each_row_of_the_articles_table_has_its_class_and_a_change_that_undoes_it(self):
        for row, scenario, variant, fault, remedy in TABLE:
            with self.subTest(row, variant=variant):
                self.check(diagnose(f"configs/articles/{scenario}.yaml", "--variant", variant), fault, remedy)

    def test_scenarios_of_our_own_are_told_apart_without_a_false_alarm(self):
        self.assertGreaterEqual(len(OWN), 20)
        for name, fault, width, batch, device, code in OWN:
            indented = ["\n".join("    "[: 2 + extra] + line for line in part.splitlines())
                        for part, extra in ((MLP.format(width=width), 2), (code, 0))]
            text = HEAD.format(device=device, batch=batch, model=indented[0], loop=indented[1])
            with self.subTest(name):
                self.check(diagnose("-", text=text), fault)

    def test_a_refusal_that_the_program_handled_is_not_called_a_fit(self):
        done = subprocess.run([TIDEMARK, "run", "configs/articles/S50.yaml", "--variant", "resnet152 b256"], cwd=ROOT, capture_output=True, text=True,
                              check=False)
        self.assertIn("OUT OF MEMORY, HANDLED. 1 request was refused", done.stdout)
        self.assertNotIn("FITS.", done.stdout)


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    unittest.main()
