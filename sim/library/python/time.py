_now = [0.0]


def time():
    _now[0] += 0.001
    return _now[0]


perf_counter = monotonic = process_time = time


def time_ns():
    return int(time() * 1000000000)


perf_counter_ns = monotonic_ns = time_ns


def sleep(seconds):
    _now[0] += seconds


def strftime(format, t=None):
    return format


def localtime(secs=None):
    return (2000, 1, 1, 0, 0, 0, 5, 1, 0)


gmtime = localtime


def mktime(t):
    return 946684800.0


def ctime(secs=None):
    return "Sat Jan  1 00:00:00 2000"
