DEBUG, INFO, WARNING, ERROR, CRITICAL = 10, 20, 30, 40, 50


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
        return True


class Handler(Filterer):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.level, self.formatter, self.stream, self.name = NOTSET, None, None, None

    def setLevel(self, level):
        self.level = level

    def setFormatter(self, fmt):
        self.formatter = fmt

    def _nothing(self, *args, **kwargs):
        pass

    emit = handle = flush = close = acquire = release = createLock = setStream = handleError = _nothing

    def format(self, record):
        return (self.formatter or _plain_formatter).format(record)


class StreamHandler(Handler):
    pass


class FileHandler(Handler):
    pass


class NullHandler(Handler):
    pass


class Formatter:
    def __init__(self, fmt=None, datefmt=None, style="%", validate=True, *, defaults=None):
        self._fmt, self.datefmt = fmt, datefmt

    def format(self, record):
        return record.getMessage()

    formatMessage = format

    def formatTime(self, record, datefmt=None):
        return ""

    def formatException(self, ei):
        return ""


_plain_formatter = Formatter()


class LogRecord:
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info, func=None, sinfo=None, **kwargs):
        self.name, self.levelno, self.pathname, self.lineno = name, level, pathname, lineno
        self.msg, self.args = msg, args
        self.levelname = getLevelName(level)

    def getMessage(self):
        return str(self.msg) % self.args if self.args else str(self.msg)


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return True


class Logger(Filterer):
    def __init__(self, name="root", level=0):
        super().__init__()
        self.name, self.level, self.handlers, self.propagate, self.disabled = name, level, [], True, False

    @property
    def parent(self):
        if self is _root:
            return None
        parts = self.name.split(".")
        for i in range(len(parts) - 1, 0, -1):
            if ".".join(parts[:i]) in _loggers:
                return _loggers[".".join(parts[:i])]
        return _root

    @property
    def manager(self):
        return _manager

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

    def callHandlers(self, record):
        pass

    handle = callHandlers

    def makeRecord(self, name, level, fn, lno, msg, args, exc_info, func=None, extra=None, sinfo=None):
        return LogRecord(name, level, fn, lno, msg, args, exc_info, func, sinfo)

    def getChild(self, suffix):
        return getLogger(suffix if self is _root else self.name + "." + suffix)


class LoggerAdapter(Logger):
    def __init__(self, logger, extra=None, merge_extra=False):
        self.logger, self.extra = logger, extra

    def process(self, msg, kwargs):
        kwargs["extra"] = self.extra
        return msg, kwargs

    def log(self, level, msg, *args, **kwargs):
        if self.isEnabledFor(level):
            msg, kwargs = self.process(msg, kwargs)
            self.logger.log(level, msg, *args, **kwargs)

    def debug(self, msg, *args, **kwargs):
        self.log(DEBUG, msg, *args, **kwargs)

    def info(self, msg, *args, **kwargs):
        self.log(INFO, msg, *args, **kwargs)

    def warning(self, msg, *args, **kwargs):
        self.log(WARNING, msg, *args, **kwargs)

    def error(self, msg, *args, **kwargs):
        self.log(ERROR, msg, *args, **kwargs)

    def critical(self, msg, *args, **kwargs):
        self.log(CRITICAL, msg, *args, **kwargs)

    warn, exception, fatal = warning, error, critical

    def setLevel(self, level):
        self.logger.setLevel(level)

    def getEffectiveLevel(self):
        return self.logger.getEffectiveLevel()

    def isEnabledFor(self, level):
        return self.logger.isEnabledFor(level)

    def hasHandlers(self):
        return self.logger.hasHandlers()

    @property
    def name(self):
        return self.logger.name

    @property
    def level(self):
        return self.logger.level


class Manager:
    def __init__(self):
        self.loggerDict, self.root, self.disable = _loggers, _root, 0

    def getLogger(self, name):
        return getLogger(name)


NOTSET, WARN, FATAL = 0, WARNING, CRITICAL
_numbers = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30, "ERROR": 40, "CRITICAL": 50, "FATAL": 50}
_root = root = Logger("root", WARNING)
_loggers = {}
_manager = Manager()
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


captureWarnings = setLoggerClass = shutdown = disable
_handlerList = []  # weak references to handlers: there is nothing to flush


def addLevelName(level, levelName):
    _numbers[levelName] = level


def getLoggerClass():
    return Logger


def getHandlerByName(name):
    return None


debug, info, warning, warn, error, critical, exception, log = (
    _root.debug, _root.info, _root.warning, _root.warning, _root.error, _root.critical, _root.exception, _root.log)
