import _tidemark

argv = _tidemark.arguments() or ["train.py"]
version_info = (3, 11, 0, "final", 0)
version = "3.11.0"
platform = "linux"
maxsize = 9223372036854775807


byteorder = "little"
executable = "/usr/bin/python3"
path = _tidemark.search_path()
modules = _tidemark.modules()
flags = None


def exit(status=None):
    raise SystemExit(status)


def getrecursionlimit():
    return 1000


def setrecursionlimit(limit):
    pass


def exc_info():
    return None, None, None


class float_info:
    max, min, epsilon, dig = 1.7976931348623157e308, 2.2250738585072014e-308, 2.220446049250313e-16, 15


class _Stream:
    encoding = "utf-8"

    def write(self, text):
        print(text, end="")
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False

    def reconfigure(self, **options):
        pass


stdin, stdout, stderr = _Stream(), _Stream(), _Stream()
