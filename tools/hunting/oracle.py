"""The real PyTorch as a service: one process a device, kept for as long as it is used."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEVICES = HERE.parent.parent / "configs" / "devices"
VARIABLES = {"name": "FAKECUDA_NAME", "total_memory_bytes": "FAKECUDA_TOTAL_BYTES", "context_bytes": "FAKECUDA_CONTEXT_BYTES",
             "sm_count": "FAKECUDA_SM_COUNT", "l2_bytes": "FAKECUDA_L2_BYTES", "smem_optin_bytes": "FAKECUDA_SMEM_OPTIN",
             "max_threads_per_sm": "FAKECUDA_THREADS_SM", "compute_capability": "FAKECUDA_CC"}
KEPT = 4  # processes; each holds some 500 MB


class OracleFailed(Exception):
    """PyTorch gave no answer: the process of the program died or took too long"""


def device_environment(device, total):
    """what makes the pretend GPU look like a device of configs/devices"""
    env = {}
    for line in (DEVICES / (device + ".yaml")).read_text().splitlines():
        found = re.match(r"(\w+): (.*)$", line)
        if found and found.group(1) in VARIABLES and found.group(2).strip() not in ("", "null"):
            env[VARIABLES[found.group(1)]] = found.group(2).strip().strip('"')
    env["FAKECUDA_CC"] = env["FAKECUDA_CC"].replace(".", "")
    if total:
        env["FAKECUDA_TOTAL_BYTES"] = str(total)
    return env


class Oracle:
    """Requires: TIDEMARK_ORACLE names a folder whose program `run` is a Python with PyTorch 2.11 on the pretend GPU."""

    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder or os.environ["TIDEMARK_ORACLE"]).expanduser()
        self.servers = collections.OrderedDict()
        self.answers = tempfile.TemporaryDirectory(prefix="hunt-")

    def server(self, case):
        key = (case.device, case.total)
        if key not in self.servers:
            while len(self.servers) >= KEPT:
                self.stop(self.servers.popitem(last=False)[1])
            env = {k: v for k, v in os.environ.items() if not k.startswith("PYTORCH_")}
            env.update(device_environment(*key), PYTHONHASHSEED="0", TORCH_SYMBOLIZE_MODE="dladdr")
            server = subprocess.Popen([str(self.folder / "run"), str(HERE / "server.py")], env=env, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if not server.stdout.readline():
                raise OracleFailed("no PyTorch in %s" % self.folder)
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

    def close(self):
        for server in self.servers.values():
            self.stop(server)
        self.servers.clear()
        self.answers.cleanup()
