from matplotlib._nothing import __getattr__

__version__ = "3.10.0"
rcParams = {}


def use(backend, **options):
    pass


def get_backend():
    return "agg"
