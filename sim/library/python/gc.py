import _tidemark

collect = _tidemark.collect


def enable():
    pass


def disable():
    pass


def isenabled():
    return False


def freeze():
    pass
