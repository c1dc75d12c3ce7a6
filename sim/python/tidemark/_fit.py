"""The largest value that fits, and the smallest GPU."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional

from tidemark import _core
from tidemark._errors import argument_error
from tidemark._scenario import ScenarioLike, Settings, scenario_of, source_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DeviceFit:
    """How one GPU fared with the scenario as it stands."""

    device: str
    name: str
    total_bytes: int
    fits: bool
    peak_reserved_bytes: int
    spare_bytes: int
    error: str
    """The scenario cannot be run on it; else empty."""


class FitResult:
    """The largest value with which a scenario fits, and the runs that show it."""

    def __init__(self, fit: _core.Fit) -> None:
        self._fit = fit

    @cached_property
    def document(self) -> dict[str, Any]:
        """What `tidemark fit --format json` prints (docs/formats/json.md)."""
        loaded: dict[str, Any] = json.loads(self._fit.document())
        return loaded

    @property
    def path(self) -> str:
        """What was varied: "train.batch", "params.batch_size"."""
        return str(self.document["path"])

    @property
    def best(self) -> Optional[int]:
        """Fits, and the next one does not; None: not even 1 does."""
        found: Optional[int] = self.document["best"]
        return found

    @property
    def holes(self) -> list[int]:
        """Smaller values that were run and do not fit."""
        return list(self.document["holes"])

    @property
    def islands(self) -> list[int]:
        """Larger values that were run and fit."""
        return list(self.document["islands"])

    def frame(self) -> pd.DataFrame:
        """One row a run, by value."""
        import pandas

        table: pd.DataFrame = pandas.DataFrame(self.document["probes"])
        return table

    def text(self, *, width: int = 80) -> str:
        """What `tidemark fit` prints."""
        return self._fit.summary(width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<FitResult {self.path}: {self.best}>"

    def _repr_html_(self) -> str:
        from tidemark._html import text_html

        return text_html(self.text())


def _ppm(headroom: float) -> int:
    if not 0 <= headroom < 1:
        raise argument_error("headroom", f"expected a share from 0 to below 1, found {headroom!r}")
    return round(headroom * 1_000_000)


def fit(
    scenario: ScenarioLike,
    over: str = "batch",
    *,
    headroom: float = 0.0,
    window: int = 2,
    highest: int = 1 << 20,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
) -> FitResult:
    """Finds the largest value with which a scenario fits; whole steps are run, to the scenario's end.

    Args:
        scenario: a Scenario, or the path of one.
        over: "batch", "length", "layers", or the path of any integer: "params.width".
        headroom: what must stay free, as a share of the device's total: 0.05.
        window: values tried on either side of the answer, since more may fit where less does not.
        highest: no value above is tried.
        set, variant: as for run().

    Raises:
        InputError: the scenario is wrong, or has no such integer.
    """
    if over == "device":
        raise argument_error("over", "'device' is not a value of the scenario", "use fit_devices()")
    source = source_of(scenario_of(scenario, set, variant))
    return FitResult(_core.fit(source, over, _ppm(headroom), highest, window))


def fit_devices(
    scenario: ScenarioLike,
    *,
    headroom: float = 0.0,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
) -> list[DeviceFit]:
    """Runs a scenario on every GPU known, the smallest first, until two larger ones than the smallest that fits have been
    run too."""
    source = source_of(scenario_of(scenario, set, variant))
    return [DeviceFit(*each) for each in _core.fit_devices(source, _ppm(headroom))]
