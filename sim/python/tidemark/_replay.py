"""Playing recorded requests under other allocator settings."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional, Union

from tidemark import _core
from tidemark._scenario import warn
from tidemark._timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd


class ReplayResult:
    """One row a setting, in the order in which they were played (with `grid` the best first)."""

    def __init__(self, replay: _core.Replay, keeps_events: bool) -> None:
        self._replay = replay
        self._keeps_events = keeps_events

    @cached_property
    def document(self) -> dict[str, Any]:
        """What `tidemark replay --format json` prints (docs/formats/json.md)."""
        loaded: dict[str, Any] = json.loads(self._replay.document())
        return loaded

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The figures of each setting."""
        return list(self.document["settings"])

    @property
    def recording(self) -> Optional[dict[str, Any]]:
        """A memory snapshot: how its re-simulation compares with what was recorded."""
        found: Optional[dict[str, Any]] = self.document.get("recording")
        return found

    def timeline(self, row: int = 0) -> Timeline:
        """Every event of one row. Needs `events=True`."""
        if not self._keeps_events:
            raise ValueError("the replay kept no events: ask for them with events=True")
        if not 0 <= row < len(self.rows):
            raise IndexError(f"there are rows 0 to {len(self.rows) - 1}")
        return Timeline(self._replay.columns(row), self._replay.phases(row))

    def frame(self) -> pd.DataFrame:
        """One row a setting, figures as columns."""
        import pandas

        table: pd.DataFrame = pandas.DataFrame(self.rows)
        return table

    def text(self, *, width: int = 80) -> str:
        """What `tidemark replay` prints."""
        return self._replay.summary(width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<ReplayResult {self.document['trace']!r}: {len(self.rows)} settings>"

    def _repr_html_(self) -> str:
        from tidemark._html import table_html

        shown = ("alloc_conf", "peak_reserved_bytes", "peak_allocated_bytes", "device_calls", "retries", "ooms")
        return table_html(list(shown), [[row[name] for name in shown] for row in self.rows])


def replay(
    trace: Union[str, os.PathLike[str]],
    alloc_conf: Union[str, Sequence[str], None] = None,
    *,
    grid: bool = False,
    device: Optional[str] = None,
    device_bytes: Optional[int] = None,
    context_bytes: Optional[int] = None,
    memory_fraction: Optional[float] = None,
    pytorch: str = "",
    event_policy: str = "sync",
    gpu: Optional[int] = None,
    start: str = "",
    stop: str = "",
    events: bool = False,
) -> ReplayResult:
    """Plays what a program asked of the allocator, under one setting or many.

    Args:
        trace: a request trace (.tmt, plain or gzip), or a memory snapshot of PyTorch, which is first re-simulated from
            its own settings and compared with what was recorded.
        alloc_conf: PYTORCH_ALLOC_CONF, or several; "backend:naive" and "backend:ideal" are the bounds to compare with.
        grid: a snapshot: settings worth trying beside those, the best first.
        device: a GPU's id or a device file; without it an H100, or the recorded device.
        device_bytes, context_bytes: a device by its size, and what the CUDA context takes.
        memory_fraction: torch.cuda.set_per_process_memory_fraction(), from 0 to 1.
        pytorch: the release whose allocator it is, "2.4" to "2.15"; "2.11" without it.
        event_policy: when other streams' uses end: "sync", "ready", "lag:N", "simulated".
        gpu, start, stop: a snapshot: which device, from where to where ("step:2", an event's number, ...).
        events: keep every event, for ReplayResult.timeline().

    Raises:
        InputError: the trace, a setting or an argument is wrong.
        OSError: the trace cannot be read.
    """
    confs = [] if alloc_conf is None else [alloc_conf] if isinstance(alloc_conf, str) else list(alloc_conf)
    played = _core.replay(
        os.fspath(trace),
        confs,
        grid,
        device or "",
        device_bytes,
        context_bytes,
        memory_fraction,
        pytorch,
        event_policy,
        gpu,
        start,
        stop,
        events,
    )
    warn(played.warnings)
    return ReplayResult(played, events)
