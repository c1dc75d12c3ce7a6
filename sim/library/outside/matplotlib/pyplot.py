from matplotlib import rcParams
from matplotlib._nothing import __getattr__, axes_of, nothing


def subplots(nrows=1, ncols=1, *, squeeze=True, **options):
    return nothing, axes_of(nrows, ncols, squeeze)


def get_fignums():
    return []
