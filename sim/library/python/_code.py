import _tidemark


class Code:
    co_argcount = co_posonlyargcount = co_kwonlyargcount = co_flags = 0
    co_varnames, co_firstlineno = (), 1

    def __init__(self, source, filename, mode):
        self._text, self.co_filename, self._mode = source, str(filename), mode
        self.co_name = "<module>"


class FunctionCode:
    """what a function's code tells of itself"""

    def __init__(self, function):
        self._function, self.co_name = function, function.__name__
        rows = _tidemark.parameters(function)[0]
        by_kind = {kind: [row[0] for row in rows if row[1] == kind] for kind in range(5)}
        self.co_posonlyargcount, self.co_kwonlyargcount = len(by_kind[0]), len(by_kind[3])
        self.co_argcount = len(by_kind[0]) + len(by_kind[1])
        self.co_varnames = tuple(by_kind[0] + by_kind[1] + by_kind[3] + by_kind[2] + by_kind[4])
        self.co_flags = 3 | (4 if by_kind[2] else 0) | (8 if by_kind[4] else 0)
        if _tidemark.is_generator_function(function):
            self.co_flags |= 32
        self.co_filename, self.co_firstlineno = _tidemark.source_of(function)

    def _place(self):
        return self.co_filename, self.co_firstlineno, self.co_name, self.co_varnames

    def __eq__(self, other):
        return isinstance(other, FunctionCode) and self._place() == other._place()

    def __hash__(self):
        return hash(self._place())


def of_code__(function):
    return FunctionCode(function)


def of_annotations__(function):
    rows, returns = _tidemark.parameters(function)
    texts = {row[0]: row[3] for row in rows if row[3] is not NotImplemented}
    if returns is not NotImplemented:
        texts["return"] = returns
    held = {name: annotation_of(function, text) for name, text in texts.items()}
    function.__annotations__ = held
    return held


def annotation_of(function, text):
    """the value of a function's annotation, or its text where its file asks for texts"""
    try:
        return _tidemark.function_annotation(function, text)
    except (NameError, AttributeError, TypeError) as error:
        _tidemark.note(f"the annotation {text!r} of {function.__qualname__}() stays a text: {error}", True)
        return text


def of_kwdefaults__(function):
    rows = _tidemark.parameters(function)[0]
    return {row[0]: row[2] for row in rows if row[1] == 3 and row[2] is not NotImplemented} or None


class TracebackType:
    """a frame that an exception went through, and the next one towards where it was raised"""

    __slots__ = ("tb_frame", "tb_lineno", "tb_next", "tb_lasti")

    def __init__(self, tb_next, tb_frame, tb_lasti, tb_lineno):
        self.tb_next, self.tb_frame, self.tb_lasti, self.tb_lineno = tb_next, tb_frame, tb_lasti, tb_lineno


TracebackType.__name__ = TracebackType.__qualname__ = "traceback"


def traceback_of(entries):
    """The entries are pairs of a frame and its line, the innermost first."""
    chain = None
    for frame, line in entries:
        chain = TracebackType(chain, frame, -1, line)
    return chain
