from typing import NamedTuple

import _threads

_now = [0.0]
timezone = altzone = daylight = 0
tzname = ("UTC", "UTC")
CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID = 0, 1, 2, 3
CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME = 4, 7


class struct_time(NamedTuple):
    tm_year: int
    tm_mon: int
    tm_mday: int
    tm_hour: int
    tm_min: int
    tm_sec: int
    tm_wday: int
    tm_yday: int
    tm_isdst: int


def time():
    _now[0] += 0.001
    return _now[0]


perf_counter = monotonic = process_time = thread_time = time


def time_ns():
    return int(time() * 1000000000)


perf_counter_ns = monotonic_ns = process_time_ns = time_ns


def sleep(seconds):
    _now[0] += seconds
    _threads.count_wait()


def _moment(secs):
    from datetime import datetime

    return datetime.now() if secs is None else datetime.fromtimestamp(secs)


def gmtime(secs=None):
    return _moment(secs).timetuple()


localtime = gmtime


def strftime(format, t=None):
    from datetime import datetime

    return (datetime.now() if t is None else datetime(*t[:6])).strftime(format)


def strptime(string, format="%a %b %d %H:%M:%S %Y"):
    from datetime import datetime

    return datetime.strptime(string, format).timetuple()


def mktime(t):
    from datetime import datetime

    return datetime(*t[:6]).timestamp()


def asctime(t=None):
    return strftime("%a %b %e %H:%M:%S %Y", t)


def ctime(secs=None):
    return asctime(gmtime(secs))


def clock_gettime(clk_id):
    return time()


def clock_gettime_ns(clk_id):
    return time_ns()


def clock_getres(clk_id):
    return 1e-09


thread_time_ns = time_ns


def tzset():
    pass
