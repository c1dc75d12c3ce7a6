"""Runs a user's own program, unmodified, and keeps what PyTorch's allocator did: watched.py OUT SCRIPT ARGS..., or OUT -m MODULE ARGS...

Memory history begins when the program first uses CUDA. OUT gets run.json, run.events.csv.gz and snapshot.pickle. Processes that the program
starts (multiprocessing by fork or spawn, another Python) are watched as well, each in OUT/process-PID; where the program itself uses no CUDA,
what is told is of the one that held the most.
Exit codes: 0 the program ended (an out-of-memory error too), 2 it raised something else, 78 it never used CUDA.
"""
import atexit
import glob
import importlib.abc
import importlib.machinery
import importlib.util
import json
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
        self.pid = os.getpid()

    def begin(self, torch):
        """at the first use of CUDA, when PyTorch has made its context"""
        def start():
            if not self.started and os.getpid() == self.pid:
                self.started = True
                torch.cuda.memory._record_memory_history(enabled="all", context="all", stacks="all", max_entries=LARGEST_HISTORY)
        torch.cuda._lazy_call(start)

    def in_child(self):
        """after a fork: what the parent did is not this process's"""
        self.started, self.pid = False, os.getpid()


def keep(out, watch, ended, command, own, tools):
    """what the allocator of this process did, as files"""
    sys.path.insert(0, tools)
    import measured
    torch = sys.modules["torch"]
    traces = torch.cuda.memory._snapshot()["device_traces"][:torch.cuda.device_count()]
    measured.write(out, "run", traces, ended, command, own)
    torch.cuda.memory._dump_snapshot(os.path.join(out, "snapshot.pickle"))
    watch.started = False


def chain_of(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def finish_child(out, watch):
    """at the end of a process that the program started; its error, if there is one, is on its way"""
    if not watch.started or os.getpid() != watch.pid:
        return
    torch, error = sys.modules["torch"], sys.exc_info()[1]
    oom = next((e for e in chain_of(error) if isinstance(e, torch.cuda.OutOfMemoryError)), None)
    ended = {"ended_by_oom": oom is not None, "oom_message": str(oom) if oom else "", "error": ""}
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    keep(os.path.join(out, "process-%d" % os.getpid()), watch, ended, " ".join(sys.argv), own_files([main or "-m"]),
         os.path.dirname(os.path.abspath(__file__)))


def watch_children(out, watch):
    """hooks for processes that multiprocessing forks from this one, or that this one is"""
    from multiprocessing import util

    def begin_child(_):
        watch.in_child()
        util.Finalize(None, finish_child, args=(out, watch), exitpriority=100)
    util.register_after_fork(watch, begin_child)


def watch_this_process(out):
    """of a process that the recorded program started by itself"""
    watch = Watch()
    sys.meta_path.insert(0, AfterTorch(watch.begin))
    watch_children(out, watch)
    # Where multiprocessing spawned it the error, if there is one, is known only before multiprocessing's own end.
    from multiprocessing import util
    util.Finalize(None, finish_child, args=(out, watch), exitpriority=100)
    atexit.register(finish_child, out, watch)


def take_children(out, used_here):
    """the results of the processes that the program started: of none of its own, those of the one that held the most. How it ended"""
    found = []
    for folder in sorted(glob.glob(os.path.join(out, "process-*"))):
        try:
            with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
                run = json.load(file)
        except (OSError, ValueError):
            continue
        found.append((max((d["peak_reserved_bytes"] for d in run["devices"]), default=0), folder, run))
    found.sort(key=lambda each: -each[0])
    if found:
        print("record: %d process%s that the program started used CUDA, each as if alone on the device; peak reserved bytes: %s%s"
              % (len(found), "" if len(found) == 1 else "es", ", ".join(str(peak) for peak, _, _ in found),
                 "" if used_here else "; what follows is of the first"), file=sys.stderr)
    if found and not used_here:
        for name in ("run.json", "run.events.csv.gz", "snapshot.pickle"):
            os.replace(os.path.join(found[0][1], name), os.path.join(out, name))
        return found[0][2]
    return None


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
    watch_children(out, watch)
    tools = sys.path[0]
    os.environ["TIDEMARK_WATCH"] = os.path.abspath(out)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.path.join(tools, "site"), os.environ.get("PYTHONPATH")]))
    ended, kept = outcome(words)
    sys.stdout.flush()
    child = take_children(out, watch.started)
    if child:
        return 0 if child["ended_by_oom"] or not ended["error"] else 2
    if not watch.started:
        print("record: the program %s" % ("ended before it used CUDA" if "torch" in sys.modules else "never imported torch"), file=sys.stderr)
        return NEVER_USED_CUDA if not ended["error"] else 2
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(5)
    keep(out, watch, ended, " ".join(words), own_files(words), tools)
    del kept
    sys.stderr.flush()
    os._exit(2 if ended["error"] else 0)  # tearing down is not part of the run


if __name__ == "__main__":
    sys.exit(main())
