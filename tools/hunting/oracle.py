"""The real PyTorch as a service: one process a device, kept for as long as it is used."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "validation"))
from pretend import device as pretend_device  # noqa: E402

KEPT = 8  # processes; each holds some 500 MB and takes seconds to start


class OracleFailed(Exception):
    """PyTorch gave no answer: the process of the program died or took too long"""


class Oracle:
    """Requires: TIDEMARK_ORACLE names a folder whose program `run` is a Python with PyTorch on the pretend GPU. `torch` is its version
    once something ran."""

    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder or os.environ["TIDEMARK_ORACLE"]).expanduser()
        self.servers = collections.OrderedDict()
        self.torch = ""
        self.answers = tempfile.TemporaryDirectory(prefix="hunt-")

    def server(self, case):
        key = (case.device, case.total)
        if key not in self.servers:
            while len(self.servers) >= KEPT:
                self.stop(self.servers.popitem(last=False)[1])
            env = {k: v for k, v in os.environ.items() if not k.startswith("PYTORCH_")}
            env.update(pretend_device.environment(*key), PYTHONHASHSEED="0", TORCH_SYMBOLIZE_MODE="dladdr")
            server = subprocess.Popen([str(self.folder / "run"), str(HERE / "server.py")], env=env, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            hello = server.stdout.readline()
            if not hello:
                raise OracleFailed("no PyTorch in %s" % self.folder)
            self.torch = json.loads(hello)["torch"]
            self.servers[key] = server
        self.servers.move_to_end(key)
        return self.servers[key]

    def run(self, case, stacks=False, limit_s=60):
        """events [[action, address, bytes, stream, phase]], ops (with stacks), error and oom texts of the program"""
        server = self.server(case)
        path = os.path.join(self.answers.name, "answer.json")
        if os.path.exists(path):
            os.remove(path)
        given = {k: getattr(case, k) for k in ("code", "loop", "conf", "fraction", "backends")}
        server.stdin.write(json.dumps({"case": given, "stacks": stacks, "limit_s": limit_s, "answer": path}) + "\n")
        server.stdin.flush()
        status = server.stdout.readline().strip()
        if not status:  # the service itself died: the next program gets a fresh one
            self.stop(self.servers.pop((case.device, case.total)))
        if status != "0" or not os.path.exists(path):
            raise OracleFailed("PyTorch's process ended with status %s" % status)
        with open(path) as file:
            return json.load(file)

    @staticmethod
    def stop(server):
        server.stdin.close()
        server.wait()
        server.stdout.close()

    def start_anew(self, case):
        """the next run of the case is in another process, whose addresses on the host are others"""
        server = self.servers.pop((case.device, case.total), None)
        if server:
            self.stop(server)

    def close(self):
        for server in self.servers.values():
            self.stop(server)
        self.servers.clear()
        self.answers.cleanup()
