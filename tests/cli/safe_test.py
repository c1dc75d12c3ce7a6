#!/usr/bin/env python3
"""What a stranger's file may not do (docs/security.md): look elsewhere, write, start or call anything, hang, or end in "a bug in tidemark".

    safe_test.py TIDEMARK
"""
import gzip
import os
import pathlib
import pickle
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMPLE_CONV = str(ROOT / "configs" / "scenarios" / "simple_conv.yaml")
TIDEMARK = ""
SWEEP = """schema_version: 1
device: h100
params: {n: 1}
layers: [Linear(400, 400), Linear(400, 10)]
train: {steps: 40, batch: n, input: [400], target: [], loss: cross_entropy, optimizer: Adam(lr=0.1)}
sweep: {grid: {n: {from: 1, to: 3000, step: 1}}}
"""


def run(*words, cwd=None, env=None, limits=(), text=None, seconds=120):
    def limit():
        for kind, most in limits:
            resource.setrlimit(kind, (most, most))

    return subprocess.run([TIDEMARK, *words], cwd=cwd, env=env, input=text, capture_output=True, text=True, check=False, preexec_fn=limit, timeout=seconds)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "in").mkdir()
        (self.folder / "secret.txt").write_text("secret = 'do not tell'\n")

    def put(self, name, text):
        file = self.folder / "in" / name
        file.write_text(text)
        return str(file)

    def program(self, text, *words, more=()):
        return run(*words, "run", self.put("p.py", text), "--device", "h100", *more, cwd=self.folder / "in")


class Reading(Folder):
    def refused(self, done, words, printed=""):
        self.assertEqual((done.returncode, done.stdout), (2, printed), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertNotIn("do not tell", done.stderr)
        self.assertNotIn("root:", done.stderr)
        self.assertRegex(done.stderr, r":\d+:\d+: error: ")

    def test_a_scenario_names_only_regular_files_of_its_own_folder(self):
        os.mkfifo(self.folder / "in" / "pipe")
        (self.folder / "in" / "link.py").symlink_to(self.folder / "secret.txt")
        outside = "outside of what may be read here; 'tidemark --allow-read FOLDER COMMAND ...' lets it be read"
        for name, words in (("/etc/shadow", outside), ("/proc/self/environ", outside), ("/dev/zero", outside), ("../secret.txt", outside),
                            ("link.py", outside), ("pipe", "is no regular file"), ('"p\\0.py"', "a path cannot have a NUL in it")):
            with self.subTest(name):
                scenario = self.put("s.yaml", f"schema_version: 1\ndevice: h100\nmodel: {{file: {name}, class: A}}\nloop: pass\n")
                self.refused(run("run", scenario, cwd=self.folder / "in"), words)
        for key in ("packages: [..]", "device: ../secret.yaml", "script: ../secret.txt"):
            with self.subTest(key):
                rest = "" if "device" in key else "device: h100\n"
                loop = "" if "script" in key else "loop: pass\n"
                self.refused(run("run", self.put("s.yaml", f"schema_version: 1\n{rest}{key}\n{loop}"), cwd=self.folder / "in"), outside)

    def test_code_that_a_scenario_names_lies_in_its_project_or_where_the_user_says(self):
        (self.folder / "code").mkdir()
        (self.folder / "code" / "model.py").write_text("import other\nprint(other.x)\n", encoding="utf-8")
        (self.folder / "code" / "other.py").write_text("x = 'imported'\n", encoding="utf-8")
        (self.folder / "code" / "notes.txt").write_text("do not tell", encoding="utf-8")
        head = "schema_version: 1\ndevice: h100\n"
        outside = "outside of what may be read here; 'tidemark --allow-read FOLDER COMMAND ...' lets it be read"
        for text in (head + "model: {file: ../code/model.py}\nloop: pass\n", head + "model: {code: import model, path: ../code}\nloop: pass\n",
                     head + "script: ../code/model.py\n"):
            with self.subTest(text):
                scenario = self.put("s.yaml", text)
                self.refused(run("run", scenario, cwd=self.folder / "in"), outside)
                done = run("--allow-read", "../code", "run", scenario, cwd=self.folder / "in")
                self.assertEqual((done.returncode, done.stdout.split("\n")[0]), (0, "imported"), done.stderr)
                for mark in ("pyproject.toml", "scenario.schema.json"):
                    (self.folder / mark).write_text("", encoding="utf-8")
                    done = run("run", scenario, cwd=self.folder / "in")
                    self.assertEqual((done.returncode, done.stdout.split("\n")[0]), (0, "imported"), done.stderr)
                    (self.folder / mark).unlink()
        (self.folder / "pyproject.toml").write_text("", encoding="utf-8")
        scenario = self.put("s.yaml", head + "model: {file: ../code/model.py}\nloop: print(open('../code/notes.txt').read())\n")
        self.refused(run("run", scenario, cwd=self.folder / "in"), "outside of what may be read here", printed="imported\n")

    def test_the_home_folder_is_no_project(self):
        (self.folder / "code").mkdir()
        (self.folder / "code" / "model.py").write_text("", encoding="utf-8")
        (self.folder / ".git").mkdir()
        scenario = self.put("s.yaml", "schema_version: 1\ndevice: h100\nmodel: {file: ../code/model.py}\nloop: pass\n")
        self.refused(run("run", scenario, cwd=self.folder / "in", env={**os.environ, "HOME": str(self.folder)}), "outside of what may be read here")

    def test_model_code_opens_and_imports_only_what_it_may(self):
        (self.folder / "in" / "leads_out.py").symlink_to(self.folder / "secret.txt")
        self.put("data.txt", "own text")
        self.assertIn("own text", self.program("print(open('data.txt').read())\n").stdout)
        for code in ("open('/etc/shadow').read()", "open('/proc/self/environ').read()", "open('../secret.txt').read()", "open('leads_out.py').read()",
                     "import leads_out", "import pathlib; pathlib.Path('/etc/passwd').read_text()"):
            with self.subTest(code):
                self.refused(self.program(code + "\n"), "outside of what may be read here")
        self.assertEqual(self.program("import os, sys\nsys.path.insert(0, '..')\nprint(os.path.exists('/etc/passwd'))\n"
                                      ).stdout.split("\n")[0], "False")

    def test_allow_read_opens_one_folder_more(self):
        done = self.program("print(open('../secret.txt').read())\n", "--allow-read", str(self.folder))
        self.assertIn("do not tell", done.stdout)

    def test_the_home_folder_is_not_open_because_a_command_runs_there(self):
        (self.folder / "mine.txt").write_text("do not tell\n")
        program = self.put("p.py", "print(open('mine.txt').read())\n")
        done = run("run", program, "--device", "h100", cwd=self.folder, env={**os.environ, "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("do not tell", done.stdout + done.stderr)

    def test_nothing_is_written_called_or_started(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        program = self.put("p.py", "import os, subprocess, socket, torch\nopen('written.txt', 'w').write('x')\nos.makedirs('made', exist_ok=True)\n"
                                   "torch.save({}, 'm.pt')\nfor call in (lambda: os.system('true'), lambda: subprocess.run(['true'])):\n"
                                   "    try: call()\n    except Exception: pass\n")
        log = self.folder / "log"
        subprocess.run(["strace", "-f", "-o", log, "-e", "trace=execve,socket,connect,unlink,unlinkat,rename,mkdir,mkdirat,open,openat,creat,fork,vfork",
                        TIDEMARK, "run", program, "--device", "h100"], cwd=self.folder / "in", capture_output=True, check=False, timeout=120)
        calls = log.read_text().splitlines()
        if not any("execve(" in call for call in calls):
            self.skipTest("strace may not trace here")
        kinds = {kind: [call for call in calls if re.search(kind, call)] for kind in
                 (r"\bexecve\(", r"\b(socket|connect)\(", r"\b(unlink|unlinkat|rename|mkdir|mkdirat|creat)\(", r"O_(WRONLY|RDWR|CREAT)", r"\bv?fork\(")}
        self.assertEqual([len(found) for found in kinds.values()], [1, 0, 0, 0, 0], kinds)
        self.assertEqual(sorted(file.name for file in (self.folder / "in").iterdir()), ["p.py"])


class Sizes(Folder):
    def test_sizes_that_no_tensor_has_are_told_as_pytorch_tells_them(self):
        cases = {
            "F.pixel_shuffle(x, 2**62)": "pixel_shuffle: integer multiplication overflow",
            "x.expand(2**62, 2**62, 1, 4, 2, 2)": "numel: integer multiplication overflow",
            "F.unfold(x, 1, stride=0)": "stride should be greater than zero, but got stride_height: 0 stride_width: 0",
            "F.unfold(x, 0)": "kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 0",
            "F.interpolate(x, scale_factor=1e30)": "value cannot be converted to type int64_t without overflow",
            "F.interpolate(torch.zeros(1, 1, 2, 2, 2), scale_factor=[1.0, 2.0])": "must have the same number of spatial dimensions",
            "F.max_pool2d(x, 2**62)": "integer out of range",
            "F.conv2d(x, torch.zeros(4, 4, 2, 2, device='cuda'), padding=2**62)": "convolution: integer multiplication overflow",
            "x.view(2**62, 64)": "shape '[4611686018427387904, 64]' is invalid for input of size 16",
            "torch.arange(0, 1, 1e-300)": "invalid size, possible overflow?",
            "torch.triu_indices(2**40, 2**40)": "numel: integer multiplication overflow",
            "torch.tril_indices(-1, 2)": "row must be non-negative, got-1",
            "torch.zeros(2**60)": "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4611686018427387904 bytes",
            "torch.empty_strided((2, 2), (2**62, 2**62))": "Storage size calculation overflowed with sizes=[2, 2]",
            "x.repeat(2**62, 2**62, 2**62, 2**62)": "repeat: integer multiplication overflow",
            "torch.zeros([1] * 9)": "tensors of more than 8 dimensions are not modelled",
            "x.view([1] * 8 + [16])": "tensors of more than 8 dimensions are not modelled",
            "torch.special_xlog1py(1, 1e300)": "an argument is of a type that does not fit",
        }
        for call, words in cases.items():
            with self.subTest(call):
                done = self.program(f"import torch\nF = torch.nn.functional\nx = torch.zeros(1, 4, 2, 2, device='cuda')\n{call}\n")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertIn("p.py:4:1: error: ", done.stderr)

    def test_triangles_are_counted_as_pytorch_counts_them(self):
        done = self.program("import torch\nfor r, c, o in ((3, 4, -5), (3, 4, 5), (3, 4, 0), (3, 4, 2), (5, 2, -1), (3, 0, 0), (3, 4, -2**62), (3, 4, 2**62)):\n"
                            "    print(torch.tril_indices(r, c, o).shape[1], torch.triu_indices(r, c, o).shape[1])\n")
        self.assertEqual(done.stdout.split("\n")[:8], ["0 12", "12 0", "6 9", "11 3", "7 5", "0 0", "0 12", "12 0"])


class Foreign(Folder):
    def test_methods_and_inner_functions_refuse_what_is_none_of_theirs(self):
        calls = ["torch.Tensor.float(5)", "torch.Tensor.float()", "torch.Tensor.to(5, 1)", "torch.Tensor.size(None)", "torch.Tensor.grad.__get__(5)",
                 "torch.nn.Module.named_parameters(torch.nn.Module)", "torch.nn.Module._set_backward_hooks(5, 5)", "bytes.strip()", "bytes.strip(bytes)",
                 "type(torch).__init__([], 1)", "torch.device.__exit__(torch.device('cpu'))", "torch._C.backward([1], [2])", "torch._C.gradients([x], [], [], True)",
                 "torch._C.all_on_cuda([1])", "torch._C.flatten_weights([])", "torch._C.without_grad()", "torch._C.end_worker(0)", "torch._C.call_local()", "torch._C.call_compiled()",
                 "torch._C.pop_saved_tensors_hooks()", "torch._C.seed_generator(-1, 1)", "torch._C.record_event(1, 1, 1)", "torch._C.stream_from_pool(0, -1)",
                 "torch._C.release_rule('x')", "torch._C.make_dtensor(x, 1, 1, 2)", "torch._C.unreached([1], [])", "torch._C.as_operand(1)",
                 "torch._C.run_kernel(1, 2, 3)", "torch._C.run_kernel([], [], [])", "torch._C.take_kernel([x], [1])", "torch._C.own_number(1, 2)",
                 "torch._C.cast_kept(1)", "torch._C.keep_optimizer_state(1)", "torch._C.keep_cast(1, 2)", "torch._C.keep_cast(x, None)",
                 "torch._C.spread_op('a', [x], [x], len, len, len)", "torch._C.numbered_part(x, 0, 2 ** 62, 2 ** 62)", "torch._C.by_rank(1, 2)",
                 "torch._C.gathered(1, 2, 3)", "torch.cuda._use(300)", "torch.cuda._told(99)", "torch.ones(2, device=torch.cuda._device_of(77))",
                 "_tidemark.set_construct(1, 2)", "torch.autograd.backward([1], [2])", "torch.Size([2 ** 62, 2 ** 62]).numel()", "torch.nn.LSTM(3, 3, -1)",
                 "torch.nn.LSTM(3, 0)"]
        lines = ["import _tidemark, torch", "x = torch.ones(2, device='cuda', requires_grad=True)"]
        for call in calls:
            lines += [f"try: print('gave', {call})", "except Exception as error: print(type(error).__name__)"]
        done = self.program("\n".join(lines) + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = done.stdout.split()[:len(calls)]
        self.assertEqual([call for call, word in zip(calls, told) if word not in ("TypeError", "ValueError", "RuntimeError")], [], done.stdout)

    def test_a_scalar_has_no_dims_to_reduce(self):
        done = self.program("import torch\nx = torch.tensor(5)\nprint(x.sum(0).item(), x.prod(-1).item(), x.amax(0).item())\n")
        self.assertEqual((done.returncode, done.stdout.splitlines()[:1]), (0, ["5 5 5"]), done.stderr)


class Costs(Folder):
    def test_what_was_quadratic_is_done_in_seconds(self):
        begun = time.monotonic()
        done = self.program("import collections\nd = collections.deque(range(200000))\nwhile d: d.popleft()\n"
                            "print('done')\n")
        self.assertEqual(done.stdout.split("\n")[0], "done")
        done = self.program("class A: pass\na = A()\nfor i in range(100000): setattr(a, f'x{i}', i)\n"
                            "for i in range(0, 100000, 2): delattr(a, f'x{i}')\na.x2 = 'again'\n"
                            "print(len(vars(a)), list(vars(a))[:2], list(vars(a))[-1], hasattr(a, 'x4'), a.x99999)\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("50001 ['x1', 'x3'] x2 False 99999", done.stdout)
        text = "s = ''.join(chr(97 + i % 26) if i % 3 else chr((233, 8364, 128512)[i // 3 % 3]) for i in range(200000))\n"
        done = self.program(text + "print(sum(ord(s[i]) for i in range(len(s))) == sum(ord(c) for c in s), s[63:66] == s[63] + s[64] + s[65])\n"
                            "print(s[-1] == s[199999], s[199999:] == s[-1:], s[200000:] == '', s[5:2:-1] == s[5] + s[4] + s[3], s[::-1][::-1] == s)\n")
        self.assertEqual(done.stdout.split("\n")[:2], ["True True", "True True True True True"], done.stderr)
        params = "".join(f"  p{i}: {i}\n" for i in range(100000))
        done = run("run", self.put("s.yaml", f"schema_version: 1\ndevice: h100\nparams:\n{params}loop: pass\n"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(time.monotonic() - begun, 60)

    def test_a_yaml_file_of_any_size_is_read_in_bounded_memory(self):
        huge, packed = self.put("huge.yaml", ""), self.put("packed.yaml", "")
        os.truncate(huge, 2 << 30)
        with gzip.open(packed, "wb") as out:
            for _ in range(80):
                out.write(bytes(range(256)) * 30 * 128 + os.urandom(8192))
        for file in (huge, packed):
            done = run("check", file, limits=[(resource.RLIMIT_AS, 400 << 20)])
            self.assertEqual((done.returncode, "more than 64 MiB" in done.stderr), (2, True), done.stderr)

    def test_eight_thousand_layers_are_no_endless_loop_for_ddp(self):
        done = self.program("import torch\nfrom torch import nn\nimport torch.distributed as dist\ndist.init_process_group('nccl')\n"
                            "nn.parallel.DistributedDataParallel(nn.Sequential(*[nn.Linear(2, 2) for i in range(8000)]).cuda())\nprint('made')\n",
                            more=["--world", "2", "--rank", "0"])
        self.assertEqual(done.stdout.split("\n")[0], "made", done.stderr)


def recording(file, events):
    """A pickle as PyTorch writes one: each event has a list and 40 dicts of its own for its stack, of texts that all share."""
    texts = ["device_traces", "segments", "action", "addr", "size", "stream", "time_us", "frames", "alloc", "free_requested", "free_completed",
             "name", "filename", "line", "train.py", "forward"]
    slot = {text: i for i, text in enumerate(texts)}
    out = bytearray(b"\x80\x04}(\x8c\x05texts(" + b"".join(b"\x8c" + bytes([len(text)]) + text.encode() + b"\x94" for text in texts) + b"t")
    get = {text: b"h" + bytes([i]) for text, i in slot.items()}
    frame = b"}\x94(" + get["name"] + get["forward"] + get["filename"] + get["train.py"] + get["line"]
    stack = get["frames"] + b"]\x94(" + b"".join(frame + b"K" + bytes([line]) + b"u" for line in range(40)) + b"e"
    out += get["segments"] + b"]\x94" + get["device_traces"] + b"]\x94(]\x94"
    for i in range(events):
        action = ("alloc", "free_requested", "free_completed")[i % 3]
        if i % 1000 == 0:
            out += b"("
        out += (b"}\x94(" + get["action"] + get[action] + get["addr"] + b"J" + (2 ** 20 * (1 + i // 3 % 500)).to_bytes(4, "little") + get["size"] + b"M\0\2"
                + get["stream"] + b"K\0" + get["time_us"] + b"J" + i.to_bytes(4, "little") + stack + b"u")
        if i % 1000 == 999 or i == events - 1:
            file.write(out + b"e")
            out.clear()
    file.write(b"eu.")


class Snapshots(Folder):
    def recorded(self, name, events):
        with (self.folder / name).open("wb") as file:
            recording(file, events)
        return self.folder / name

    def peak_of(self, *words):
        """KiB, of one command. What this process holds is the least that is told."""
        child = subprocess.Popen([TIDEMARK, *words], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(child.returncode, (0, 1))  # 1: of diff
        return usage.ru_maxrss

    def test_a_recording_takes_a_third_of_its_file(self):
        large, small = self.recorded("large.pickle", 150_000), self.recorded("small.pickle", 30)
        for words in (("replay",), ("explain",), ("diff", str(small))):
            with self.subTest(words):
                taken = self.peak_of(*words, str(large)) - self.peak_of(*words, str(small))
                self.assertLess(taken * 1024 / large.stat().st_size, 1 / 3)

    def without_stacks(self, name, requests):
        """Each is freed before the next comes."""
        base, trace = 0x7F0000000000, []

        def event(action, size):
            trace.append({"action": action, "addr": base, "size": size, "stream": 0, "time_us": 5 * len(trace)})

        event("segment_alloc", 2 << 20)
        for i in range(requests):
            for action in ("alloc", "free_requested", "free_completed"):
                event(action, 512 * (1 + i % 100))
        blocks = [{"address": base, "size": 2 << 20, "requested_size": 0, "state": "inactive"}]
        segment = {"address": base, "total_size": 2 << 20, "stream": 0, "segment_type": "small", "blocks": blocks}
        file = self.folder / name
        file.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [trace], "allocator_settings": {}}))
        return str(file)

    def test_a_recording_takes_some_bytes_an_event_whatever_is_asked_of_it(self):
        requests = 100_000
        large, small = self.without_stacks("large.pickle", requests), self.without_stacks("small.pickle", 10)
        told = run("replay", large)
        self.assertIn("every event agrees, with every address, peak, segment and final block", " ".join(told.stdout.split()))
        rows = str(self.folder / "rows.csv")
        for words in (("replay",), ("replay", "--events", rows), ("replay", "--timeline", rows), ("replay", "--trace-out", rows), ("explain",),
                      ("diff", small)):
            with self.subTest(words):
                taken = self.peak_of(*words, large) - self.peak_of(*words, small)
                self.assertLess(taken * 1024 / (3 * requests), 24)

    def test_a_recording_is_read_and_played_within_the_memory_allowed(self):
        large = self.recorded("large.pickle", 400_000)
        for words in (("replay",), ("explain",), ("diff", str(large)), ("report", "-o", str(self.folder / "r.html")), ("tune",)):
            with self.subTest(words):
                done = run("--max-memory", "3MiB", *words, str(large))
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn("more than 3.00 MiB of the host's memory", done.stderr)
                self.assertIn("'tidemark --max-memory SIZE COMMAND ...' gives it more", done.stderr)

    def test_a_history_without_a_request_and_one_that_says_an_address_twice_are_read(self):
        def event(action, address, size):
            return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": 1, "frames": []}

        empty = [event("snapshot", 4 << 20, 512), event("snapshot", 2 << 20, 20 << 20)]
        twice = [event("segment_alloc", 2 << 20, 2 << 20), event("segment_alloc", 2 << 20, 2 << 20), event("alloc", 2 << 20, 512),
                 event("segment_free", 2 << 20, 2 << 20), event("segment_free", 2 << 20, 2 << 20)]
        for trace in (empty, twice):
            file = self.folder / "s.pickle"
            file.write_bytes(pickle.dumps({"segments": [], "device_traces": [trace], "allocator_settings": {}}))
            recording = str(ROOT / "tests" / "golden" / "recordings" / "mlp.pickle.gz")
            for words in (["diff", str(file), recording], ["replay", str(file)], ["explain", str(file)]):
                with self.subTest(words):
                    done = run(*words)
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr)


class Faults(Folder):
    def test_a_full_disk_a_closed_output_and_no_folder_for_temporary_files_are_told(self):
        for words, code in ((f"run {SIMPLE_CONV} > /dev/full", 4), (f"run {SIMPLE_CONV} --events /dev/full > /dev/null", 4), (f"run {SIMPLE_CONV} >&-", 4)):
            with self.subTest(words):
                done = subprocess.run(f"{TIDEMARK} {words}", shell=True, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code)
                self.assertRegex(done.stderr, "^error: .*(No space left on device|Bad file descriptor)\n$")
        done = run("run", SIMPLE_CONV, "--plot", str(self.folder / "p.png"), env={**os.environ, "TMPDIR": "/nonexistent"})
        self.assertEqual((done.returncode, done.stderr), (4, "error: TMPDIR: /nonexistent: there is no such folder for temporary files\n"))

    def test_a_file_that_may_not_grow_is_a_failed_write(self):
        events = self.folder / "e.csv"
        done = run("run", SIMPLE_CONV, "--events", str(events), limits=[(resource.RLIMIT_FSIZE, 4096)])
        self.assertEqual((done.returncode, done.stderr), (4, f"error: {events}: File too large\n"))
        self.assertFalse(events.exists())

    def test_a_host_with_too_little_memory_is_told(self):
        event = b"}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x00\x8c\x04sizeM\x00\x02u"
        snapshot = self.folder / "in" / "s.pickle"
        snapshot.write_bytes(b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces](](" + event * 1_000_000 + b"eeu.")
        done = run("replay", str(snapshot), limits=[(resource.RLIMIT_AS, 100 << 20)])
        self.assertEqual((done.returncode, done.stderr), (2, "error: the host has too little memory for this run\n"))

    def test_a_sweep_does_with_the_threads_that_it_gets(self):
        if os.getuid() != 0:
            self.skipTest("only root can take another user's limit")
        scenario = self.put("s.yaml", SWEEP.replace("3000", "5"))
        os.chmod(self.folder, 0o755)

        def alone():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            os.setuid(65534)

        if subprocess.run([TIDEMARK, "--version"], capture_output=True, check=False, user=65534).returncode != 0:
            self.skipTest("another user may not run the program here")
        done = subprocess.run([TIDEMARK, "sweep", scenario, "--threads", "8"], preexec_fn=alone, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("5 of 5 cells fit", done.stdout)

    def test_an_interrupted_sweep_says_how_it_goes_on_and_does(self):
        scenario, out = self.put("s.yaml", SWEEP), str(self.folder / "r.sqlite")
        process = subprocess.Popen([TIDEMARK, "sweep", scenario, "--out", out, "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        found = re.fullmatch(rf"Interrupted: (\d+) of 3000 cells are in {re.escape(out)}. The same command goes on with --resume\n", told)
        self.assertIsNotNone(found, told)
        rows = run("results", out, "--format", "csv", "--limit", "0").stdout.count("\n") - 1
        self.assertEqual(rows, int(found[1]))
        # A debug build takes its time for 3,000 cells.
        self.assertEqual(run("sweep", scenario, "--out", out, "--resume", seconds=1200).returncode, 0)
        self.assertEqual(run("results", out, "--format", "csv", "--limit", "0").stdout.count("\n") - 1, 3000)


if __name__ == "__main__":
    TIDEMARK = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.skipped else 0)
