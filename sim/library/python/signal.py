SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM = 1, 2, 10, 12, 14, 15
SIG_DFL, SIG_IGN = 0, 1


def signal(signalnum, handler):
    return SIG_DFL


def getsignal(signalnum):
    return SIG_DFL


def alarm(seconds):
    return 0
