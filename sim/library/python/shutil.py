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
