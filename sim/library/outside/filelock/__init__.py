"""locks between processes: there is one"""

__version__ = "3.20.0"


class Timeout(TimeoutError):
    pass


class BaseFileLock:
    is_locked = False

    def __init__(self, lock_file, timeout=-1, **options):
        self.lock_file, self.timeout = lock_file, timeout

    def acquire(self, *args, **options):
        return self

    def release(self, force=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class FileLock(BaseFileLock):
    pass


class SoftFileLock(BaseFileLock):
    pass
