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


Error = OSError


def copymode(src, dst, *, follow_symlinks=True):
    pass


copystat = copymode


def copyfileobj(fsrc, fdst, length=0):
    fdst.write(fsrc.read())


def ignore_patterns(*patterns):
    from fnmatch import filter

    return lambda path, names: {name for pattern in patterns for name in filter(names, pattern)}


def copytree(
    src, dst, symlinks=False, ignore=None, copy_function=copyfile, ignore_dangling_symlinks=False, dirs_exist_ok=False,
):
    import os

    os.makedirs(dst, exist_ok=dirs_exist_ok)
    names = os.listdir(src)
    left_out = set() if ignore is None else ignore(src, names)
    for name in names:
        here, there = os.path.join(src, name), os.path.join(dst, name)
        if name in left_out:
            continue
        if os.path.isdir(here):
            copytree(here, there, symlinks, ignore, copy_function, ignore_dangling_symlinks, dirs_exist_ok)
        else:
            copy_function(here, there)
    return dst
