"""settings of the compiler: programs set and read them, and nothing comes of it"""


class patch:
    """settings for a `with` or a function"""

    def __init__(self, arg1=None, arg2=None, **settings):
        pass

    def __call__(self, fn):
        return fn

    def __enter__(self):
        pass

    def __exit__(self, *error):
        return False
