__version__ = "4.70.1"


class tqdm:
    """a bar that is not drawn: it counts, and hands on what it goes over"""

    monitor_interval = 10
    monitor = None
    _lock = None

    def __init__(self, iterable=None, desc=None, total=None, leave=True, file=None, disable=False, **options):
        if total is None and hasattr(iterable, "__len__"):
            total = len(iterable)
        self.iterable, self.desc, self.total, self.leave, self.disable = iterable, desc, total, leave, disable
        self.n = options.get("initial", 0)
        self.pos, self.postfix, self.fp, self.format_dict = 0, None, file, {}

    def __iter__(self):
        iterable = self.iterable
        for obj in iterable:
            yield obj

    def __len__(self):
        return self.total if self.iterable is None else len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
        return False

    def update(self, n=1):
        self.n += n

    def _nothing(self, *args, **kwargs):
        pass

    set_postfix = set_postfix_str = set_description = set_description_str = refresh = close = clear = _nothing
    unpause = display = moveto = _nothing

    def reset(self, total=None):
        self.n = 0
        if total is not None:
            self.total = total

    @classmethod
    def set_lock(cls, lock):
        cls._lock = lock

    @classmethod
    def get_lock(cls):
        import threading

        if cls._lock is None:
            cls._lock = threading.RLock()
        return cls._lock

    @classmethod
    def write(cls, s, file=None, end="\n", nolock=False):
        print(s, end=end)

    @classmethod
    def pandas(cls, *args, **kwargs):
        pass

    @staticmethod
    def format_sizeof(num, suffix="", divisor=1000):
        return f"{num}{suffix}"


def trange(*args, **kwargs):
    return tqdm(range(*args), **kwargs)


tqdm_notebook, tnrange = tqdm, trange


class TqdmWarning(Warning):
    pass


class TqdmExperimentalWarning(TqdmWarning):
    pass
