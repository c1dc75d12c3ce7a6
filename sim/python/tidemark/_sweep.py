"""A scenario over every value of its sweep section."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from tidemark import _core
from tidemark._scenario import ScenarioLike, Settings, scenario_of, source_of

if TYPE_CHECKING:
    import pandas as pd

_TICK_S = 0.1


class SweepResult:
    """The rows of a sweep: one a cell, the axes as columns of their names (docs/formats/results.md)."""

    def __init__(self, sweep: _core.Sweep) -> None:
        self._sweep = sweep

    @property
    def cells(self) -> int:
        """How many the sweep has in all."""
        return self._sweep.cells

    @property
    def axes(self) -> list[str]:
        """The paths that vary."""
        return self._sweep.axes

    def columns(
        self,
        where: str = "",
        *,
        columns: Sequence[str] = (),
        sort: Sequence[str] = (),
        group: Sequence[str] = (),
        pareto: Sequence[str] = (),
        pivot: Sequence[str] = (),
        limit: int = 0,
    ) -> dict[str, list[Any]]:
        """Rows by columns, without pandas.

        Args:
            where: an SQL expression over the columns: "status = 'fits' and batch > 16".
            columns: those wanted; all without it.
            sort: columns, "-" before one: falling.
            group: one row a combination of these: cells, how many fit, least and most.
            pareto: cells that fit and that no other beats in all of these; smaller is better, "-" before one: larger.
            pivot: three columns: rows, columns, and what stands there.
            limit: rows; 0: all.

        Raises:
            InputError: unknown columns, an expression that SQLite refuses.
        """
        names, lists = self._sweep.query(
            where, list(columns), list(sort), list(group), list(pareto), list(pivot), limit
        )
        return dict(zip(names, lists))

    def frame(self, where: str = "", **query: Any) -> pd.DataFrame:
        """The same as a pandas table."""
        import pandas

        table: pd.DataFrame = pandas.DataFrame(self.columns(where, **query))
        return table

    def text(self, *, limit: int = 20, width: int = 80) -> str:
        """What `tidemark sweep` prints."""
        return self._sweep.summary(limit, width)

    def __len__(self) -> int:
        return len(self.columns(columns=["cell"])["cell"])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<SweepResult: {len(self)} of {self.cells} cells over {', '.join(self.axes)}>"

    def _repr_html_(self) -> str:
        from tidemark._html import table_html

        shown = self.columns(limit=20)
        return table_html(list(shown), [list(row) for row in zip(*shown.values())])


def sweep(
    scenario: ScenarioLike,
    *,
    out: Union[str, os.PathLike[str]] = "",
    resume: bool = False,
    threads: int = 0,
    shard: tuple[int, int] = (1, 1),
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
    progress: Optional[Callable[[int, int], None]] = None,
) -> SweepResult:
    """Runs every combination of the values under `sweep:` of a scenario.

    Args:
        scenario: a Scenario, or the path of one.
        out: an SQLite file for the rows, kept as they are made; without it they are in memory.
        resume: go on with the file of `out`.
        threads: cells run at a time; 0: one a processor. The results do not depend on it.
        shard: only this part of so many: (3, 8) is the third of eight.
        set, variant: as for run().
        progress: called some times a second with the cells done by this call and those of the sweep.

    An interruption (Ctrl-C) ends it after the cells under way; what was run is in the file.

    Raises:
        InputError: the scenario or its sweep section is wrong. A cell that cannot be run is a row with its error.
        OSError: the file is there already, or cannot be written.
    """
    source = source_of(scenario_of(scenario, set, variant))
    cells = _core.open_sweep(source, os.fspath(out), resume)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            cells.run(threads, *shard)
        except BaseException as error:  # handed to the caller's thread
            failed.append(error)

    worker = threading.Thread(target=work, name="tidemark-sweep")
    worker.start()
    try:
        while worker.is_alive():
            worker.join(_TICK_S)
            if progress is not None:
                progress(cells.done, cells.cells)
    except BaseException:
        cells.stop()
        worker.join()
        raise
    if failed:
        raise failed[0]
    return SweepResult(cells)


def results(path: Union[str, os.PathLike[str]]) -> SweepResult:
    """The results of a sweep, of this package or of `tidemark sweep --out`."""
    return SweepResult(_core.open_results(os.fspath(path)))
