import re

__all__ = ["TextWrapper", "wrap", "fill", "dedent", "indent", "shorten"]

_BLANK, _OTHER, _LETTER = r"[\t\n\x0b\x0c\r ]", r"[^\t\n\x0b\x0c\r ]", r"[^\d\W]"
_BEFORE_DASH = r"(?<=[\w!\"'&.,?])"
_AFTER_HYPHEN = f"-(?:(?<={_LETTER}{{2}}-)|(?<={_LETTER}-{_LETTER}-))(?={_LETTER}-?{_LETTER})"
_WORD_END = rf"(?={_BLANK}|\Z)|{_BEFORE_DASH}(?=-{{2,}}\w)"


class TextWrapper:
    unicode_whitespace_trans = {ord(c): ord(" ") for c in "\t\n\x0b\x0c\r "}
    wordsep_re = re.compile(
        rf"({_BLANK}+|{_BEFORE_DASH}-{{2,}}(?=\w)|{_OTHER}+?(?:{_AFTER_HYPHEN}|{_WORD_END}))"
    )
    wordsep_simple_re = re.compile(f"({_BLANK}+)")
    sentence_end_re = re.compile(r"[a-z][\.\!\?][\"\']?\Z")

    def __init__(
        self,
        width=70,
        initial_indent="",
        subsequent_indent="",
        expand_tabs=True,
        replace_whitespace=True,
        fix_sentence_endings=False,
        break_long_words=True,
        drop_whitespace=True,
        break_on_hyphens=True,
        tabsize=8,
        *,
        max_lines=None,
        placeholder=" [...]",
    ):
        self.width, self.max_lines, self.placeholder, self.tabsize = width, max_lines, placeholder, tabsize
        self.initial_indent, self.subsequent_indent = initial_indent, subsequent_indent
        self.expand_tabs, self.replace_whitespace = expand_tabs, replace_whitespace
        self.drop_whitespace, self.fix_sentence_endings = drop_whitespace, fix_sentence_endings
        self.break_long_words, self.break_on_hyphens = break_long_words, break_on_hyphens

    def _munge_whitespace(self, text):
        if self.expand_tabs:
            text = text.expandtabs(self.tabsize)
        return text.translate(self.unicode_whitespace_trans) if self.replace_whitespace else text

    def _split(self, text):
        separator = self.wordsep_re if self.break_on_hyphens is True else self.wordsep_simple_re
        return [chunk for chunk in separator.split(text) if chunk]

    def _fix_sentence_endings(self, chunks):
        for at in range(1, len(chunks)):
            if chunks[at] == " " and self.sentence_end_re.search(chunks[at - 1]):
                chunks[at] = "  "

    def _handle_long_word(self, reversed_chunks, cur_line, cur_len, width):
        if self.break_long_words:
            chunk = reversed_chunks[-1]
            end = room = 1 if width < 1 else width - cur_len
            if self.break_on_hyphens and len(chunk) > room:
                hyphen = chunk.rfind("-", 0, room)
                if hyphen > 0 and chunk[:hyphen].strip("-"):
                    end = hyphen + 1
            cur_line.append(chunk[:end])
            reversed_chunks[-1] = chunk[end:]
        elif not cur_line:
            cur_line.append(reversed_chunks.pop())

    def _split_chunks(self, text):
        return self._split(self._munge_whitespace(text))

    def _indent(self, lines):
        return self.subsequent_indent if lines else self.initial_indent

    def _wrap_chunks(self, chunks):
        if self.width <= 0:
            raise ValueError(f"invalid width {self.width!r} (must be > 0)")
        if self.max_lines is not None:
            indent = self.subsequent_indent if self.max_lines > 1 else self.initial_indent
            if len(indent) + len(self.placeholder.lstrip()) > self.width:
                raise ValueError("placeholder too large for max width")
        lines = []
        chunks.reverse()
        while chunks:
            indent = self._indent(lines)
            width = self.width - len(indent)
            if self.drop_whitespace and lines and not chunks[-1].strip():
                chunks.pop()
            line, size = [], 0
            while chunks and size + len(chunks[-1]) <= width:
                line.append(chunks.pop())
                size += len(line[-1])
            if chunks and len(chunks[-1]) > width:
                self._handle_long_word(chunks, line, size, width)
                size = sum([len(chunk) for chunk in line])
            if self.drop_whitespace and line and not line[-1].strip():
                size -= len(line.pop())
            if not line:
                continue
            is_last = not chunks or self.drop_whitespace and len(chunks) == 1 and not chunks[0].strip()
            if self.max_lines is None or len(lines) + 1 < self.max_lines or is_last and size <= width:
                lines.append(indent + "".join(line))
            else:
                self._end(lines, line, size, indent, width)
                break
        return lines

    def _end(self, lines, line, size, indent, width):
        """The last line that may be, with the placeholder for what is left out."""
        while line:
            if line[-1].strip() and size + len(self.placeholder) <= width:
                lines.append(indent + "".join(line) + self.placeholder)
                return
            size -= len(line.pop())
        if lines:
            before = lines[-1].rstrip()
            if len(before) + len(self.placeholder) <= self.width:
                lines[-1] = before + self.placeholder
                return
        lines.append(indent + self.placeholder.lstrip())

    def wrap(self, text):
        chunks = self._split_chunks(text)
        if self.fix_sentence_endings:
            self._fix_sentence_endings(chunks)
        return self._wrap_chunks(chunks)

    def fill(self, text):
        return "\n".join(self.wrap(text))


def wrap(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).wrap(text)


def fill(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).fill(text)


def shorten(text, width, **kwargs):
    return TextWrapper(width=width, max_lines=1, **kwargs).fill(" ".join(text.strip().split()))


def dedent(text):
    lines = [line if line.strip(" \t") else "" for line in text.split("\n")]
    margin = None
    for line in lines:
        if not line:
            continue
        blank = line[:len(line) - len(line.lstrip(" \t"))]
        if margin is None:
            margin = blank
        shared = 0
        while shared < min(len(margin), len(blank)) and margin[shared] == blank[shared]:
            shared += 1
        margin = margin[:shared]
    return "\n".join([line[len(margin):] if line else line for line in lines]) if margin else "\n".join(lines)


def indent(text, prefix, predicate=None):
    wanted = predicate or (lambda line: line.strip())
    return "".join([prefix + line if wanted(line) else line for line in text.splitlines(True)])
