"""What holds the memory of a run, and why."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional, Union

from tidemark import _core

if TYPE_CHECKING:
    import pandas as pd

_MOST = 1_000_000


class Explanation:
    """One device of a recording at one moment: what is live and who made it, what is free and who pins it; at an
    out-of-memory error its class with the proof, and the smallest change that would have avoided it."""

    def __init__(self, explained: _core.Explained) -> None:
        self._explained = explained

    @cached_property
    def document(self) -> dict[str, Any]:
        """What `tidemark explain --format json` prints, with every call site (docs/formats/json.md)."""
        loaded: dict[str, Any] = json.loads(self._explained.document(_MOST))
        return loaded

    @property
    def event(self) -> int:
        """Right after this event of the recording."""
        return int(self.document["event"])

    @property
    def reserved_bytes(self) -> int:
        return int(self.document["reserved_bytes"])

    @property
    def active_bytes(self) -> int:
        return int(self.document["active_bytes"])

    @property
    def oom(self) -> Optional[dict[str, Any]]:
        """Why the request was refused and what would have avoided it; None at other moments."""
        found: Optional[dict[str, Any]] = self.document["oom"]
        return found

    @property
    def churn(self) -> Optional[dict[str, Any]]:
        """What the whole recording asked for and kept, where that was asked for."""
        document = self._explained.churn(_MOST)
        return None if document is None else json.loads(document)

    def frame(self) -> pd.DataFrame:
        """Call sites, one a row, most bytes first."""
        import pandas

        table: pd.DataFrame = pandas.DataFrame(self.document["call_sites"])
        return table

    def text(self, *, top: int = 10, width: int = 80) -> str:
        """What `tidemark explain` prints."""
        return self._explained.summary(top, width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Explanation of event {self.event}: {self.reserved_bytes:,} bytes reserved>"

    def _repr_html_(self) -> str:
        from tidemark._html import text_html

        return text_html(self.text())


def explanation_of(explained: _core.Explained) -> Explanation:
    return Explanation(explained)


def explain(
    recording: Union[str, os.PathLike[str]],
    at: str = "",
    *,
    device_bytes: Optional[int] = None,
    gpu: Optional[int] = None,
    churn: bool = False,
) -> Explanation:
    """Tells what holds the memory of a recorded run. For a run of one's own, RunResult.explain().

    Args:
        recording: a memory snapshot of PyTorch (nothing in it is executed) or a request trace.
        at: "peak", "oom", an event's number, "step:3", "time:1.5s" or "mark:TEXT"; without it the first out-of-memory
            error, else the peak.
        device_bytes: what PyTorch can get of the device, where the recording does not tell.
        gpu: which of the snapshot's devices; the first that recorded.
        churn: also what the whole recording asked for and kept.

    Raises:
        InputError: the file is no recording, or has no such moment.
        OSError: it cannot be read.
    """
    return explanation_of(_core.explain_file(os.fspath(recording), at, device_bytes, gpu, churn))
