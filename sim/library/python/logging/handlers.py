from logging import FileHandler


class RotatingFileHandler(FileHandler):
    pass


class TimedRotatingFileHandler(FileHandler):
    pass
