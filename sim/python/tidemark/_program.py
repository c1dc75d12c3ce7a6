"""Commands of the command line, run in this process."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Optional, Union

from tidemark import _core
from tidemark._errors import InputError
from tidemark._scenario import Scenario, ScenarioLike, yaml_of

_WRONG_INPUT, _UNREADABLE, _BUG, _NO_GPU = 2, 4, 70, 77
_PROBLEM = re.compile(r"^(?:(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): )?error: (?P<message>.*)$", re.MULTILINE)

Path_ = Union[str, "os.PathLike[str]"]
Recording = Union[ScenarioLike, "os.PathLike[str]"]
"""A Scenario, or the path of a scenario, a script, a trace or a snapshot."""


def run_words(words: Sequence[str], width: int = 80) -> tuple[int, str]:
    """A command line's exit code, and what the program prints. A difference (1) is a result, no error.

    Raises:
        InputError: the input is wrong.
        OSError: a file cannot be read or written.
    """
    code, out, err = _core.run_words(list(words), width)
    if code == _WRONG_INPUT:
        problems = []
        for found in _PROBLEM.finditer(err):
            line, column = found["line"], found["column"]
            place = (found["file"], int(line), int(column)) if line else (None, None, None)
            problems.append((*place, "", found["message"], ""))
        raise InputError(err, problems)
    if code == _UNREADABLE:
        raise OSError(err.strip())
    if code in (_BUG, _NO_GPU):
        raise RuntimeError(err.strip())
    return code, out


@contextmanager
def words_of(given: Recording, arguments: Sequence[str] = ()) -> Iterator[tuple[list[str], list[str]]]:
    """What names a scenario or a recording on a command line, and the options that stand for what differs from it."""
    if not isinstance(given, Scenario):
        yield [os.fspath(given)], [*(["--", *arguments] if arguments else [])]
        return
    options: list[str] = []
    for path, value in given.settings.items():
        options += ["--set", f"{path}={yaml_of(value)}"]
    if given.variant:
        options += ["--variant", given.variant]
    options += ["--", *arguments] if arguments else []
    if given.path is not None:
        yield [given.path], options
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=given._folder, encoding="utf-8") as file:
        file.write(given.text)
        file.flush()
        yield [file.name], options


def settings_words(option: str, settings: Optional[Mapping[str, Any]]) -> list[str]:
    return [word for path, value in (settings or {}).items() for word in (option, f"{path}={yaml_of(value)}")]


class Answer:
    """What a command found. The document is computed at once, the text when it is asked for."""

    def __init__(
        self, command: str, given: Recording, words: Sequence[str], arguments: Sequence[str] = (), *, others: Sequence[Path_] = ()
    ) -> None:
        self._command, self._given, self._others = command, given, list(others)
        self._words, self._arguments = list(words), list(arguments)
        self._code, self._json = self._ask(["--format", "json"])

    def _ask(self, more: Sequence[str], width: int = 80) -> tuple[int, str]:
        with words_of(self._given, self._arguments) as (names, options):
            names = [*names, *(os.fspath(other) for other in self._others)]
            return run_words([self._command, *names, *self._words, *more, *options], width)

    @cached_property
    def document(self) -> dict[str, Any]:
        """What the command prints with `--format json` (docs/formats/json.md)."""
        loaded: dict[str, Any] = json.loads(self._json)
        return loaded

    def text(self, *, width: int = 80) -> str:
        """What the command prints; it is run again for it."""
        return self._ask([], width)[1]

    def __str__(self) -> str:
        return self.text()


def main() -> None:
    """The program itself: `tidemark` where the package is installed."""
    sys.exit(_core.main_program(sys.argv[1:]))
