import re
import time
from string import Template

# What a log entry holds, and how it becomes a text.

NOTSET, DEBUG, INFO, WARNING, ERROR, CRITICAL = 0, 10, 20, 30, 40, 50
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"
_numbers = {
    "CRITICAL": CRITICAL, "FATAL": CRITICAL, "ERROR": ERROR, "WARN": WARNING, "WARNING": WARNING, "INFO": INFO,
    "DEBUG": DEBUG, "NOTSET": NOTSET,
}
_names = {
    CRITICAL: "CRITICAL", ERROR: "ERROR", WARNING: "WARNING", INFO: "INFO", DEBUG: "DEBUG", NOTSET: "NOTSET",
}


def getLevelName(level):
    found = _names.get(level)
    if found is None:
        found = _numbers.get(level)
    return f"Level {level}" if found is None else found


def getLevelNamesMapping():
    return dict(_numbers)


def addLevelName(level, levelName):
    _names[level] = levelName
    _numbers[levelName] = level


def number_of_level(level):
    if isinstance(level, int):
        return level
    if not isinstance(level, str):
        raise TypeError(f"Level not an integer or a valid string: {level!r}")
    if level not in _numbers:
        raise ValueError(f"Unknown level: {level!r}")
    return _numbers[level]


class LogRecord:
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info, func=None, sinfo=None, **kwargs):
        import os

        if args and len(args) == 1 and isinstance(args[0], dict) and args[0]:
            args = args[0]
        self.name, self.msg, self.args = name, msg, args
        self.levelname, self.levelno = getLevelName(level), level
        self.pathname, self.filename = pathname, os.path.basename(pathname)
        self.module = os.path.splitext(self.filename)[0]
        self.exc_info, self.exc_text, self.stack_info = exc_info, None, sinfo
        self.lineno, self.funcName = lineno, func
        self.created = time.time()
        self.msecs = int((self.created - int(self.created)) * 1000) + 0.0
        self.relativeCreated = self.created * 1000
        self.thread, self.threadName = 1, "MainThread"
        self.process, self.processName, self.taskName = 1, "MainProcess", None

    def getMessage(self):
        text = str(self.msg)
        return text % self.args if self.args else text

    def __repr__(self):
        return f'<LogRecord: {self.name}, {self.levelno}, {self.pathname}, {self.lineno}, "{self.msg}">'


class PercentStyle:
    default_format, asctime_format, asctime_search = "%(message)s", "%(asctime)s", "%(asctime)"

    def __init__(self, fmt, *, defaults=None):
        self._fmt, self._defaults = fmt or self.default_format, defaults

    def usesTime(self):
        return self._fmt.find(self.asctime_search) >= 0

    def validate(self):
        if not re.search(r"%\(\w+\)[#0+ -]*(\*|\d+)?(\.(\*|\d+))?[diouxefgcrsa%]", self._fmt, re.I):
            raise ValueError(f"Invalid format '{self._fmt}' for '{self.default_format[0]}' style")

    def values(self, record):
        return {**self._defaults, **record.__dict__} if self._defaults else record.__dict__

    def format(self, record):
        try:
            return self._format(record)
        except KeyError as error:
            raise ValueError(f"Formatting field not found in record: {error}")

    def _format(self, record):
        return self._fmt % self.values(record)


class StrFormatStyle(PercentStyle):
    default_format, asctime_format, asctime_search = "{message}", "{asctime}", "{asctime"

    def validate(self):
        if not re.search(r"\{\w+", self._fmt):
            raise ValueError("invalid format: no fields")

    def _format(self, record):
        return self._fmt.format(**self.values(record))


class StringTemplateStyle(PercentStyle):
    default_format, asctime_format, asctime_search = "${message}", "${asctime}", "${asctime}"

    def usesTime(self):
        return self._fmt.find("$asctime") >= 0 or self._fmt.find(self.asctime_search) >= 0

    def validate(self):
        if not re.search(r"\$\{?\w+", self._fmt):
            raise ValueError("invalid format: no fields")

    def _format(self, record):
        return Template(self._fmt).substitute(**self.values(record))


_STYLES = {
    "%": (PercentStyle, BASIC_FORMAT),
    "{": (StrFormatStyle, "{levelname}:{name}:{message}"),
    "$": (StringTemplateStyle, "${levelname}:${name}:${message}"),
}


class Formatter:
    default_time_format, default_msec_format = "%Y-%m-%d %H:%M:%S", "%s,%03d"
    converter = time.localtime

    def __init__(self, fmt=None, datefmt=None, style="%", validate=True, *, defaults=None):
        if style not in _STYLES:
            raise ValueError(f"Style must be one of: {','.join(_STYLES)}")
        self._style = _STYLES[style][0](fmt, defaults=defaults)
        if validate:
            self._style.validate()
        self._fmt, self.datefmt = self._style._fmt, datefmt

    def formatTime(self, record, datefmt=None):
        moment = time.localtime(record.created)
        if datefmt:
            return time.strftime(datefmt, moment)
        text = time.strftime(self.default_time_format, moment)
        return self.default_msec_format % (text, record.msecs) if self.default_msec_format else text

    def formatException(self, ei):
        import traceback

        return "".join(traceback.format_exception(ei[1])).rstrip("\n")

    def formatStack(self, stack_info):
        return stack_info

    def usesTime(self):
        return self._style.usesTime()

    def formatMessage(self, record):
        return self._style.format(record)

    def format(self, record):
        record.message = record.getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        text = self.formatMessage(record)
        if record.exc_info and not record.exc_text and record.exc_info[1] is not None:
            record.exc_text = self.formatException(record.exc_info)
        for more in (record.exc_text, record.stack_info):
            if more:
                text = (text if text.endswith("\n") else text + "\n") + more
        return text


_defaultFormatter = Formatter()


class BufferingFormatter:
    def __init__(self, linefmt=None):
        self.linefmt = linefmt or _defaultFormatter

    def formatHeader(self, records):
        return ""

    formatFooter = formatHeader

    def format(self, records):
        body = "".join([self.linefmt.format(record) for record in records])
        return self.formatHeader(records) + body + self.formatFooter(records) if records else ""


class Filter:
    def __init__(self, name=""):
        self.name, self.nlen = name, len(name)

    def filter(self, record):
        if not self.nlen or self.name == record.name:
            return True
        return record.name.startswith(self.name + ".")


class Filterer:
    def __init__(self):
        self.filters = []

    def addFilter(self, filter):
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter):
        if filter in self.filters:
            self.filters.remove(filter)

    def filter(self, record):
        for each in self.filters:
            if not (each.filter(record) if hasattr(each, "filter") else each(record)):
                return False
        return True
