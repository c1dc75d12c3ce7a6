"""Runs a user's own program, unmodified, and keeps what PyTorch's allocator did: watched.py OUT SCRIPT ARGS..., or OUT -m MODULE ARGS...

Memory history begins when the program first uses CUDA. OUT gets run.json, run.events.csv.gz and snapshot.pickle.
Exit codes: 0 the program ended (an out-of-memory error too), 2 it raised something else, 78 it never used CUDA.
"""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import threading
import traceback

LARGEST_HISTORY = 10**7
NEVER_USED_CUDA = 78


class AfterTorch(importlib.abc.MetaPathFinder):
    """calls `then` once the program has imported torch, before it goes on"""

    def __init__(self, then):
        self.then = then

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                self.then(module)
            spec.loader.exec_module = exec_module
        return spec


class Watch:
    def __init__(self):
        self.started = False

    def begin(self, torch):
        """at the first use of CUDA, when PyTorch has made its context"""
        def start():
            if not self.started and os.getpid() == self.pid:
                self.started = True
                torch.cuda.memory._record_memory_history(enabled="all", context="all", stacks="all", max_entries=LARGEST_HISTORY)
        self.pid = os.getpid()
        torch.cuda._lazy_call(start)


def run_program(words):
    """as Python itself would"""
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


def outcome(words):
    """how the program ended; the error keeps what was live alive"""
    try:
        run_program(words)
    except SystemExit as end:
        if end.code in (None, 0):
            return {"ended_by_oom": False, "oom_message": "", "error": ""}, None
        return {"ended_by_oom": False, "oom_message": "", "error": "the program ended with exit code %s" % end.code}, end
    except BaseException as error:  # noqa: BLE001  whatever it raises is how it ended
        traceback.print_exc()
        torch = sys.modules.get("torch")
        if torch and isinstance(error, torch.cuda.OutOfMemoryError):
            return {"ended_by_oom": True, "oom_message": str(error), "error": ""}, error
        return {"ended_by_oom": False, "oom_message": "", "error": "%s: %s" % (type(error).__name__, error)}, error
    return {"ended_by_oom": False, "oom_message": "", "error": ""}, None


def own_files(words):
    """the program's own source files: what is neither PyTorch's, Python's nor an installed package's"""
    files = [getattr(m, "__file__", None) for m in list(sys.modules.values())] + ([] if words[0] == "-m" else [words[0], os.path.abspath(words[0])])
    return {f for f in files if f and "site-packages" not in f and not f.startswith((sys.prefix + "/lib", sys.base_prefix + "/lib"))
            and os.path.basename(f) not in ("watched.py", "measured.py")}


def main():
    out, words = sys.argv[1], sys.argv[2:]
    watch = Watch()
    sys.meta_path.insert(0, AfterTorch(watch.begin))
    tools = sys.path[0]
    ended, kept = outcome(words)
    sys.stdout.flush()
    if not watch.started:
        print("record: the program %s" % ("ended before it used CUDA" if "torch" in sys.modules else "never imported torch"), file=sys.stderr)
        return NEVER_USED_CUDA if not ended["error"] else 2
    sys.path.insert(0, tools)
    import measured
    torch = sys.modules["torch"]
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(5)
    traces = torch.cuda.memory._snapshot()["device_traces"][:torch.cuda.device_count()]
    measured.write(out, "run", traces, ended, " ".join(words), own_files(words))
    torch.cuda.memory._dump_snapshot(os.path.join(out, "snapshot.pickle"))
    del kept
    sys.stderr.flush()
    os._exit(2 if ended["error"] else 0)  # tearing down is not part of the run


if __name__ == "__main__":
    sys.exit(main())
