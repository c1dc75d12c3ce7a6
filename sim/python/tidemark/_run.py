"""Running a scenario, and its result."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from tidemark import _core
from tidemark._explain import Explanation, explanation_of
from tidemark._scenario import ScenarioLike, Settings, scenario_of, source_of, warn
from tidemark._timeline import HostTimeline, Timeline

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Peak:
    """The first moment at which a quantity had its highest value."""

    bytes: int
    event: Optional[int]
    """Index into the timeline; None where nothing was ever held or no events were kept."""
    phase: str
    step: str
    op: str
    """The operator that brought it about."""
    time_ns: int
    amounts: dict[str, int]
    """All amounts at that moment."""
    by_category: dict[str, int]
    """Allocated bytes by what they are for: "parameters_bytes" and so on."""
    fragmentation: dict[str, int]


@dataclass(frozen=True)
class Phase:
    """What lies between two marks, "forward 0" say. The bytes are those at its end and the highest within it."""

    name: str
    first_event: int
    events: int
    begin_ns: int
    end_ns: int
    allocated_end_bytes: int
    allocated_peak_bytes: int
    reserved_end_bytes: int
    reserved_peak_bytes: int


def _peak(document: dict[str, Any]) -> Peak:
    return Peak(
        document["bytes"],
        document["event"],
        document["phase"],
        document["step"],
        document["op"],
        document.get("time_ns", 0),
        document.get("amounts", {}),
        document.get("by_category", {}),
        document.get("fragmentation", {}),
    )


def _phase(document: dict[str, Any]) -> Phase:
    allocated, reserved = document["allocated"], document["reserved"]
    return Phase(
        document["name"],
        document["first_event"],
        document["events"],
        document.get("begin_ns", 0),
        document.get("end_ns", 0),
        allocated["end_bytes"],
        allocated["peak_bytes"],
        reserved["end_bytes"],
        reserved["peak_bytes"],
    )


class DeviceRun:
    """What happened on one GPU."""

    def __init__(self, run: _core.Run, index: int, document: dict[str, Any]) -> None:
        self._run = run
        self._index = index
        self.document = document
        """Its part of the JSON document."""

    @property
    def id(self) -> str:
        return str(self.document["id"])

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def total_bytes(self) -> int:
        return int(self.document["total_bytes"])

    @property
    def context_bytes(self) -> int:
        return int(self.document["context_bytes"])

    @property
    def fits(self) -> bool:
        """No request was refused."""
        return bool(self.document["fits"])

    @property
    def device_peak_bytes(self) -> int:
        """What nvidia-smi would show at the highest: context, reserved, and what is taken outside PyTorch."""
        return int(self.document["device_peak_bytes"])

    @property
    def spare_bytes(self) -> int:
        """What the device had left then."""
        return int(self.document["spare_bytes"])

    @cached_property
    def peak_allocated(self) -> Peak:
        return _peak(self.document["peak_allocated"])

    @cached_property
    def peak_reserved(self) -> Peak:
        return _peak(self.document["peak_reserved"])

    @cached_property
    def phases(self) -> list[Phase]:
        return [_phase(each) for each in self.document["phases"]]

    @property
    def ooms(self) -> list[dict[str, Any]]:
        """Requests that were refused: where, how much, PyTorch's message."""
        return list(self.document["ooms"])

    @property
    def points(self) -> list[dict[str, Any]]:
        """torch.cuda.memory_stats() wherever the program called mark()."""
        return list(self.document.get("points", []))

    def memory_stats(self) -> dict[str, int]:
        """torch.cuda.memory_stats() at the end."""
        return dict(self._run.statistics(self._index))

    @cached_property
    def timeline(self) -> Timeline:
        return Timeline(
            self._run.columns(self._index),
            [(phase.name, phase.events) for phase in self.phases],
            self._run.labels(),
            lambda: self._run.categories(self._index),
        )

    def frame(self) -> pd.DataFrame:
        """One row a phase."""
        import pandas

        table: pd.DataFrame = pandas.DataFrame([vars(phase) for phase in self.phases])
        return table

    def save_events(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes every event as CSV (docs/formats/events.md); a name ending in .gz packs it."""
        content = self._run.events_csv(self._index).encode()
        packed = os.fspath(path).endswith(".gz")
        Path(path).write_bytes(gzip.compress(content, mtime=0) if packed else content)


class RunResult:
    """All that a run tells. In a notebook it shows itself: the answer, the peaks, what held them, the curve."""

    def __init__(self, run: _core.Run) -> None:
        self._run = run

    @cached_property
    def document(self) -> dict[str, Any]:
        """What `tidemark run --format json` prints (docs/formats/json.md)."""
        loaded: dict[str, Any] = json.loads(self._run.document(0))
        return loaded

    @property
    def title(self) -> str:
        return str(self.document["title"])

    @property
    def fits(self) -> bool:
        """No request was refused on any device."""
        return all(device.fits for device in self.devices)

    @property
    def ended_by_oom(self) -> bool:
        """An out-of-memory error that the program did not handle ended it."""
        return bool(self.document["ended_by_oom"])

    @property
    def end_ns(self) -> int:
        """Simulated time of the whole run. An estimate, as bytes are not."""
        return int(self.document["end_ns"])

    @property
    def printed(self) -> str:
        """What the model's code printed."""
        return str(self.document["printed"])

    @property
    def assumptions(self) -> list[dict[str, Any]]:
        """Conditions that depend on values nobody knows, and what they were taken for (docs/model.md, "Values")."""
        return list(self.document.get("assumptions", []))

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What else the run rests on: chance with a fixed seed, data sets whose files were not read."""
        return list(self.document.get("notes", []))

    @property
    def alternatives(self) -> list[dict[str, Any]]:
        """What each way comes to that `assume` leaves open; this result is about the worst. Empty: there is one way."""
        return list(self.document.get("alternatives", []))

    @cached_property
    def devices(self) -> tuple[DeviceRun, ...]:
        return tuple(DeviceRun(self._run, i, each) for i, each in enumerate(self.document["devices"]))

    @property
    def peak_allocated(self) -> Peak:
        """Of the first device."""
        return self.devices[0].peak_allocated

    @property
    def peak_reserved(self) -> Peak:
        """Of the first device."""
        return self.devices[0].peak_reserved

    @property
    def timeline(self) -> Timeline:
        """Of the first device."""
        return self.devices[0].timeline

    @cached_property
    def host_timeline(self) -> HostTimeline:
        """The memory of the host's tensors."""
        phases = [phase.name for phase in self.devices[0].phases]
        return HostTimeline(self._run.host_columns(), phases, self._run.labels())

    def largest_blocks(self, top: int = 10) -> dict[str, list[dict[str, Any]]]:
        """The largest live blocks of the first device at its peaks: "allocated" and "reserved"."""
        device = json.loads(self._run.document(top))["devices"][0]
        return {of: device["peak_" + of].get("largest_blocks", []) for of in ("allocated", "reserved")}

    def text(self, *, top: int = 0, width: int = 80) -> str:
        """What `tidemark run` prints."""
        return self._run.summary(top, width)

    def diagnosis(self) -> dict[str, Any]:
        """What is wrong, the proof, and the smallest change that undoes it, each tried: docs/diagnosis.md."""
        loaded: dict[str, Any] = json.loads(self._run.diagnosis(0))
        return loaded

    def diagnosis_text(self, *, width: int = 80) -> str:
        return self._run.diagnosis(width)

    def explain(
        self, at: str = "", *, device_bytes: Optional[int] = None, gpu: Optional[int] = None, churn: bool = False
    ) -> Explanation:
        """What holds the memory at a moment, as explain() of the package."""
        return explanation_of(_core.explain_run(self._run, at, device_bytes, gpu, churn))

    def save_snapshot(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes what torch.cuda.memory._dump_snapshot() would have, for pytorch.org/memory_viz."""
        Path(path).write_bytes(self._run.snapshot())

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        verdict = "fits" if self.fits else "out of memory"
        return f"<RunResult {self.title!r}: {verdict}, peak reserved {self.peak_reserved.bytes:,} bytes>"

    def _repr_html_(self) -> str:
        from tidemark._html import run_html

        return run_html(self)


def run(
    scenario: ScenarioLike,
    *,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
    device: Optional[str] = None,
    events: bool = True,
    every_step: bool = True,
) -> RunResult:
    """Simulates a scenario: does it fit, the peaks, what held the memory, and every event.

    Args:
        scenario: a Scenario, or the path of a scenario in YAML or of a training script.
        set: overrides as `--set`: {"batch": 64, "allocator.conf": "expandable_segments:True"}.
        variant: one of the scenario's variants.
        device: a GPU's id, whatever the scenario says; a script has none of its own.
        events: keep every event (some 250 bytes each) for timelines, snapshots and explain(); without them there are
            peaks and statistics alone.
        every_step: simulate also the steps that repeat earlier ones exactly. Without it a million steps take as long as
            some dozen; the document's `repeats` says what was left out.

    Raises:
        InputError: the scenario or its code is wrong; with every problem found.
        OSError: a file cannot be read.
    """
    source = source_of(scenario_of(scenario, set, variant, device))
    result = _core.run(source, events, every_step)
    warn(result.warnings)
    return RunResult(result)
