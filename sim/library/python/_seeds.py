import _tidemark


def known(seed):
    """a seed; 0 for a number that is not known, which is told"""
    if _tidemark.is_known(seed):
        return seed
    _tidemark.note("a seed is not known: random numbers of the host are those of seed 0", True)
    return 0
