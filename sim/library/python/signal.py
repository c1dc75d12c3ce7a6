from enum import IntEnum


class Signals(IntEnum):
    SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE = range(1, 9)
    SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT = range(9, 17)
    SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGXCPU = range(17, 25)
    SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS = range(25, 32)


class Handlers(IntEnum):
    SIG_DFL, SIG_IGN = 0, 1


SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE = list(Signals)[:8]
SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT = list(Signals)[8:16]
SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGXCPU = list(Signals)[16:24]
SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS = list(Signals)[24:]
SIG_DFL, SIG_IGN = Handlers.SIG_DFL, Handlers.SIG_IGN


def default_int_handler(signalnum, frame):
    raise KeyboardInterrupt


# No signal comes here: a handler is kept for who asks.
_handlers = {SIGINT: default_int_handler}


def signal(signalnum, handler):
    before = getsignal(signalnum)
    _handlers[signalnum] = handler
    return before


def getsignal(signalnum):
    return _handlers.get(signalnum, SIG_DFL)


def valid_signals():
    return set(Signals)


def alarm(seconds):
    return 0
