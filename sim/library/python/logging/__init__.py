import _files
import sys
import time
from logging._records import (
    BASIC_FORMAT, BufferingFormatter, CRITICAL, DEBUG, ERROR, Filter, Filterer, Formatter, INFO, LogRecord, NOTSET,
    PercentStyle, StrFormatStyle, StringTemplateStyle, WARNING, _STYLES, _defaultFormatter, _numbers, addLevelName,
    getLevelName, getLevelNamesMapping, number_of_level,
)

WARN, FATAL = WARNING, CRITICAL
raiseExceptions = logThreads = logMultiprocessing = logProcesses = logAsyncioTasks = True


class Handler(Filterer):
    def __init__(self, level=NOTSET):
        super().__init__()
        self.level, self.formatter, self.name, self.lock = number_of_level(level), None, None, None

    def get_name(self):
        return self.name

    def set_name(self, name):
        self.name = name
        _handlers[name] = self

    def setLevel(self, level):
        self.level = number_of_level(level)

    def setFormatter(self, fmt):
        self.formatter = fmt

    def format(self, record):
        return (self.formatter or _defaultFormatter).format(record)

    def emit(self, record):
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def handle(self, record):
        passes = self.filter(record)
        if passes:
            self.emit(record)
        return passes

    def createLock(self):
        pass

    acquire = release = flush = close = createLock

    def handleError(self, record):
        raise

    def __repr__(self):
        return f"<{type(self).__name__} ({getLevelName(self.level)})>"


class StreamHandler(Handler):
    """The standard error is not shown. The text is made all the same, as a tensor's text takes memory."""

    terminator = "\n"

    def __init__(self, stream=None):
        super().__init__()
        self.stream = sys.stderr if stream is None else stream

    def emit(self, record):
        text = self.format(record)
        if self.stream is not sys.stderr:
            self.stream.write(text + self.terminator)

    def flush(self):
        if hasattr(self.stream, "flush"):
            self.stream.flush()

    def setStream(self, stream):
        if stream is self.stream:
            return None
        before, self.stream = self.stream, stream
        return before


class FileHandler(StreamHandler):
    """its file exists within the run"""

    def __init__(self, filename, mode="a", encoding=None, delay=False, errors=None):
        import os

        super().__init__()
        self.baseFilename, self.mode, self.encoding, self.delay = os.path.abspath(filename), mode, encoding, delay
        self.stream = None if delay else self._open()

    def _open(self):
        return _files.open(self.baseFilename, self.mode)

    def emit(self, record):
        if self.stream is None:
            self.stream = self._open()
        super().emit(record)

    def flush(self):
        if self.stream is not None:
            super().flush()

    def close(self):
        if self.stream is not None:
            self.stream.close()
            self.stream = None


class NullHandler(Handler):
    def handle(self, record):
        pass

    def emit(self, record):
        pass


class Logger(Filterer):
    def __init__(self, name="root", level=NOTSET):
        super().__init__()
        self.name, self.level, self.handlers, self.propagate = name, number_of_level(level), [], True
        self.disabled = False

    @property
    def parent(self):
        if self is _root:
            return None
        name = self.name.rpartition(".")[0]
        while name:
            if name in _loggers:
                return _loggers[name]
            name = name.rpartition(".")[0]
        return _root

    def isEnabledFor(self, level):
        return not self.disabled and level > _manager.disable and level >= self.getEffectiveLevel()

    def getEffectiveLevel(self):
        logger = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def setLevel(self, level):
        self.level = number_of_level(level)

    def log(self, level, msg, *args, **kwargs):
        if not isinstance(level, int):
            raise TypeError("level must be an integer")
        if self.isEnabledFor(level):
            self._log(level, msg, args, **kwargs)

    def debug(self, msg, *args, **kwargs):
        if self.isEnabledFor(DEBUG):
            self._log(DEBUG, msg, args, **kwargs)

    def info(self, msg, *args, **kwargs):
        if self.isEnabledFor(INFO):
            self._log(INFO, msg, args, **kwargs)

    def warning(self, msg, *args, **kwargs):
        if self.isEnabledFor(WARNING):
            self._log(WARNING, msg, args, **kwargs)

    def error(self, msg, *args, **kwargs):
        if self.isEnabledFor(ERROR):
            self._log(ERROR, msg, args, **kwargs)

    def critical(self, msg, *args, **kwargs):
        if self.isEnabledFor(CRITICAL):
            self._log(CRITICAL, msg, args, **kwargs)

    def exception(self, msg, *args, exc_info=True, **kwargs):
        if self.isEnabledFor(ERROR):
            self._log(ERROR, msg, args, exc_info=exc_info, **kwargs)

    warn, fatal = warning, critical

    def findCaller(self, stack_info=False, stacklevel=1):
        """file, line and function of whoever logs: the first frame that is not of this package"""
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "logging":
            frame = frame.f_back
        while frame is not None and stacklevel > 1:
            frame, stacklevel = frame.f_back, stacklevel - 1
        if frame is None:
            return "(unknown file)", 0, "(unknown function)", None
        return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, None

    def makeRecord(self, name, level, fn, lno, msg, args, exc_info, func=None, extra=None, sinfo=None):
        record = _record_class[0](name, level, fn, lno, msg, args, exc_info, func, sinfo)
        for key in extra or ():
            if key in ("message", "asctime") or key in record.__dict__:
                raise KeyError(f"Attempt to overwrite {key!r} in LogRecord")
            record.__dict__[key] = extra[key]
        return record

    def _log(self, level, msg, args, exc_info=None, extra=None, stack_info=False, stacklevel=1):
        fn, lno, func, sinfo = self.findCaller(stack_info, stacklevel)
        if exc_info:
            if isinstance(exc_info, BaseException):
                exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
            elif not isinstance(exc_info, tuple):
                exc_info = sys.exc_info()
        self.handle(self.makeRecord(self.name, level, fn, lno, msg, args, exc_info, func, extra, sinfo))

    def handle(self, record):
        if not self.disabled and self.filter(record):
            self.callHandlers(record)

    def callHandlers(self, record):
        logger, found = self, False
        while logger is not None:
            for handler in logger.handlers:
                found = True
                if record.levelno >= handler.level:
                    handler.handle(record)
            logger = logger.parent if logger.propagate else None
        if not found and lastResort is not None and record.levelno >= lastResort.level:
            lastResort.handle(record)

    def addHandler(self, hdlr):
        if hdlr not in self.handlers:
            self.handlers.append(hdlr)

    def removeHandler(self, hdlr):
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self):
        logger = self
        while logger is not None:
            if logger.handlers:
                return True
            logger = logger.parent if logger.propagate else None
        return False

    def getChild(self, suffix):
        return getLogger(suffix if self is _root else self.name + "." + suffix)

    def __repr__(self):
        return f"<{type(self).__name__} {self.name} ({getLevelName(self.getEffectiveLevel())})>"


class RootLogger(Logger):
    def __init__(self, level):
        super().__init__("root", level)


class LoggerAdapter:
    def __init__(self, logger, extra=None, merge_extra=False):
        self.logger, self.extra, self.merge_extra = logger, extra, merge_extra

    def process(self, msg, kwargs):
        if self.merge_extra and "extra" in kwargs:
            kwargs["extra"] = {**(self.extra or {}), **kwargs["extra"]}
        else:
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

    def exception(self, msg, *args, exc_info=True, **kwargs):
        self.log(ERROR, msg, *args, exc_info=exc_info, **kwargs)

    warn, fatal = warning, critical

    def setLevel(self, level):
        self.logger.setLevel(level)

    def getEffectiveLevel(self):
        return self.logger.getEffectiveLevel()

    def isEnabledFor(self, level):
        return self.logger.isEnabledFor(level)

    def hasHandlers(self):
        return self.logger.hasHandlers()

    @property
    def manager(self):
        return self.logger.manager

    @property
    def name(self):
        return self.logger.name

    @property
    def level(self):
        return self.logger.level


class Manager:
    def __init__(self, rootnode):
        self.loggerDict, self.root, self.disable, self.loggerClass = _loggers, rootnode, 0, None

    def getLogger(self, name):
        return getLogger(name)

    def setLoggerClass(self, klass):
        self.loggerClass = klass

    def setLogRecordFactory(self, factory):
        setLogRecordFactory(factory)


_loggers, _handlers = {}, {}
_classes, _record_class = [Logger], [LogRecord]
_root = root = RootLogger(WARNING)
_manager = Manager(_root)
Logger.root, Logger.manager = _root, _manager
lastResort = StreamHandler()
lastResort.level = WARNING
_handlerList = []  # weak references to handlers: there is nothing to flush


def getLogger(name=None):
    if not name or isinstance(name, str) and name == "root":
        return _root
    if not isinstance(name, str):
        raise TypeError("A logger name must be a string")
    if name not in _loggers:
        _loggers[name] = (_manager.loggerClass or _classes[-1])(name)
    return _loggers[name]


def basicConfig(
    *, filename=None, filemode="a", format=None, datefmt=None, style="%", level=None, stream=None, handlers=None,
    force=False, encoding=None, errors="backslashreplace",
):
    if force:
        for handler in _root.handlers:
            handler.close()
        _root.handlers.clear()
    if _root.handlers:
        return
    if handlers is None:
        if stream is not None and filename is not None:
            raise ValueError("'stream' and 'filename' should not be specified together")
        handlers = [StreamHandler(stream) if filename is None else FileHandler(filename, filemode)]
    elif stream is not None or filename is not None:
        raise ValueError("'stream' or 'filename' should not be specified together with 'handlers'")
    if style not in _STYLES:
        raise ValueError(f"Style must be one of: {','.join(_STYLES)}")
    formatter = Formatter(_STYLES[style][1] if format is None else format, datefmt, style)
    for handler in handlers:
        if handler.formatter is None:
            handler.setFormatter(formatter)
        _root.addHandler(handler)
    if level is not None:
        _root.setLevel(level)


def disable(level=CRITICAL):
    _manager.disable = number_of_level(level)


def captureWarnings(capture):
    pass


def shutdown(handlerList=()):
    pass


def getLoggerClass():
    return _classes[-1]


def setLoggerClass(klass):
    if klass is not Logger and not issubclass(klass, Logger):
        raise TypeError(f"logger not derived from logging.Logger: {klass.__name__}")
    _classes.append(klass)


def setLogRecordFactory(factory):
    _record_class[0] = factory


def getLogRecordFactory():
    return _record_class[0]


def makeLogRecord(dict):
    record = _record_class[0](None, None, "", 0, "", (), None, None)
    record.__dict__.update(dict)
    return record


def getHandlerByName(name):
    return _handlers.get(name)


def getHandlerNames():
    return frozenset(_handlers)


def _plain():
    """a message of the root shows, where nobody has said how"""
    if not _root.handlers:
        basicConfig()


def debug(msg, *args, **kwargs):
    _plain()
    _root.debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    _plain()
    _root.info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    _plain()
    _root.warning(msg, *args, **kwargs)


def error(msg, *args, **kwargs):
    _plain()
    _root.error(msg, *args, **kwargs)


def critical(msg, *args, **kwargs):
    _plain()
    _root.critical(msg, *args, **kwargs)


def exception(msg, *args, exc_info=True, **kwargs):
    _plain()
    _root.exception(msg, *args, exc_info=exc_info, **kwargs)


def log(level, msg, *args, **kwargs):
    _plain()
    _root.log(level, msg, *args, **kwargs)


warn, fatal = warning, critical
