"""What goes wrong with a user's input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional


class Problem(NamedTuple):
    """One thing wrong in a scenario, a model, a file or an argument."""

    file: Optional[str]
    """The file, or None where the problem has no place in one."""
    line: Optional[int]
    """Counted from 1; None: the file as a whole."""
    column: Optional[int]
    path: str
    """The key ("train.batch[2]"), the argument, or where in the code; may be empty."""
    message: str
    hint: str
    """What to do about it; may be empty."""


class InputError(ValueError):
    """The input is wrong. Its text has every problem that was found, each with its source line, as the command line
    prints them; `problems` has the same in parts. Running out of memory is a result, not an error."""

    def __init__(self, text: str, problems: Sequence[tuple[object, ...]] = ()) -> None:
        super().__init__(text.rstrip("\n"))
        self.problems: list[Problem] = [Problem(*problem) for problem in problems]  # type: ignore[arg-type]


def argument_error(argument: str, message: str, hint: str = "") -> InputError:
    """An InputError about one argument of a Python call."""
    text = f"error: {argument}: {message}" + (f"; {hint}" if hint else "")
    return InputError(text, [(None, None, None, argument, message, hint)])
