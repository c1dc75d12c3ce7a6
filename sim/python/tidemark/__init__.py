"""Tidemark: what a PyTorch program does to GPU memory, to the byte, without a GPU and without PyTorch.

    >>> import tidemark
    >>> result = tidemark.run("configs/scenarios/simple_conv.yaml", set={"batch": 64})
    >>> result.fits, result.peak_reserved.bytes
    (True, 115343360)

docs/python.md has a tour. NumPy is needed once a timeline is looked at, pandas once a table is asked for, PyTorch for
`from_torch` alone.
"""

from __future__ import annotations

from tidemark._core import version as __version__
from tidemark._errors import InputError, Problem
from tidemark._explain import Explanation, explain
from tidemark._fit import DeviceFit, FitResult, fit, fit_devices
from tidemark._from_torch import from_torch
from tidemark._replay import ReplayResult, replay
from tidemark._run import DeviceRun, Peak, Phase, RunResult, run
from tidemark._scenario import Scenario
from tidemark._sweep import SweepResult, results, sweep
from tidemark._studies import (
    Advice,
    Change,
    Description,
    Difference,
    Page,
    Tuning,
    Validation,
    advise,
    describe,
    diff,
    report,
    tune,
    validate,
)
from tidemark._timeline import HostTimeline, Timeline

__all__ = [
    "Advice",
    "Change",
    "Description",
    "DeviceFit",
    "DeviceRun",
    "Difference",
    "Explanation",
    "FitResult",
    "HostTimeline",
    "InputError",
    "Page",
    "Peak",
    "Phase",
    "Problem",
    "ReplayResult",
    "RunResult",
    "Scenario",
    "SweepResult",
    "Timeline",
    "Tuning",
    "Validation",
    "__version__",
    "advise",
    "describe",
    "devices",
    "diff",
    "explain",
    "fit",
    "fit_devices",
    "from_torch",
    "replay",
    "report",
    "results",
    "run",
    "sweep",
    "tune",
    "validate",
]


def devices() -> list[str]:
    """The ids of all GPUs that are known."""
    from tidemark import _core

    return _core.device_ids()
