#!/usr/bin/env python3
"""Wraps the prose of Markdown files at 100 columns: paragraphs and items of lists that have a longer line. Code, tables, headings,
pictures and what has no space stay as they are. No word changes.

    tools/wrap_prose.py FILE...
"""

import pathlib
import re
import sys
import textwrap

COLUMNS = 100
ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) +")
# What Markdown reads as the beginning of something else: no line of prose may begin with it.
MARKER = re.compile(r"(?:[-+*]|\d+[.)]|#+|>|\|)(?: |$)")
HELD = "\0"  # stands for a space that must not become the end of a line


class Paragraph:
    """Lines of prose that belong together. `first` and `rest` are what its lines begin with."""

    def __init__(self, number, first, rest):
        self.number, self.first, self.rest, self.lines = number, first, rest, []

    def too_long(self):
        """(number, columns) of each line that should have been broken."""
        for number, line in enumerate(self.lines, self.number):
            if len(line) > COLUMNS and " " in line[len(self.rest):COLUMNS].strip():
                yield number, len(line)

    def wrapped(self):
        begun = [self.first] + [self.rest] * (len(self.lines) - 1)
        words = " ".join(line.removeprefix(start).strip() for start, line in zip(begun, self.lines))
        # Code and links stay in one piece.
        held = re.sub(r"(`+)(.+?)\1|\[[^\]]*\]\([^)]*\)", lambda match: match[0].replace(" ", HELD), words)
        lines = textwrap.wrap(held, COLUMNS, initial_indent=self.first, subsequent_indent=self.rest, break_long_words=False,
                              break_on_hyphens=False)
        for i in range(1, len(lines)):
            while MARKER.match(lines[i][len(self.rest):]):
                lines[i - 1], _, last = lines[i - 1].rpartition(" ")
                lines[i] = self.rest + last + " " + lines[i][len(self.rest):]
        return [line.replace(HELD, " ") for line in lines]


def pieces(text):
    """The text in order, as lines that stay and Paragraphs."""
    fenced = False
    indent = 0  # of the text of the list that we are in
    paragraph = None
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        fence = stripped.startswith(("```", "~~~"))
        stays = fenced or fence or not stripped or stripped.startswith(("|", "#", "<", "![")) or set(stripped) == {"-"}
        fenced ^= fence
        begin = len(line) - len(line.lstrip())
        item = ITEM.match(line) if begin < indent + 4 else None
        code = paragraph is None and not item and begin >= indent + 4
        if (stays or code or item) and paragraph:
            yield paragraph
            paragraph = None
        if stays or code:
            yield line
            continue
        if paragraph is None:
            quoted = "> " if stripped.startswith("> ") else None
            if item or begin == 0:
                indent = len(item[0]) if item else 0
            paragraph = Paragraph(number, quoted or (item[0] if item else " " * begin),
                                  quoted or " " * (indent if item else begin))
        paragraph.lines.append(line)
    if paragraph:
        yield paragraph


def long_lines(text):
    """(number, columns) of each line of prose that is too long."""
    for piece in pieces(text):
        if isinstance(piece, Paragraph):
            yield from piece.too_long()


def wrapped(text):
    lines = []
    for piece in pieces(text):
        if isinstance(piece, str):
            lines.append(piece)
        else:
            lines += piece.wrapped() if any(piece.too_long()) else piece.lines
    return "\n".join(lines)


def main():
    for name in sys.argv[1:]:
        file = pathlib.Path(name)
        text = file.read_text(encoding="utf-8")
        file.write_text(wrapped(text), encoding="utf-8")


if __name__ == "__main__":
    main()
