import _files
import re
from fnmatch import fnmatch


def glob(pathname, *, recursive=False, **options):
    folder, name = "/".join(pathname.split("/")[:-1]), pathname.split("/")[-1]
    found = [each for each in _files.names_in(folder or ".") if fnmatch(each, name)]
    return [folder + "/" + each if "/" in pathname else each for each in found]


def iglob(pathname, **options):
    return iter(glob(pathname))


def escape(pathname):
    return re.sub(r"([*?[])", r"[\1]", pathname)
