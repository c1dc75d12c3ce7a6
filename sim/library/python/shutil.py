import _files


def rmtree(path, ignore_errors=False, onerror=None):
    _files.drop_folder(path)


def copyfile(src, dst):
    _files.keep(dst, _files.content_of(src))
    return dst


copy = copy2 = copyfile


def move(src, dst):
    _files.move(src, dst)
    return dst


class SameFileError(OSError):
    pass


def which(cmd, mode=1, path=None):
    return None


def disk_usage(path):
    import _tidemark

    _tidemark.refuse("shutil.disk_usage() is not modelled")


def get_terminal_size(fallback=(80, 24)):
    import os

    return os.terminal_size(fallback)
