#include <array>

#include "sim/lang/imports/library_code.h"

/// What scripts have round their loop: options, logs and JSON.
namespace tidemark::lang {

namespace {

constexpr std::string_view kArgparse = R"py(
class Namespace:
    def __init__(self, **kwargs):
        for key, value in kwargs.items():
            setattr(self, key, value)

    def __contains__(self, key):
        return hasattr(self, key)

    def __eq__(self, other):
        return isinstance(other, Namespace) and self.__dict__ == other.__dict__

    def __repr__(self):
        return "Namespace(" + ", ".join([f"{k}={v!r}" for k, v in self.__dict__.items()]) + ")"


class HelpFormatter:
    pass


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    pass


class RawDescriptionHelpFormatter(HelpFormatter):
    pass


class RawTextHelpFormatter(HelpFormatter):
    pass


class MetavarTypeHelpFormatter(HelpFormatter):
    pass


class BooleanOptionalAction:
    pass


class ArgumentError(Exception):
    pass


class ArgumentTypeError(Exception):
    pass


SUPPRESS, OPTIONAL, ZERO_OR_MORE, ONE_OR_MORE, REMAINDER = "==SUPPRESS==", "?", "*", "+", "..."


class _Argument:
    def __init__(self, flags, name, action, nargs, const, type, choices, required):
        self.flags, self.dest, self.action, self.nargs, self.const = flags, name, action, nargs, const
        self.type, self.choices, self.required = type, choices, required
        self.takes_none = action in ("store_true", "store_false", "store_const", "count", "append_const", BooleanOptionalAction)

    def convert(self, text):
        value = text if self.type is None else self.type(text)
        if self.choices is not None and value not in self.choices:
            raise SystemExit(2)
        return value


class _Group:
    def __init__(self, parser):
        self._parser = parser

    def add_argument(self, *flags, **options):
        return self._parser.add_argument(*flags, **options)

    def add_argument_group(self, *args, **kwargs):
        return _Group(self)

    def add_mutually_exclusive_group(self, *args, **kwargs):
        return _Group(self)

    def set_defaults(self, **kwargs):
        self._parser.set_defaults(**kwargs)


class _Subparsers:
    def __init__(self, parser, dest):
        self._parser, self._dest, self._parsers = parser, dest, {}

    def add_parser(self, name, **options):
        self._parsers[name] = ArgumentParser()
        return self._parsers[name]


class ArgumentParser(_Group):
    """a script is run without arguments: each has its default, but for those of a list that it gives itself"""

    def __init__(self, *args, **kwargs):
        self._parser = self
        self._values = {}
        self._arguments = []
        self._subparsers = None

    def add_argument(self, *flags, action="store", nargs=None, const=None, default=None, type=None, choices=None, required=False,
                     help=None, metavar=None, dest=None, version=None):
        long = [f for f in flags if f.startswith("--")]
        name = dest or (long[0] if long else flags[0]).lstrip("-").replace("-", "_")
        if action == "store_true":
            default = False if default is None else default
        elif action == "store_false":
            default = True if default is None else default
        elif action == "version" or action == "help":
            return
        if isinstance(default, str) and type is not None and default != SUPPRESS:
            default = type(default)
        positional = not flags[0].startswith("-")
        self._arguments.append(_Argument(flags, name, action, nargs, const, type, choices, required or positional and nargs not in ("?", "*")))
        if default != SUPPRESS:
            self._values[name] = default
        return self._arguments[-1]

    def add_subparsers(self, *, dest=None, required=False, **options):
        self._subparsers = _Subparsers(self, dest)
        if dest is not None:
            self._values[dest] = None
            if required:
                self._arguments.append(_Argument((dest,), dest, "store", None, None, None, None, True))
        return self._subparsers

    def set_defaults(self, **kwargs):
        self._values.update(kwargs)

    def get_default(self, dest):
        return self._values.get(dest)

    def error(self, message):
        raise SystemExit(2)

    def print_help(self, file=None):
        pass

    print_usage = print_help

    def format_help(self):
        return ""

    def _parse(self, words, known):
        values, given, extra = dict(self._values), [], []
        places = [a for a in self._arguments if not a.flags[0].startswith("-")]
        at = 0
        while at < len(words):
            word, inline = words[at], None
            at += 1
            if word.startswith("--") and "=" in word:
                word, inline = word.split("=", 1)
            found = [a for a in self._arguments if word in a.flags and word.startswith("-")]
            short = [a for a in self._arguments if word[:2] in a.flags]
            if not found and short and len(word) > 2 and word[0] == "-" and word[1] != "-":
                found = short
                if short[0].takes_none:
                    words = [*words[:at], "-" + word[2:], *words[at:]]
                else:
                    inline = word[2:]
            negated = [a for a in self._arguments if a.action is BooleanOptionalAction and word in ["--no-" + f[2:] for f in a.flags]]
            if not found and not negated and not word.startswith("-") and self._subparsers is not None and word in self._subparsers._parsers:
                inner, rest = self._subparsers._parsers[word]._parse(words[at:], known)
                values.update(inner)
                if self._subparsers._dest is not None:
                    values[self._subparsers._dest] = word
                    given.append(self._subparsers._dest)
                extra += rest
                break
            if not found and not negated and not word.startswith("-") and places:
                found = [places.pop(0)]
                at -= 1
            if not found and not negated:
                if not known:
                    raise SystemExit(2)
                extra.append(words[at - 1])
                continue
            one = (found or negated)[0]
            given.append(one.dest)
            if one.takes_none:
                if one.action == "count":
                    values[one.dest] = (values.get(one.dest) or 0) + 1
                elif one.action == "append_const":
                    values[one.dest] = (values.get(one.dest) or []) + [one.const]
                else:
                    values[one.dest] = {"store_true": True, "store_false": False, "store_const": one.const}.get(one.action, not negated)
                continue
            taken = [inline] if inline is not None else []
            most = one.nargs if isinstance(one.nargs, int) else 1 if one.nargs in (None, "?") else len(words)
            while inline is None and at < len(words) and len(taken) < most and (not words[at].startswith("-") or _is_number(words[at])):
                taken.append(words[at])
                at += 1
            if not taken and one.nargs in (None, "+"):
                raise SystemExit(2)
            converted = [one.convert(t) for t in taken]
            value = converted[0] if one.nargs is None else (converted[0] if converted else one.const) if one.nargs == "?" else converted
            values[one.dest] = (values.get(one.dest) or []) + [value] if one.action == "append" else value
        missing = ["/".join(a.flags) for a in self._arguments if a.required and a.dest not in given]
        if missing:
            raise RuntimeError("the following arguments are required: " + ", ".join(missing) +
                               "; a script is run without arguments: give them defaults")
        return values, extra

    def parse_args(self, args=None, namespace=None):
        values = self._parse(list(args or ()), False)[0]
        if namespace is None:
            return Namespace(**values)
        for key, value in values.items():
            setattr(namespace, key, value)
        return namespace

    def parse_known_args(self, args=None, namespace=None):
        values, extra = self._parse(list(args or ()), True)
        return Namespace(**values), extra


def _is_number(text):
    return text[1:].replace(".", "", 1).replace("e-", "", 1).isdigit()


class FileType:
    def __init__(self, mode="r", **options):
        self.mode = mode
)py";

constexpr std::string_view kLogging = R"py(
DEBUG, INFO, WARNING, ERROR, CRITICAL = 10, 20, 30, 40, 50


class Handler:
    def __init__(self, *args, **kwargs):
        self.level, self.formatter = NOTSET, None

    def setLevel(self, level):
        self.level = level

    def setFormatter(self, fmt):
        self.formatter = fmt

    def _nothing(self, *args, **kwargs):
        pass

    addFilter = removeFilter = emit = handle = flush = close = acquire = release = _nothing


class StreamHandler(Handler):
    pass


class FileHandler(Handler):
    pass


class NullHandler(Handler):
    pass


class Formatter:
    def __init__(self, *args, **kwargs):
        pass


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return True


class Logger:
    def __init__(self, name="root", level=0):
        self.name, self.level, self.handlers, self.propagate, self.disabled, self.parent = name, level, [], True, False, None

    def log(self, level, msg, *args, **kwargs):
        """shows nothing; the text is made where a handler would show it, as a tensor's text takes memory"""
        if self.disabled or level < self.getEffectiveLevel():
            return
        handlers = self.handlers + (_root.handlers if self.propagate and self is not _root else [])
        for handler in handlers or [lastResort]:
            if level >= handler.level and not isinstance(handler, NullHandler):
                str(msg) % (args[0] if len(args) == 1 and isinstance(args[0], dict) else args) if args else str(msg)

    def debug(self, msg, *args, **kwargs):
        self.log(DEBUG, msg, *args)

    def info(self, msg, *args, **kwargs):
        self.log(INFO, msg, *args)

    def warning(self, msg, *args, **kwargs):
        self.log(WARNING, msg, *args)

    def error(self, msg, *args, **kwargs):
        self.log(ERROR, msg, *args)

    def critical(self, msg, *args, **kwargs):
        self.log(CRITICAL, msg, *args)

    warn, exception, fatal = warning, error, critical

    def setLevel(self, level):
        self.level = _numbers.get(level, level)

    def getEffectiveLevel(self):
        parts = self.name.split(".")
        for i in range(len(parts), 0, -1):
            found = self if i == len(parts) else _loggers.get(".".join(parts[:i]))
            if found is not None and found.level:
                return found.level
        return _root.level

    def isEnabledFor(self, level):
        return level >= self.getEffectiveLevel()

    def addHandler(self, hdlr):
        self.handlers.append(hdlr)

    def removeHandler(self, hdlr):
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self):
        return len(self.handlers) > 0 or self is not _root and len(_root.handlers) > 0

    def addFilter(self, filter):
        pass

    def getChild(self, suffix):
        return getLogger(suffix if self is _root else self.name + "." + suffix)


class LoggerAdapter(Logger):
    def __init__(self, logger, extra=None):
        super().__init__(logger.name)
        self.logger, self.extra = logger, extra


NOTSET, WARN, FATAL = 0, WARNING, CRITICAL
_numbers = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30, "ERROR": 40, "CRITICAL": 50, "FATAL": 50}
_root = root = Logger("root", WARNING)
_loggers = {}
lastResort = StreamHandler()
lastResort.level = WARNING


def getLogger(name=None):
    if name is None or name == "root":
        return _root
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def getLevelName(level):
    for name, number in _numbers.items():
        if number == level:
            return name
    return _numbers.get(level, f"Level {level}")


def basicConfig(*, level=None, handlers=None, force=False, **kwargs):
    if force:
        _root.handlers.clear()
    if not _root.handlers:
        _root.handlers.extend(handlers or [StreamHandler()])
        if level is not None:
            _root.setLevel(level)


def disable(level=50):
    pass


captureWarnings = addLevelName = setLoggerClass = shutdown = disable
debug, info, warning, warn, error, critical, exception, log = (
    _root.debug, _root.info, _root.warning, _root.warning, _root.error, _root.critical, _root.exception, _root.log)
)py";

constexpr std::string_view kJson = R"py(
import _tidemark


class JSONDecodeError(ValueError):
    pass


class JSONEncoder:
    def default(self, o):
        raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")


JSONDecoder = _tidemark.later("json.JSONDecoder")


def _quoted(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return '"' + text + '"'


def _key(key):
    return key if isinstance(key, str) else {None: "null"}.get(key) or _text(key, None, "", None, False, None)


def _text(obj, indent, inner, default, sort_keys, separators):
    if obj is None:
        return "null"
    if obj is True or obj is False:
        return "true" if obj else "false"
    if isinstance(obj, float) and (obj != obj or obj in (float("inf"), -float("inf"))):
        return "NaN" if obj != obj else "Infinity" if obj > 0 else "-Infinity"
    if isinstance(obj, int):
        return repr(int(obj))
    if isinstance(obj, float):
        return repr(float(obj))
    if isinstance(obj, str):
        return _quoted("" + obj)
    first = "" if indent is None else inner + " " * indent
    between, colon = separators or (", " if indent is None else ",", ": ")
    if isinstance(obj, dict):
        pairs = sorted(obj.items()) if sort_keys else obj.items()
        items, ends = [_quoted(_key(k)) + colon + _text(v, indent, first, default, sort_keys, separators) for k, v in pairs], "{}"
    elif isinstance(obj, (list, tuple)):
        items, ends = [_text(v, indent, first, default, sort_keys, separators) for v in obj], "[]"
    elif default is not None:
        return _text(default(obj), indent, inner, default, sort_keys, separators)
    else:
        raise TypeError(f"Object of type {type(obj).__name__} is not JSON serializable")
    if not items:
        return ends
    if indent is None:
        return ends[0] + between.join(items) + ends[1]
    return ends[0] + first + (between + first).join(items) + inner + ends[1]


def dumps(obj, *, indent=None, sort_keys=False, default=None, separators=None, cls=None, ensure_ascii=True, **options):
    if cls is not None:
        default = cls().default
    return _text(obj, indent, "\n", default, sort_keys, separators)


def dump(obj, fp, **options):
    fp.write(dumps(obj, **options))


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def blanks(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1

    def fail(self):
        raise JSONDecodeError(f"Expecting value: char {self.at}")

    def take(self, wanted):
        self.blanks()
        if not self.text.startswith(wanted, self.at):
            return False
        self.at += len(wanted)
        return True

    def many(self, end, one):
        if self.take(end):
            return
        while True:
            one()
            if self.take(end):
                return
            if not self.take(","):
                self.fail()

    def value(self):
        self.blanks()
        for word, value in (("null", None), ("true", True), ("false", False), ("NaN", float("nan")), ("Infinity", float("inf")),
                            ("-Infinity", -float("inf"))):
            if self.take(word):
                return value
        if self.take("["):
            items = []
            self.many("]", lambda: items.append(self.value()))
            return items
        if self.take("{"):
            members = {}

            def member():
                self.blanks()
                key = self.string()
                if not self.take(":"):
                    self.fail()
                members[key] = self.value()

            self.many("}", member)
            return members
        if self.text[self.at:self.at + 1] == '"':
            return self.string()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "+-0123456789.eE":
            self.at += 1
        word = self.text[start:self.at]
        if not word:
            self.fail()
        return float(word) if "." in word or "e" in word.lower() else int(word)

    def string(self):
        if not self.take('"'):
            self.fail()
        out = ""
        while self.text[self.at] != '"':
            c = self.text[self.at]
            self.at += 1
            if c == "\\":
                c = self.text[self.at]
                self.at += 1
                if c == "u":
                    c = chr(int(self.text[self.at:self.at + 4], 16))
                    self.at += 4
                else:
                    c = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(c, c)
            out += c
        self.at += 1
        return out


def loads(s, **options):
    reader = _Reader(s)
    value = reader.value()
    reader.blanks()
    if reader.at != len(s):
        raise JSONDecodeError(f"Extra data: char {reader.at}")
    return value


def load(fp, **options):
    return loads(fp.read())
)py";

constexpr std::array kFiles = std::to_array<LibraryFile>({
    {"argparse", kArgparse},
    {"json", kJson},
    {"logging", kLogging},
    {"logging.handlers", kLogging},
});

}  // namespace

std::span<const LibraryFile> library_script_files() { return kFiles; }

}  // namespace tidemark::lang
