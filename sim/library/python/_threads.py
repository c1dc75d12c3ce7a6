"""Threads of a program that has one: each runs to its end as it starts, or until it would wait.

CPython hands over where a thread waits. A thread that waits for what only others bring is left there, and starts anew
when the rest of the program waits in its turn.
"""
import _tidemark

_running = []
_waiting = []
_LIMIT = 10000


class Waits(BaseException):
    """ends a thread that would wait for others"""


def is_inside():
    return bool(_running)


def current():
    return _running[-1] if _running else None


def wait_here():
    """the running thread waits for others; without one, all that waited go on: whether there were any"""
    if _running:
        raise Waits
    started = _waiting[:]
    _waiting.clear()
    for thread in started:
        run(thread)
    return bool(started)


def count_wait():
    """one more pause of the running thread: a watcher that only sleeps and looks would never end"""
    if _running:
        thread = _running[-1]
        thread._pauses += 1
        if thread._pauses > _LIMIT:
            raise Waits


def run(thread):
    _tidemark.note("a thread runs as it starts, to its end or until it would wait: on a GPU its work may lie between"
                   " that of others")
    _running.append(thread)
    thread._pauses = 0
    try:
        thread.run()
        thread._is_done = True
    except Waits:
        _waiting.append(thread)
    except SystemExit:
        thread._is_done = True
    except Exception as error:
        import sys
        import traceback

        thread._is_done = True
        print(f"Exception in thread {thread.name}:", file=sys.stderr)
        traceback.print_exception(error)
    finally:
        _running.pop()
