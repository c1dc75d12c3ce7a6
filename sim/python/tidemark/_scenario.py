"""Scenarios as Python objects."""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, Union

from tidemark import _core

ScenarioLike = Union["Scenario", str, "os.PathLike[str]"]
Settings = Mapping[str, Any]


def yaml_of(value: Any) -> str:
    """A value as an override has it. Text is YAML already, as with `--set`; everything else is written as YAML."""
    if isinstance(value, str):
        return value
    if not isinstance(value, (bool, float, list, tuple, dict, type(None))):
        value = operator.index(value)
    return json.dumps(value, ensure_ascii=False)


class Scenario:
    """A scenario: a file, or a text of one's own, with what is to differ from it.

    Args:
        path: a scenario in YAML (docs/scenario.md) or a training script in Python.
        set: overrides by path, as `--set` of the command line: {"batch": 64, "allocator.conf": "..."}. Text is read as
            YAML, other values become YAML.
        variant: one of the scenario's variants.
    """

    def __init__(self, path: Union[str, os.PathLike[str]], *, set: Optional[Settings] = None, variant: str = "") -> None:
        self.path: Optional[str] = os.fspath(path)
        self.settings: dict[str, Any] = dict(set or {})
        self.variant = variant
        self.notes: list[str] = []
        """What to bear in mind with it, of `from_torch`."""
        self._text = ""
        self._name = self.path
        self._folder = "."

    @classmethod
    def from_text(cls, text: str, *, name: str = "<scenario>", folder: Union[str, os.PathLike[str]] = ".") -> Scenario:
        """A scenario that is a text. `name` is printed before each problem; relative paths in it start at `folder`."""
        made = cls(name)
        made.path = None
        made._text = text
        made._folder = os.fspath(folder)
        return made

    def having(self, settings: Optional[Settings] = None, *, variant: Optional[str] = None) -> Scenario:
        """The same scenario with further overrides, or another variant."""
        made = Scenario(self._name)
        made.__dict__.update(self.__dict__)
        made.settings = {**self.settings, **(settings or {})}
        made.variant = self.variant if variant is None else variant
        made.notes = list(self.notes)
        return made

    @property
    def text(self) -> str:
        """The YAML text, without the overrides."""
        return self._text if self.path is None else source_of(self).text

    def check(self) -> list[str]:
        """Reads the whole scenario without running it. Returns its warnings.

        Raises:
            InputError: with every problem found.
        """
        return _core.check(source_of(self))

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the text to a file that the command line takes as well. Overrides are not part of it."""
        Path(path).write_text(self.text, encoding="utf-8")

    def __repr__(self) -> str:
        parts = [repr(self._name)]
        if self.settings:
            parts.append(f"set={self.settings!r}")
        if self.variant:
            parts.append(f"variant={self.variant!r}")
        return f"Scenario({', '.join(parts)})"


def scenario_of(given: ScenarioLike, set: Optional[Settings], variant: Optional[str], device: Optional[str] = None) -> Scenario:
    """What functions that take a scenario make of their arguments."""
    scenario = given if isinstance(given, Scenario) else Scenario(given)
    first = {} if device is None else {"device": device}
    return scenario.having({**first, **(set or {})}, variant=variant)


def source_of(scenario: Scenario) -> _core.Source:
    settings = [(path, yaml_of(value)) for path, value in scenario.settings.items()]
    if scenario.path is not None:
        return _core.open_source(scenario.path, settings, scenario.variant)
    return _core.source_of_text(scenario._text, scenario._name, scenario._folder, settings, scenario.variant)


def warn(texts: list[str]) -> None:
    """Passes on what was accepted, but without the effect that it seems to ask for."""
    for text in texts:
        warnings.warn(text, UserWarning, stacklevel=4)
