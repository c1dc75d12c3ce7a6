from logging import FileHandler, Handler


class BaseRotatingHandler(FileHandler):
    """a run's files are short: none of them is put aside"""

    def __init__(self, filename, mode="a", encoding=None, delay=False, errors=None):
        super().__init__(filename, mode, encoding, delay, errors)

    def shouldRollover(self, record):
        return False


class RotatingFileHandler(BaseRotatingHandler):
    def __init__(self, filename, mode="a", maxBytes=0, backupCount=0, encoding=None, delay=False, errors=None):
        super().__init__(filename, "a" if maxBytes > 0 else mode, encoding, delay, errors)
        self.maxBytes, self.backupCount = maxBytes, backupCount


class TimedRotatingFileHandler(BaseRotatingHandler):
    def __init__(self, filename, when="h", interval=1, backupCount=0, encoding=None, delay=False,
                 utc=False, atTime=None, errors=None):
        super().__init__(filename, "a", encoding, delay, errors)
        self.when, self.interval, self.backupCount, self.utc = when.upper(), interval, backupCount, utc


class WatchedFileHandler(FileHandler):
    pass


class MemoryHandler(Handler):
    """keeps records, and hands them over when one is grave enough or there are too many"""

    def __init__(self, capacity, flushLevel=40, target=None, flushOnClose=True):
        super().__init__()
        self.capacity, self.flushLevel, self.target, self.buffer = capacity, flushLevel, target, []

    def emit(self, record):
        self.buffer.append(record)
        if len(self.buffer) >= self.capacity or record.levelno >= self.flushLevel:
            self.flush()

    def setTarget(self, target):
        self.target = target

    def flush(self):
        if self.target is not None:
            for record in self.buffer:
                self.target.handle(record)
            self.buffer.clear()


class QueueHandler(Handler):
    def __init__(self, queue):
        super().__init__()
        self.queue = queue

    def emit(self, record):
        self.queue.put_nowait(record)
