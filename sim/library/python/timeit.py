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
