#include <array>

#include "sim/lang/imports/library_code.h"

/// Modules that scripts import for the edges of their work: figures, messages, names of the
/// machine.
namespace tidemark::lang {

namespace {

constexpr std::string_view kStatistics = R"py(
import math


class StatisticsError(ValueError):
    pass


def _numbers(data):
    numbers = list(data)
    if not numbers:
        raise StatisticsError("no data points")
    return numbers


def mean(data):
    numbers = _numbers(data)
    total = math.fsum(numbers) if any([isinstance(x, float) for x in numbers]) else sum(numbers)
    out = total / len(numbers)
    return int(out) if isinstance(total, int) and total % len(numbers) == 0 else out


def fmean(data, weights=None):
    numbers = _numbers(data)
    if weights is None:
        return math.fsum(numbers) / len(numbers)
    return math.fsum([w * x for w, x in zip(weights, numbers)]) / math.fsum(weights)


def median(data):
    numbers = sorted(_numbers(data))
    half = len(numbers) // 2
    return numbers[half] if len(numbers) % 2 else (numbers[half - 1] + numbers[half]) / 2


def mode(data):
    numbers = _numbers(data)
    return max(dict.fromkeys(numbers), key=numbers.count)


def pvariance(data, mu=None):
    numbers = _numbers(data)
    middle = fmean(numbers) if mu is None else mu
    return math.fsum([(x - middle) ** 2 for x in numbers]) / len(numbers)


def variance(data, xbar=None):
    numbers = list(data)
    if len(numbers) < 2:
        raise StatisticsError("variance requires at least two data points")
    return pvariance(numbers, xbar) * len(numbers) / (len(numbers) - 1)


def pstdev(data, mu=None):
    return math.sqrt(pvariance(data, mu))


def stdev(data, xbar=None):
    return math.sqrt(variance(data, xbar))
)py";

constexpr std::string_view kTraceback = R"py(
def print_exc(limit=None, file=None, chain=True):
    pass


def print_exception(exc, *args, **options):
    pass


def print_stack(*args, **options):
    pass


def format_exc(limit=None, chain=True):
    return ""


def format_exception(exc, *args, **options):
    return [f"{type(exc).__name__}: {exc}\n"]


def format_exception_only(exc, *args):
    return [f"{type(exc).__name__}: {exc}\n"]


def extract_stack(*args):
    return []


def format_stack(*args):
    return []
)py";

constexpr std::string_view kTextwrap = R"py(
def indent(text, prefix, predicate=None):
    return "".join([prefix + line if line.strip() else line for line in text.splitlines(True)])


def dedent(text):
    lines = text.split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([line[margin:] if line.strip() else "" for line in lines])


def wrap(text, width=70, **options):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    return lines + [line] if line else lines


def fill(text, width=70, **options):
    return "\n".join(wrap(text, width))


def shorten(text, width, placeholder=" [...]", **options):
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    return (wrap(text, width - len(placeholder)) or [""])[0] + placeholder
)py";

constexpr std::string_view kPprint = R"py(
def pformat(object, *args, **options):
    return repr(object)


def pprint(object, *args, **options):
    print(repr(object))


pp = pprint


class PrettyPrinter:
    def __init__(self, *args, **options):
        pass

    def pprint(self, object):
        pprint(object)

    def pformat(self, object):
        return pformat(object)
)py";

constexpr std::string_view kPlatform = R"py(
def system():
    return "Linux"


def node():
    return "localhost"


def release():
    return "6.1.0"


def machine():
    return "x86_64"


processor = machine


def platform(aliased=False, terse=False):
    return "Linux-6.1.0-x86_64-with-glibc2.36"


def python_version():
    return "3.11.0"


def python_implementation():
    return "CPython"


def version():
    return "#1 SMP"
)py";

constexpr std::string_view kThreading = R"py(
import _tidemark

Thread, Timer, Condition, Barrier = [_tidemark.later("threading." + n) for n in ("Thread", "Timer", "Condition", "Barrier")]


class Lock:
    def acquire(self, blocking=True, timeout=-1):
        return True

    def release(self):
        pass

    def locked(self):
        return False

    def __enter__(self):
        return True

    def __exit__(self, *error):
        pass


RLock = Semaphore = BoundedSemaphore = Lock


class Event:
    def __init__(self):
        self._flag = False

    def set(self):
        self._flag = True

    def clear(self):
        self._flag = False

    def is_set(self):
        return self._flag

    def wait(self, timeout=None):
        return self._flag


class local:
    pass


class _Main:
    name, ident, daemon = "MainThread", 1, False


def current_thread():
    return _Main()


main_thread = current_thread


def get_ident():
    return 1


def active_count():
    return 1
)py";

constexpr std::string_view kQueue = R"py(
import heapq


class Empty(Exception):
    pass


class Full(Exception):
    pass


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize, self.queue = maxsize, []

    def put(self, item, block=True, timeout=None):
        if self.full():
            raise Full
        self.queue.append(item)

    def get(self, block=True, timeout=None):
        if not self.queue:
            raise Empty
        return self.queue.pop(0)

    def put_nowait(self, item):
        self.put(item, False)

    def get_nowait(self):
        return self.get(False)

    def qsize(self):
        return len(self.queue)

    def empty(self):
        return not self.queue

    def full(self):
        return 0 < self.maxsize <= len(self.queue)

    def task_done(self):
        pass

    def join(self):
        pass


SimpleQueue = Queue


class LifoQueue(Queue):
    def get(self, block=True, timeout=None):
        if not self.queue:
            raise Empty
        return self.queue.pop()


class PriorityQueue(Queue):
    def put(self, item, block=True, timeout=None):
        heapq.heappush(self.queue, item)

    def get(self, block=True, timeout=None):
        if not self.queue:
            raise Empty
        return heapq.heappop(self.queue)
)py";

constexpr std::string_view kTimeit = R"py(
from time import perf_counter as default_timer
)py";

constexpr std::string_view kSocket = R"py(
import _tidemark

socket, create_connection = [_tidemark.later("socket." + n) for n in ("socket", "create_connection")]
AF_INET, SOCK_STREAM = 2, 1


def gethostname():
    return "localhost"


def gethostbyname(hostname):
    return "127.0.0.1"
)py";

constexpr std::string_view kSignal = R"py(
SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM = 1, 2, 10, 12, 14, 15
SIG_DFL, SIG_IGN = 0, 1


def signal(signalnum, handler):
    return SIG_DFL


def getsignal(signalnum):
    return SIG_DFL


def alarm(seconds):
    return 0
)py";

constexpr std::string_view kAtexit = R"py(
def register(func, *args, **kwargs):
    return func


def unregister(func):
    pass
)py";

constexpr std::string_view kGetpass = R"py(
def getuser():
    return "root"
)py";

constexpr std::string_view kCsv = R"py(
import _tidemark

reader, DictReader = [_tidemark.later("csv." + n) for n in ("reader", "DictReader")]
QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = range(4)


class _Writer:
    def __init__(self, csvfile, delimiter, lineterminator):
        self._file, self._delimiter, self._end = csvfile, delimiter, lineterminator

    def writerow(self, row):
        cells = ["" if cell is None else str(cell) for cell in row]
        special = (self._delimiter, '"', "\n")
        quoted = ['"' + c.replace('"', '""') + '"' if any([s in c for s in special]) else c for c in cells]
        return self._file.write(self._delimiter.join(quoted) + self._end)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


def writer(csvfile, dialect="excel", *, delimiter=",", lineterminator="\r\n", **options):
    return _Writer(csvfile, delimiter, lineterminator)


class DictWriter:
    def __init__(self, f, fieldnames, restval="", extrasaction="raise", dialect="excel", *args, **options):
        self.fieldnames, self.restval, self.extrasaction = fieldnames, restval, extrasaction
        self.writer = writer(f, dialect, **options)

    def writeheader(self):
        return self.writer.writerow(self.fieldnames)

    def writerow(self, rowdict):
        if self.extrasaction == "raise" and any([k not in self.fieldnames for k in rowdict]):
            raise ValueError("dict contains fields not in fieldnames")
        return self.writer.writerow([rowdict.get(k, self.restval) for k in self.fieldnames])

    def writerows(self, rowdicts):
        for row in rowdicts:
            self.writerow(row)
)py";

constexpr std::array kFiles = std::to_array<LibraryFile>({
    {"atexit", kAtexit},
    {"csv", kCsv},
    {"getpass", kGetpass},
    {"platform", kPlatform},
    {"pprint", kPprint},
    {"queue", kQueue},
    {"signal", kSignal},
    {"socket", kSocket},
    {"statistics", kStatistics},
    {"textwrap", kTextwrap},
    {"threading", kThreading},
    {"timeit", kTimeit},
    {"traceback", kTraceback},
});

}  // namespace

std::span<const LibraryFile> library_around_files() { return kFiles; }

}  // namespace tidemark::lang
