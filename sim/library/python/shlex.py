import os
import sys
from collections import deque
from io import StringIO

__all__ = ["shlex", "split", "quote", "join"]

_SAFE = "_@%+=:,./-"


class shlex:
    """The words of a shell's line. `state` is None at the end, " " between words, "a" in a word, "c" among
    punctuation, or the quote or escape that one is in."""

    def __init__(self, instream=None, infile=None, posix=False, punctuation_chars=False):
        self.instream = StringIO(instream) if isinstance(instream, str) else sys.stdin if instream is None else instream
        self.infile = infile if instream is not None else None
        self.posix, self.eof = posix, None if posix else ""
        self.commenters, self.quotes, self.escape, self.escapedquotes = "#", "'\"", "\\", '"'
        self.whitespace, self.whitespace_split = " \t\r\n", False
        self.wordchars = "abcdfeghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
        if posix:
            self.wordchars += "".join([chr(c) for c in range(0xC0, 0x100) if c not in (0xD7, 0xF7)])
        self.state, self.lineno, self.debug, self.token, self.source = " ", 1, 0, "", None
        self.pushback, self.filestack = deque(), deque()
        self._punctuation_chars = "();<>|&" if punctuation_chars is True else punctuation_chars or ""
        if self._punctuation_chars:
            self._pushback_chars = deque()
            kept = self.wordchars + "~-./*?="
            self.wordchars = "".join([c for c in kept if c not in self._punctuation_chars])

    @property
    def punctuation_chars(self):
        return self._punctuation_chars

    def push_token(self, tok):
        self.pushback.appendleft(tok)

    def push_source(self, newstream, newfile=None):
        self.filestack.appendleft((self.infile, self.instream, self.lineno))
        self.infile, self.lineno = newfile, 1
        self.instream = StringIO(newstream) if isinstance(newstream, str) else newstream

    def pop_source(self):
        self.instream.close()
        self.infile, self.instream, self.lineno = self.filestack.popleft()
        self.state = " "

    def get_token(self):
        if self.pushback:
            return self.pushback.popleft()
        found = self.read_token()
        while self.source is not None and found == self.source:
            opened = self.sourcehook(self.read_token())
            if opened:
                self.push_source(opened[1], opened[0])
            found = self.get_token()
        while found == self.eof:
            if not self.filestack:
                return self.eof
            self.pop_source()
            found = self.get_token()
        return found

    def _next(self):
        if self._punctuation_chars and self._pushback_chars:
            return self._pushback_chars.pop()
        c = self.instream.read(1)
        if c == "\n":
            self.lineno += 1
        return c

    def _comment(self):
        self.instream.readline()
        self.lineno += 1

    def read_token(self):
        quoted, before = False, " "
        while True:
            c = self._next()
            if self.state is None:
                self.token = ""
                break
            if self.state == " ":
                if not c:
                    self.state = None
                    break
                if c in self.whitespace:
                    if self.token or self.posix and quoted:
                        break
                elif c in self.commenters:
                    self._comment()
                elif self.posix and c in self.escape:
                    before, self.state = "a", c
                elif c in self.quotes:
                    self.token, self.state = "" if self.posix else c, c
                elif c in self.wordchars or c in self._punctuation_chars:
                    self.token, self.state = c, "a" if c in self.wordchars else "c"
                elif self.whitespace_split:
                    self.token, self.state = c, "a"
                else:
                    self.token = c
                    break
            elif self.state in self.quotes:
                quoted = True
                if not c:
                    raise ValueError("No closing quotation")
                if c == self.state:
                    if not self.posix:
                        self.token += c
                        self.state = " "
                        break
                    self.state = "a"
                elif self.posix and c in self.escape and self.state in self.escapedquotes:
                    before, self.state = self.state, c
                else:
                    self.token += c
            elif self.state in self.escape:
                if not c:
                    raise ValueError("No escaped character")
                if before in self.quotes and c != self.state and c != before:
                    self.token += self.state
                self.token += c
                self.state = before
            elif not c:
                self.state = None
                break
            elif c in self.whitespace:
                self.state = " "
                if self.token or self.posix and quoted:
                    break
            elif c in self.commenters:
                self._comment()
                if self.posix:
                    self.state = " "
                    if self.token or quoted:
                        break
            elif self.state == "c":
                if c in self._punctuation_chars:
                    self.token += c
                else:
                    self._pushback_chars.append(c)
                    self.state = " "
                    break
            elif self.posix and c in self.quotes:
                self.state = c
            elif self.posix and c in self.escape:
                before, self.state = "a", c
            elif (
                c in self.wordchars
                or c in self.quotes
                or self.whitespace_split
                and c not in self._punctuation_chars
            ):
                self.token += c
            else:
                if self._punctuation_chars:
                    self._pushback_chars.append(c)
                else:
                    self.pushback.appendleft(c)
                self.state = " "
                if self.token or self.posix and quoted:
                    break
        found, self.token = self.token, ""
        return None if self.posix and not quoted and found == "" else found

    def sourcehook(self, newfile):
        newfile = newfile.strip('"')
        if isinstance(self.infile, str) and not os.path.isabs(newfile):
            newfile = os.path.join(os.path.dirname(self.infile), newfile)
        return newfile, open(newfile)

    def error_leader(self, infile=None, lineno=None):
        return f'"{infile or self.infile}", line {lineno or self.lineno}: '

    def __iter__(self):
        return self

    def __next__(self):
        found = self.get_token()
        if found == self.eof:
            raise StopIteration
        return found


def split(s, comments=False, posix=True):
    if s is None:
        raise ValueError("s argument must not be None")
    lexer = shlex(s, posix=posix)
    lexer.whitespace_split = True
    if not comments:
        lexer.commenters = ""
    return list(lexer)


def quote(s):
    if not s:
        return "''"
    if all([c.isalnum() and c.isascii() or c in _SAFE for c in s]):
        return s
    return "'" + s.replace("'", "'\"'\"'") + "'"


def join(split_command):
    return " ".join([quote(word) for word in split_command])
