"""Processes that a program starts: other ones than the one whose memory a run tells.

What a started process does is not followed, except where the run is told a rank of a job: then the processes are the
job's, in the order in which they start, and this rank's own runs where it starts.
"""
import _tidemark

_started = []  # how many so far
_choosers = []  # asked whether the process of an index is the one that the run follows


class Process:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs={}, *, daemon=None):
        if group is not None:
            raise AssertionError("group argument must be None for now")
        self._target, self._args, self._kwargs = target, tuple(args), dict(kwargs)
        self.name = f"Process-{len(_started) + 1}" if name is None else str(name)
        self.daemon = bool(daemon)
        self.pid = self.exitcode = None

    def run(self):
        if self._target:
            self._target(*self._args, **self._kwargs)

    def start(self):
        if self.pid is not None:
            raise AssertionError("cannot start a process twice")
        index = len(_started)
        _started.append(self.name)
        self.pid, self.exitcode = 100000 + index, 0
        if not any(choose(index) for choose in _choosers):
            _tidemark.note("a process that the program starts is not followed: its memory on the device is its own")
            return
        try:
            self.run()
        except SystemExit as ends:
            self.exitcode = ends.code or 0

    @property
    def ident(self):
        return self.pid

    def _check_started(self):
        if self.pid is None:
            raise AssertionError("can only join a started process")

    def join(self, timeout=None):
        self._check_started()

    def is_alive(self):
        return False

    def terminate(self):
        pass

    def close(self):
        pass

    kill = terminate
