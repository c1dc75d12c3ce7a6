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
        self.name, self.level, self.handlers, self.propagate, self.disabled, self.parent = (
            name,
            level,
            [],
            True,
            False,
            None,
        )

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
