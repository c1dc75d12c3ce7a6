import os
import shutil
from datetime import datetime, timezone
from fsspec.spec import AbstractFileSystem
from fsspec.utils import stringify_path


class LocalFileSystem(AbstractFileSystem):
    """the files that a program sees here, those that it wrote itself among them"""

    protocol, root_marker, local_file = ("file", "local"), "/", True

    def __init__(self, auto_mkdir=False, **kwargs):
        super().__init__(**kwargs)
        self.auto_mkdir = auto_mkdir

    @classmethod
    def _strip_protocol(cls, path):
        path = stringify_path(path)
        for start in ("file://", "local://"):
            path = path.removeprefix(start)
        return os.path.abspath(os.path.expanduser(path))

    def exists(self, path, **kwargs):
        return os.path.exists(self._strip_protocol(path))

    def isfile(self, path):
        return os.path.isfile(self._strip_protocol(path))

    def isdir(self, path):
        return os.path.isdir(self._strip_protocol(path))

    def makedirs(self, path, exist_ok=False):
        os.makedirs(self._strip_protocol(path), exist_ok=exist_ok)

    def mkdir(self, path, create_parents=True, **kwargs):
        self.makedirs(path, exist_ok=False)

    def ls(self, path, detail=False, **kwargs):
        path = self._strip_protocol(path)
        names = [os.path.join(path, name) for name in os.listdir(path)]
        if not detail:
            return names
        return [{"name": name, "type": "directory" if os.path.isdir(name) else "file"} for name in names]

    def listdir(self, path, detail=True, **kwargs):
        return self.ls(path, detail=detail)

    def open(self, path, mode="rb", **kwargs):
        return open(self._strip_protocol(path), mode)

    def rm_file(self, path):
        os.remove(self._strip_protocol(path))

    def rm(self, path, recursive=False, maxdepth=None):
        path = self._strip_protocol(path)
        if recursive and os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)

    def size(self, path):
        return os.path.getsize(self._strip_protocol(path))

    def modified(self, path):
        return datetime.fromtimestamp(os.path.getmtime(self._strip_protocol(path)), tz=timezone.utc)

    def touch(self, path, truncate=True, **kwargs):
        open(self._strip_protocol(path), "wb" if truncate else "ab").close()

    def cat_file(self, path, start=None, end=None, **kwargs):
        with self.open(path) as file:
            return file.read()[start:end]

    def cp_file(self, path1, path2, **kwargs):
        shutil.copyfile(self._strip_protocol(path1), self._strip_protocol(path2))

    copy = cp = cp_file

    def mv(self, path1, path2, **kwargs):
        shutil.move(self._strip_protocol(path1), self._strip_protocol(path2))

    move = rename = mv
