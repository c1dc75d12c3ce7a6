from time import perf_counter as default_timer


def timeit(stmt, setup=None, timer=default_timer, number=1000000, globals=None):
    if not callable(stmt):
        raise NotImplementedError("timeit of a text is not modelled: give it a function")
    if setup is not None:
        setup()
    begin = timer()
    for _ in range(number):
        stmt()
    return timer() - begin


def repeat(stmt, setup=None, timer=default_timer, repeat=5, number=1000000, globals=None):
    return [timeit(stmt, setup, timer, number, globals) for _ in range(repeat)]


class Timer:
    def __init__(self, stmt="pass", setup=None, timer=default_timer, globals=None):
        self._stmt, self._setup, self._timer = stmt, setup, timer

    def timeit(self, number=1000000):
        return timeit(self._stmt, self._setup, self._timer, number)

    def repeat(self, repeat=5, number=1000000):
        return [self.timeit(number) for _ in range(repeat)]

    def autorange(self, callback=None):
        return 1, self.timeit(1)
