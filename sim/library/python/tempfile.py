import _files

_count = [0]


def _name(suffix, prefix):
    _count[0] += 1
    return f"/tmp/{prefix or 'tmp'}{_count[0]}{suffix or ''}"


def gettempdir():
    return "/tmp"


def mkdtemp(suffix=None, prefix=None, dir=None):
    name = _name(suffix, prefix)
    _files.make_folder(name)
    return name


class TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None, **options):
        self.name = mkdtemp(suffix, prefix)

    def cleanup(self):
        _files.drop_folder(self.name)

    def __enter__(self):
        return self.name

    def __exit__(self, *error):
        self.cleanup()


def NamedTemporaryFile(mode="w+b", *args, suffix=None, prefix=None, dir=None, delete=True, **options):
    return _files.File(_name(suffix, prefix), mode)


def TemporaryFile(mode="w+b", **options):
    return _files.File(None, mode)


TMP_MAX, tempdir = 10000, None


def gettempprefix():
    return "tmp"


def mktemp(suffix="", prefix="tmp", dir=None):
    return _name(suffix, prefix)


def SpooledTemporaryFile(max_size=0, mode="w+b", **options):
    return _files.File(None, mode)
