"""Events and amounts as NumPy arrays that look into the simulator's own memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from tidemark import _core

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

AMOUNTS = (
    "reserved_bytes",
    "active_bytes",
    "allocated_bytes",
    "requested_bytes",
    "inactive_split_bytes",
    "largest_free_bytes",
)


class Timeline:
    """One device's memory, event by event: what happened, and the amounts right after it.

    Every array has one entry an event, is read-only, and is a view of the memory in which the simulator kept the run:
    nothing was copied. An array keeps the run alive.
    """

    action_names: tuple[str, ...] = _core.action_names
    """What the numbers in `action` stand for: PyTorch's memory-history actions."""

    def __init__(
        self,
        columns: dict[str, NDArray[Any]],
        phases: list[tuple[str, int]],
        labels: Optional[list[str]] = None,
        categories: Optional[Callable[[], dict[str, NDArray[np.uint64]]]] = None,
    ) -> None:
        self._columns = columns
        self._phases = phases
        self._categories = categories
        self._stacked: Optional[dict[str, NDArray[np.uint64]]] = None
        self.labels: list[str] = labels or []
        """What the numbers in `op` stand for."""

    def __len__(self) -> int:
        return len(self.action)

    @property
    def action(self) -> NDArray[np.uint8]:
        """Index into `action_names`."""
        return self._columns["action"]

    @property
    def bytes(self) -> NDArray[np.uint64]:
        """The requested size for alloc and frees, the segment's for segment actions, the rounded size for oom."""
        return self._columns["bytes"]

    @property
    def address(self) -> NDArray[np.uint64]:
        """Of the block or segment; for oom the device's free bytes."""
        return self._columns["address"]

    @property
    def stream(self) -> NDArray[np.uint16]:
        return self._columns["stream"]

    @property
    def id(self) -> NDArray[np.uint32]:
        """The request's number; 4294967295 where the event belongs to none."""
        return self._columns["id"]

    @property
    def instruction(self) -> NDArray[np.uint32]:
        """How many instructions of the program were executed before it."""
        return self._columns["instruction"]

    @property
    def op(self) -> NDArray[np.uint32]:
        """Index into `labels`: the operator that brought it about. Runs only."""
        return self._columns["op"]

    @property
    def time_ns(self) -> NDArray[np.int64]:
        """Simulated time of the host. Runs only."""
        return self._columns["time_ns"]

    @property
    def reserved_bytes(self) -> NDArray[np.uint64]:
        """Held from the driver."""
        return self._columns["reserved_bytes"]

    @property
    def active_bytes(self) -> NDArray[np.uint64]:
        """Blocks in use or waiting for another stream."""
        return self._columns["active_bytes"]

    @property
    def allocated_bytes(self) -> NDArray[np.uint64]:
        """Blocks that an owner holds."""
        return self._columns["allocated_bytes"]

    @property
    def requested_bytes(self) -> NDArray[np.uint64]:
        """What the owners of the active blocks asked for."""
        return self._columns["requested_bytes"]

    @property
    def inactive_split_bytes(self) -> NDArray[np.uint64]:
        """Free parts of segments that are in use."""
        return self._columns["inactive_split_bytes"]

    @property
    def largest_free_bytes(self) -> NDArray[np.uint64]:
        """The largest free block."""
        return self._columns["largest_free_bytes"]

    @property
    def ideal_bytes(self) -> NDArray[np.uint64]:
        """Requested bytes of what owners hold. Replays only."""
        return self._columns["ideal_bytes"]

    @property
    def phase(self) -> NDArray[np.int64]:
        """Index into `phases`. Computed."""
        import numpy

        return numpy.repeat(numpy.arange(len(self._phases)), [events for _, events in self._phases])

    @property
    def phases(self) -> list[str]:
        """Names of the phases in order, "forward 0"; for a request trace its marks."""
        return [name for name, _ in self._phases]

    def by_category(self) -> dict[str, NDArray[np.uint64]]:
        """The allocated bytes of each category after each event, in the order in which they are stacked; they sum to
        `allocated_bytes`. Computed once; empty for replays, whose traces do not say what memory is for."""
        if self._stacked is None:
            self._stacked = self._categories() if self._categories else {}
        return self._stacked

    def frame(self) -> pd.DataFrame:
        """The same as a pandas table, with the columns of `--timeline FILE` (docs/formats/timeline.md), actions, phases
        and operators by name."""
        import numpy
        import pandas

        names = numpy.array(self.phases, dtype=object)
        table: dict[str, Any] = {
            "action": pandas.Categorical.from_codes(self.action.astype(numpy.int8), pandas.Index(self.action_names)),
            "bytes": self.bytes,
            "phase": names[self.phase] if len(names) else names,
        }
        if self.labels:
            table["op"] = numpy.array(self.labels, dtype=object)[self.op]
        if "time_ns" in self._columns:
            table["time_ns"] = self.time_ns
        for column in AMOUNTS:
            table[column] = self._columns[column]
        for category, stacked in self.by_category().items():
            table[category.replace(" ", "_") + "_bytes"] = stacked
        if "ideal_bytes" in self._columns:
            table["internal_bytes"] = self.active_bytes - self.requested_bytes
            table["external_bytes"] = self.reserved_bytes - self.active_bytes
            table["ideal_bytes"] = self.ideal_bytes
        made: pd.DataFrame = pandas.DataFrame(table).rename_axis("index")
        return made


class HostTimeline:
    """The memory of the host's tensors, change by change. Arrays as those of Timeline: read-only views, nothing copied."""

    def __init__(self, columns: dict[str, NDArray[Any]], phases: list[str], labels: list[str]) -> None:
        self._columns = columns
        self.phases = phases
        """What the numbers in `phase` stand for."""
        self.labels = labels
        """What the numbers in `op` stand for."""

    def __len__(self) -> int:
        return len(self.event)

    @property
    def event(self) -> NDArray[np.uint32]:
        """Index into the first device's timeline of the next event there."""
        return self._columns["event"]

    @property
    def phase(self) -> NDArray[np.uint32]:
        """Index into `phases`; 4294967295 before the first."""
        return self._columns["phase"]

    @property
    def op(self) -> NDArray[np.uint32]:
        """Index into `labels`: the operator that brought it about."""
        return self._columns["op"]

    @property
    def time_ns(self) -> NDArray[np.int64]:
        """Simulated time of the host."""
        return self._columns["time_ns"]

    @property
    def pageable_bytes(self) -> NDArray[np.uint64]:
        """What live storages asked PyTorch's CPU allocator for."""
        return self._columns["pageable_bytes"]

    @property
    def pinned_bytes(self) -> NDArray[np.uint64]:
        """Held by the caching host allocator."""
        return self._columns["pinned_bytes"]

    @property
    def pinned_in_use_bytes(self) -> NDArray[np.uint64]:
        """Of these the ones in use."""
        return self._columns["pinned_in_use_bytes"]

    @property
    def host_bytes(self) -> NDArray[np.uint64]:
        """What the program has of the host's memory: pageable and pinned. Computed."""
        return self.pageable_bytes + self.pinned_bytes

    def frame(self) -> pd.DataFrame:
        """The same as a pandas table, with the columns of `--host-timeline FILE` (docs/formats/timeline.md)."""
        import numpy
        import pandas

        names = numpy.array([*self.phases, ""], dtype=object)
        made: pd.DataFrame = pandas.DataFrame(
            {
                "event": self.event,
                "phase": names[numpy.minimum(self.phase, len(self.phases))],
                "op": numpy.array(self.labels, dtype=object)[self.op],
                "time_ns": self.time_ns,
                "host_bytes": self.host_bytes,
                "pageable_bytes": self.pageable_bytes,
                "pinned_bytes": self.pinned_bytes,
                "pinned_in_use_bytes": self.pinned_in_use_bytes,
            }
        ).rename_axis("index")
        return made
