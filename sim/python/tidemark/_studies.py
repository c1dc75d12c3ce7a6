"""What makes a program fit, its best allocator settings, what a model is made of, and comparisons."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from tidemark._program import Answer, Path_, Recording, run_words, settings_words, words_of
from tidemark._scenario import ScenarioLike, Settings, scenario_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Change:
    """One change that was simulated to the program's end, alone or with others."""

    number: int
    """For `Advice.diff()` and `Advice.write()`."""
    remedies: tuple[str, ...]
    price: str
    """What it costs: "free", "time", "numerics", "other training", "other device"."""
    text: str
    fits: bool
    saved_bytes: int
    spare_bytes: int
    time_cost_ns: int
    overrides: dict[str, str]


def _table(document: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas

    table: pd.DataFrame = pandas.DataFrame(document)
    return table


def _html(rows: Sequence[dict[str, Any]], shown: Sequence[str]) -> str:
    from tidemark._html import table_html

    return table_html(list(shown), [[row.get(name) for name in shown] for row in rows])


class Advice(Answer):
    """Changes of a program, each simulated: those that make it fit, the cheapest first, then those that save memory."""

    @property
    def fits(self) -> bool:
        """The program fits as it is given."""
        return bool(self.document["before"]["fits"])

    @property
    def changes(self) -> list[Change]:
        """All that help, by number."""
        rows = [*self.document["meeting"], *self.document["saving"]]
        return [
            Change(
                number,
                tuple(row["remedies"]),
                row["price"],
                row["change"],
                row["fits"],
                row["saved_bytes"],
                row["spare_bytes"],
                row["time_cost_ns"],
                dict(row["overrides"]),
            )
            for number, row in enumerate(rows, 1)
        ]

    @property
    def best(self) -> Optional[Change]:
        """The cheapest that makes it fit."""
        return self.changes[0] if self.document["meeting"] else None

    def diff(self, pick: int = 1) -> str:
        """Of a script: the change as a patch."""
        return self._ask(["--diff", "--pick", str(pick)])[1]

    def write(self, path: Path_, pick: int = 1) -> None:
        """Writes the scenario, or the script, with the change made."""
        self._ask(["--write", os.fspath(path), "--pick", str(pick)])

    def frame(self) -> pd.DataFrame:
        """One row a change."""
        return _table([vars(change) for change in self.changes])

    def __repr__(self) -> str:
        return f"<Advice: {'fits' if self.fits else 'does not fit'}, {len(self.changes)} changes>"

    def _repr_html_(self) -> str:
        return _html([vars(change) for change in self.changes], ("number", "text", "price", "fits", "saved_bytes", "spare_bytes"))


def advise(
    scenario: ScenarioLike,
    *,
    headroom: float = 0.0,
    capacity: Optional[str] = None,
    allow: str = "device",
    over: Optional[str] = None,
    device: Optional[str] = None,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
    arguments: Sequence[str] = (),
) -> Advice:
    """Tries what is known to save memory, each change alone and together with others, to the program's end.

    Args:
        scenario: a Scenario, or the path of one or of a training script.
        headroom: what must stay free, as a share of the device's total: 0.05.
        capacity: the device's memory, whatever it has: "24GiB".
        allow: the dearest change: "free", "time", "numerics", "training" or "device".
        over: how far each lets "batch", "length" or "layers" go, too.
        device, set, variant: as for run().
        arguments: a script's own.
    """
    words = ["--headroom", f"{100 * headroom:g}%", "--allow", allow]
    words += ["--capacity", capacity] if capacity else []
    words += ["--over", over] if over else []
    return Advice("advise", scenario_of(scenario, set, variant, device), words, arguments)


class Tuning(Answer):
    """Allocator settings, the best first, each judged by the worst order of the program's steps."""

    @property
    def best(self) -> str:
        """PYTORCH_ALLOC_CONF of the best setting; empty: the default."""
        return str(self.document["settings"][self.document["best"]]["alloc_conf"])

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Those played in every order: `alloc_conf`, `worst_reserved_bytes`, `ooms`, ..."""
        return list(self.document["settings"])

    def frame(self) -> pd.DataFrame:
        """One row a setting."""
        return _table([{name: value for name, value in row.items() if name != "by_order"} for row in self.settings])

    def __repr__(self) -> str:
        return f"<Tuning: {self.best or 'the default'!r}>"

    def _repr_html_(self) -> str:
        return _html(self.settings[:20], ("alloc_conf", "worst_reserved_bytes", "ooms", "keys"))


def tune(
    workload: Recording,
    *,
    shuffles: int = 3,
    device: Optional[str] = None,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
) -> Tuning:
    """Searches the allocator's settings for a scenario, a script, a request trace or a snapshot.

    Args:
        workload: what is played.
        shuffles: orders of the steps that are drawn, beside the smallest and the largest first.
        device, set, variant: as for run(), of scenarios.
    """
    is_scenario = set is not None or variant is not None
    given: Recording = scenario_of(workload, set, variant) if is_scenario else workload
    words = ["--shuffles", str(shuffles), *(["--device", device] if device else [])]
    return Tuning("tune", given, words)


class Description(Answer):
    """The layers of a model: shapes, parameters, and what each keeps for backward."""

    @property
    def layers(self) -> list[dict[str, Any]]:
        """Of the first model, in order: `path`, `type`, `output`, `parameters`, `saved_bytes`, ..."""
        return list(self.document["models"][0]["layers"])

    @property
    def parameters(self) -> int:
        """Of the whole model."""
        return int(self.layers[0]["parameters"])

    def frame(self) -> pd.DataFrame:
        """One row a layer."""
        return _table(self.layers)

    def __repr__(self) -> str:
        return f"<Description: {self.parameters:,} parameters>"

    def _repr_html_(self) -> str:
        shown = ("path", "type", "output", "parameters", "saved_bytes", "temporaries_peak_bytes", "workspace_bytes")
        return _html(self.layers, shown)


def describe(
    model: Recording,
    *,
    model_class: Optional[str] = None,
    args: Sequence[str] = (),
    inputs: Sequence[str] = (),
    depth: Optional[int] = None,
    device: Optional[str] = None,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
) -> Description:
    """Runs a model once and measures its layers.

    Args:
        model: a Scenario, the path of one, or a Python file with `model_class`.
        args: arguments of the class: "width=512".
        inputs: shapes of its call: "64,3,32,32", "8,128:long".
        depth: levels of modules.
        device, set, variant: as for run(), of scenarios.
    """
    is_scenario = set is not None or variant is not None
    given: Recording = scenario_of(model, set, variant) if is_scenario else model
    words = [*(["--class", model_class] if model_class else []), *(["--device", device] if device else [])]
    words += [word for value in args for word in ("--args", value)]
    words += [word for value in inputs for word in ("--input", value)]
    words += ["--depth", str(depth)] if depth is not None else []
    return Description("describe", given, words)


class Difference(Answer):
    """What differs between two runs, event traces, request traces or snapshots."""

    @property
    def differs(self) -> bool:
        """Whether they do at all; where is in the document."""
        return self._code == 1

    def __repr__(self) -> str:
        return f"<Difference: {'differs' if self.differs else 'equal'}>"

    def _repr_html_(self) -> str:
        from tidemark._html import text_html

        return text_html(self.text())


def diff(
    a: Recording,
    b: Optional[Path_] = None,
    *,
    set_a: Optional[Settings] = None,
    set_b: Optional[Settings] = None,
    ignore: Sequence[str] = (),
    unordered_frees: bool = False,
    device: Optional[str] = None,
) -> Difference:
    """Compares two runs, event files, traces or snapshots; of one scenario, two runs of it that `set_b` tells apart.

    Args:
        a, b: what is compared; without `b` the scenario `a` with itself.
        set_a, set_b: overrides of either.
        ignore: columns of events left out: "address", "id".
        unordered_frees: frees that follow one another are a set.
        device: as for run().
    """
    words = [*settings_words("--set-a", set_a), *settings_words("--set-b", set_b)]
    words += [word for column in ignore for word in ("--ignore", column)]
    words += ["--unordered-frees"] if unordered_frees else []
    words += ["--device", device] if device else []
    return Difference("diff", a, words, others=[] if b is None else [b])


class Validation(Answer):
    """Simulated runs beside measured ones."""

    @property
    def exact(self) -> bool:
        """No event of any case differs."""
        return int(self.document["summary"]["differing_events"]) == 0

    @property
    def cases(self) -> list[dict[str, Any]]:
        return list(self.document["cases"])

    def frame(self) -> pd.DataFrame:
        """One row a case."""
        kept = ("name", "events", "simulated_events", "differing_events", "oom_simulated", "oom_measured")
        return _table([{name: case[name] for name in kept} for case in self.cases])

    def __repr__(self) -> str:
        return f"<Validation: {len(self.cases)} cases, {'exact' if self.exact else 'some differ'}>"

    def _repr_html_(self) -> str:
        return _html(self.cases, ("name", "events", "simulated_events", "differing_events"))


def validate(
    scenario: ScenarioLike,
    *,
    against: str = "torch",
    device: Optional[str] = None,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
) -> Validation:
    """Compares a scenario with what the real PyTorch does, or did.

    Args:
        scenario: a Scenario, or the path of one.
        against: "torch", "cuda", "recorded:FOLDER" or "snapshot:FILE".
        device, set, variant: as for run().
    """
    return Validation("validate", scenario_of(scenario, set, variant, device), ["--against", against])


class Page:
    """A report in one HTML file without a network: in a notebook it shows itself."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def html(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Page {str(self.path)!r}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f'<iframe style="width:100%;height:640px;border:1px solid #ccc" srcdoc="{escape(self.html)}"></iframe>'


def report(
    run: Recording,
    output: Path_ = "report.html",
    *,
    at: Optional[str] = None,
    beside: Optional[Path_] = None,
    gpu: Optional[int] = None,
    device: Optional[str] = None,
    set: Optional[Settings] = None,
    variant: Optional[str] = None,
    arguments: Sequence[str] = (),
) -> Page:
    """Writes one HTML page on a run, a recording, or a sweep's results.

    Args:
        run: a Scenario, or the path of a scenario, script, trace, snapshot or results file.
        output: where the page goes.
        at: the moment shown: "peak", "oom", "step:2", an event's number.
        beside: another run or recording, shown beside it.
        gpu: which device; without it the worst.
        device, set, variant: as for run(), of scenarios.
        arguments: a script's own.
    """
    is_scenario = set is not None or variant is not None
    given: Recording = scenario_of(run, set, variant) if is_scenario else run
    words = ["--output", os.fspath(output), *(["--at", at] if at else []), *(["--device", device] if device else [])]
    words += ["--beside", os.fspath(beside)] if beside is not None else []
    words += ["--gpu", str(gpu)] if gpu is not None else []
    with words_of(given, arguments) as (names, options):
        run_words(["report", *names, *words, *options])
    return Page(Path(output))
