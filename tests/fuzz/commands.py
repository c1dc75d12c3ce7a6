#!/usr/bin/env python3
"""Whole commands on hostile files: each reading command gets files that were taken apart, changed by their structure and put together again.

    commands.py TIDEMARK SECONDS [--seed N] [--kept FOLDER] [--only TARGET]...

A finding is what no input may do: a signal, exit code 70, a sanitizer's report, or more than 30 s. It is kept, with the command that it came from, and
ends the run with exit code 1. Prints how many executions each target had. The same seed draws the same files.
"""
import argparse
import copy
import gzip
import json
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests" / "golden" / "recordings"
NUMBERS = [0, 1, -1, 2, 511, 512, 513, 1 << 20, 2 << 20, 20 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 59, 1 << 60, (1 << 62), (1 << 63) - 1,
           1 << 63, (1 << 64) - 1, 1 << 64, -(1 << 63), 1 << 70, 0.5, float("nan"), float("inf"), "", "x", None, True, [], {}, b"\0"]
ACTIONS = ["alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom", "other"]


def places(value, path=()):
    """Paths of all that is in a structure of maps and lists."""
    found = [path]
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], path + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += places(item, path + (i,))
    return found


def changed(rng, value, most=4):
    """A copy with a few things changed: a value for another, an item dropped, said twice, or moved; a key dropped."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, most)):
        path = rng.choice(places(value))
        if not path:
            continue
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        kind = rng.random()
        if isinstance(holder, list) and kind < 0.5:
            i = path[-1]
            if kind < 0.15:
                del holder[i]
            elif kind < 0.3:
                holder.insert(rng.randint(0, len(holder)), copy.deepcopy(holder[i]))
            elif kind < 0.4:
                j = rng.randrange(len(holder))
                holder[i], holder[j] = holder[j], holder[i]
            else:
                holder[i] = rng.choice(NUMBERS)
        elif isinstance(holder, dict) and kind < 0.1:
            del holder[path[-1]]
        elif isinstance(holder[path[-1]], int) and kind < 0.6:
            holder[path[-1]] = holder[path[-1]] + rng.choice([1, -1, 512, -512, 2 << 20, -(2 << 20), 1 << 40])
        elif path[-1] == "action":
            holder["action"] = rng.choice(ACTIONS)
        else:
            holder[path[-1]] = rng.choice(NUMBERS)
    return value


def history(rng):
    """A history of a few events on few addresses, so that they meet."""
    def event():
        return {"action": rng.choice(ACTIONS), "addr": rng.choice([0, 512, 1024, 2 << 20, 4 << 20, 20 << 20, 1 << 45, (1 << 45) + (2 << 20)]),
                "size": rng.choice([0, 512, 1024, 2 << 20, 10 << 20, 20 << 20, 1 << 40, 1 << 62]), "stream": rng.choice([0, 0, 0, 1, 1 << 40]),
                "time_us": rng.randint(0, 99), "frames": []}

    def segment():
        address, size = rng.choice([0, 2 << 20, 1 << 45]), rng.choice([2 << 20, 20 << 20, 512, 0])
        block = {"address": address, "size": rng.choice([size, 512, 2 << 20]), "requested_size": rng.choice([1, 512, size]),
                 "state": rng.choice(["active_allocated", "inactive", "active_awaiting_free"]), "frames": []}
        return {"device": rng.choice([0, 0, 1]), "address": address, "total_size": size, "stream": rng.choice([0, 0, 1]),
                "segment_type": rng.choice(["small", "large"]), "segment_pool_id": (0, rng.choice([0, 0, 1])), "is_expandable": rng.random() < 0.3,
                "allocated_size": size, "active_size": size, "requested_size": size, "frames": [], "blocks": [block] * rng.randint(0, 2)}

    return {"segments": [segment() for _ in range(rng.randint(0, 3))], "device_traces": [[event() for _ in range(rng.randint(0, 8))]],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": rng.choice(["", "expandable_segments:True", "x"]),
                                   "expandable_segments": rng.random() < 0.3}}


class Targets:
    """Each draws files into a folder and gives the words of a command."""

    def __init__(self, rng, folder):
        self.rng, self.folder = rng, folder
        self.recordings = [pickle.loads(gzip.open(file).read()) for file in sorted(RECORDINGS.glob("*.pickle.gz"))]
        for recording in self.recordings:
            recording["device_traces"] = [trace[:40] for trace in recording["device_traces"]]

    def put(self, name, content):
        file = self.folder / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(file)

    def bytes_changed(self, content):
        content = bytearray(content)
        for _ in range(self.rng.randint(1, 6)):
            at = self.rng.randrange(len(content) + 1)
            kind = self.rng.random()
            if kind < 0.3:
                del content[at:at + self.rng.randint(1, 40)]
            elif kind < 0.6:
                content[at:at] = content[self.rng.randrange(len(content) + 1):][:self.rng.randint(1, 40)]
            elif at < len(content):
                content[at] = self.rng.choice([0, 9, 10, 32, 34, 45, 48, 57, 58, 91, 123, 255, self.rng.randrange(256)])
        return bytes(content)

    def snapshot(self):
        rng = self.rng
        drawn = history(rng) if rng.random() < 0.6 else changed(rng, rng.choice(self.recordings))
        content = pickle.dumps(drawn, protocol=rng.choice([2, 4]))
        if rng.random() < 0.1:
            content = self.bytes_changed(content)
        file = self.put("s.pickle", content)
        return rng.choice([["replay", file], ["replay", file, "--verify"], ["replay", file, "--grid"], ["explain", file], ["diff", file, file],
                           ["diff", file, str(RECORDINGS / "mlp.pickle.gz")], ["explain", file, "--format", "json"], ["tune", file],
                           ["report", file, "-o", str(self.folder / "s.html")],
                           ["replay", file, "--perfetto", str(self.folder / "p.json"), "--columns", str(self.folder / "columns"),
                            "--snapshot", str(self.folder / "o.pickle"), "--segments", str(self.folder / "g.json")]])

    def weights(self):
        """A program that loads a file of numbers, of which the header alone is read."""
        rng = self.rng
        if rng.random() < 0.6:
            table = {"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                     "b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]}}
            header = json.dumps(changed(rng, table), default=repr).encode()
            length = len(header) if rng.random() < 0.8 else rng.choice([0, 7, 1 << 20, 1 << 40, (1 << 63) - 1, (1 << 64) - 1])
            content, name, load = length.to_bytes(8, "little") + header + bytes(32), "w.safetensors", "safetensors.torch.load_file(sys.argv[1])"
        else:
            shape = tuple(rng.choice([0, 1, 3, -1, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 64]) for _ in range(rng.randint(0, 4)))
            header = repr({"descr": rng.choice(["<f4", "<i8", "|b1", "<U5", "x", "|O"]), "fortran_order": rng.random() < 0.2, "shape": shape}).encode() + b"\n"
            content, name = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(64), "w.npy"
            load = "{'a': torch.from_numpy(numpy.load(sys.argv[1], mmap_mode=" + rng.choice(["'r'", "None"]) + "))}"
        if rng.random() < 0.5:
            content = self.bytes_changed(content)
        lines = ["import sys, numpy, safetensors.torch, torch", "try:", f"    for name, x in {load}.items(): print(name, x.shape, (x.cuda() * 2).sum())",
                 "except Exception as error: print(type(error))"]
        return ["--max-seconds", "5", "--max-memory", "512MiB", "run", self.put("l.py", "\n".join(lines) + "\n"), "--device", "h100", "--",
                self.put(name, content)]

    def results(self):
        file = self.folder / "r.sqlite"
        if not hasattr(self, "table"):
            scenario = "schema_version: 1\ndevice: h100\nlayers: [Linear(4, 4)]\nparams: {n: 1}\n" \
                       "train: {batch: n, input: [4], target: [], loss: cross_entropy, optimizer: SGD(lr=0.1)}\nsweep: {grid: {n: [1, 2, 3]}}\n"
            subprocess.run([TIDEMARK, "sweep", self.put("w.yaml", scenario), "--out", str(file)], capture_output=True, check=True)
            self.table = file.read_bytes()
        file.write_bytes(self.bytes_changed(self.table))
        return self.rng.choice([["results", str(file)], ["results", str(file), "--format", "json"], ["results", str(file), "--where", "n > 1"],
                                ["report", str(file), "-o", str(self.folder / "r.html")]])

    def hf(self):
        configs = [{"model_type": "gpt2"}, {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100},
                   {"model_type": "bert", "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128}]
        text = json.dumps(changed(self.rng, self.rng.choice(configs), 3), default=repr)
        return ["import", "hf", self.put("config.json", text), "--output", str(self.folder / "hf.yaml")]

    def trace(self):
        lines = ["tidemark-trace 1"]
        for _ in range(self.rng.randint(0, 12)):
            lines.append(" ".join([self.rng.choice(["alloc", "free", "use", "sync", "empty_cache", "x"])] +
                                  [str(self.rng.choice(NUMBERS)) for _ in range(self.rng.randint(0, 4))]))
        return self.rng.choice([["replay"], ["explain"], ["tune"]]) + [self.put("t.trace", "\n".join(lines) + "\n")]

    def events(self):
        if not hasattr(self, "csv"):
            subprocess.run([TIDEMARK, "run", str(ROOT / "configs" / "scenarios" / "simple_conv.yaml"), "--events", str(self.folder / "e.csv")],
                           capture_output=True, check=True)
            self.csv = b"\n".join((self.folder / "e.csv").read_bytes().split(b"\n")[:20])
        return ["diff", self.put("a.csv", self.bytes_changed(self.csv)), self.put("b.csv", self.csv)]

    def scenario(self):
        files = sorted((ROOT / "configs" / "scenarios").glob("*.yaml"))
        text = self.rng.choice(files).read_bytes()[:3000]
        return [self.rng.choice(["check", "check", "sweep" if b"sweep" in text[:0] else "check"]), self.put("c.yaml", self.bytes_changed(text))]

    def calibration(self):
        files = sorted((ROOT / "configs").rglob("*.yaml"))
        return ["run", str(ROOT / "configs" / "scenarios" / "simple_conv.yaml"), "--calibration",
                self.put("k.yaml", self.bytes_changed(self.rng.choice(files).read_bytes()[:2000]))]

    def operators(self):
        """A program of a few operators with numbers that no size can be."""
        rng = self.rng
        shapes = ["(3,)", "(1, 4, 2, 2)", "(2, 0, 3)", "()", "(1, 1, 2, 2, 2)", "(4, 4)"]
        if not hasattr(self, "table_of_ops"):
            done = subprocess.run([TIDEMARK, "ops", "--format", "json"], capture_output=True, check=True)
            self.table_of_ops = json.loads(done.stdout)
        lines = ["import torch", "F = torch.nn.functional"]
        for _ in range(rng.randint(1, 3)):
            entry = rng.choice(self.table_of_ops)
            name, _, rest = entry["signature"].partition("(")
            words = []
            for parameter in rest.rstrip(")").split(", "):
                if parameter.startswith("*") or "=" in parameter and rng.random() < 0.5:
                    continue
                kind = parameter.split(" ")[0]
                number = str(rng.choice([0, 1, -1, 2, 3, 1 << 20, 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 62)]))
                if kind.startswith("Tensor[]"):
                    words.append("[torch.zeros(" + rng.choice(shapes) + ", device='cuda')] * 2")
                elif kind.startswith("Tensor"):
                    words.append("torch.zeros(" + rng.choice(shapes) + ", device='cuda', requires_grad=" + rng.choice(["True", "False"]) + ")")
                elif kind.startswith("int["):
                    words.append("[" + ", ".join([number] * rng.randint(0, 3)) + "]")
                elif kind.startswith("int"):
                    words.append(number)
                elif kind.startswith("bool"):
                    words.append(rng.choice(["True", "False"]))
                else:
                    words.append(rng.choice(["0.5", "'x'", "None", "1e300", number]))
            ways = entry["where"].split()
            where = "F" if "F" in ways else "torch" if "torch" in ways else "torch.Tensor"
            lines += ["try:", f"    y = {where}.{name}({', '.join(words)})", "    if isinstance(y, torch.Tensor) and y.requires_grad: y.sum().backward()",
                      "except Exception as error: print(type(error))"]
        return ["--max-seconds", "5", "--max-memory", "512MiB", "run", self.put("o.py", "\n".join(lines) + "\n"), "--device", "h100"]


def main():
    global TIDEMARK
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tidemark")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", default="build/fuzz/found/commands")
    parser.add_argument("--only", action="append", metavar="TARGET")
    args = parser.parse_args()
    TIDEMARK = str(pathlib.Path(args.tidemark).resolve())
    names = args.only or ["snapshot", "weights", "operators", "results", "hf", "trace", "events", "scenario", "calibration"]
    findings = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            targets = Targets(random.Random(f"{args.seed} {name}"), pathlib.Path(folder))
            end, executions, refused = time.monotonic() + args.seconds / len(names), 0, 0
            while time.monotonic() < end:
                words = getattr(targets, name)()
                executions += 1
                try:
                    done = subprocess.run([TIDEMARK, *words], capture_output=True, timeout=30, check=False)
                    bad = done.returncode < 0 or done.returncode == 70 or b"Sanitizer" in done.stderr or b"runtime error:" in done.stderr
                    refused += done.returncode == 2
                    told = f"exit code {done.returncode}\n" + done.stderr.decode(errors="replace")[-2000:]
                except subprocess.TimeoutExpired:
                    bad, told = True, "more than 30 s"
                if bad:
                    findings += 1
                    kept = pathlib.Path(args.kept) / f"{name}-{args.seed}-{executions}"
                    kept.mkdir(parents=True, exist_ok=True)
                    for file in pathlib.Path(folder).iterdir():
                        if str(file) in words:
                            (kept / file.name).write_bytes(file.read_bytes())
                    (kept / "command").write_text(" ".join(words).replace(folder, str(kept)) + "\n" + told + "\n")
                    print(f"commands/{name}: finding kept in {kept}: {told.splitlines()[0]}")
                    if findings >= 20:
                        return 1
            print(f"commands/{name}: {executions} executions, {refused} refused, seed {args.seed}", flush=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
