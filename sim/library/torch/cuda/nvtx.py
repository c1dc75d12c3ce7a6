def range_push(msg):
    return 0


def range_pop():
    return 0


def range_start(msg):
    return 0


def range_end(range_id):
    pass


def mark(msg):
    pass


class range:
    def __init__(self, msg, *args, **kwargs):
        self.msg = msg

    def __enter__(self):
        pass

    def __exit__(self, *error):
        return False

    def __call__(self, func):
        return func
