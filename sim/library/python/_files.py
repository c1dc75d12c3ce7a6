import _tidemark

# Of the system itself programs see what kind of file systems there are: none of its own.
files = {"/proc/mounts": ["/dev/root / ext4 rw 0 0\n"]}
working_folder = _tidemark.working_folder()
folders = {"/": True, ".": True, "": True, "/tmp": True}


def text_of(path):
    return path if isinstance(path, str) else path.__fspath__()


def normal(path):
    return _tidemark.normal_path(path if isinstance(path, str) else path.__fspath__())


def absolute(path):
    return normal(path if text_of(path).startswith("/") else working_folder + "/" + text_of(path))


def clean(path):
    """the name under which a file is kept: within the working folder as it is called there"""
    return _tidemark.clean_path(path if isinstance(path, str) else path.__fspath__(), working_folder)


def _is_on_host(path, ending):
    folder, _, name = clean(path).rpartition("/")
    return _tidemark.has_name(folder, name + ending)


def _is_known(name):
    """in the hub's cache: a repository that is known without a download has its files from here on"""
    if "/models--" not in name:
        return False
    from _known_hub import has

    return has(name)


def is_file(path):
    name = clean(path)
    is_made = name in files or declared_size(path) is not None
    return is_made or _is_on_host(path, "") or (_is_known(name) and name in files)


def is_folder(path):
    name = clean(path)
    is_made = name in folders or _declared_names(name) is not None
    return is_made or _tidemark.has_folder(name) or (_is_known(name) and name in folders)


_declared_folders = []  # (path, pictures, classes, [height, width]), once asked for


def _pictures():
    if not _declared_folders:
        import _declared

        said = [(clean(p), s["images"], s.get("classes", 0), s["size"]) for p, s in _declared.folders().items()]
        _declared_folders.append(said)
        if said:
            _tidemark.note("folders of pictures are declared: their counts and sizes are known, their values are not")
    return _declared_folders[0]


def _declared_names(name):
    """what stands in a declared folder, or in one of its classes; None: it is another"""
    for folder, count, classes, _ in _pictures():
        if classes and name == folder:
            return [f"class{i:05d}" for i in range(classes)]
        if name == folder:
            return [f"{i:08d}.jpg" for i in range(count)]
        if classes and name.startswith(folder + "/class") and name[len(folder) + 6:].isdigit():
            first = int(name[len(folder) + 6:])
            return [f"{i:08d}.jpg" for i in range(first, count, classes)] if first < classes else None
    return None


def declared_size(path):
    """height and width of a declared picture; None: it is no such"""
    name = clean(path)
    for folder, count, classes, size in _pictures():
        is_within = name.startswith(folder + "/") and name.endswith(".jpg") and name[-12:-4].isdigit()
        if is_within and int(name[-12:-4]) < count:
            return size
    return None


def keep(path, content):
    files[clean(path)] = content


def _may_be_read(name):
    """what may not be read is there, and not for this program: who asks with `except OSError` goes on"""
    why = _tidemark.refusal(name)
    if why is not None:
        _tidemark.note(why)
        raise PermissionError(13, why)


def content_of(path):
    """what the program itself put there, or a text that it may see"""
    name = _tidemark.clean_path(path if isinstance(path, str) else path.__fspath__(), working_folder)
    if name not in files:
        is_plain = name.endswith(".py") and "/models--" not in name
        text = _tidemark.plain_text(name) if is_plain else _tidemark.known_text(name)
        if text is not None:
            return [text]
    if name not in files and _is_known(name) and name not in files:
        raise FileNotFoundError(2, "No such file or directory", text_of(path))
    if name not in files:
        if declared_size(path) is not None:
            return []
        _may_be_read(name)
        text = _tidemark.read_text(name)
        if text is not None:
            return [text]
        _tidemark.refuse(
            f"there is no file '{text_of(path)}' here", "a run sees the files that the program wrote itself"
        )
    return files[name]


def size_of(path):
    """bytes of a file on the host, or that the program itself wrote as text"""
    name = clean(path)
    if name in files:
        return sum([len(part.encode()) if isinstance(part, str) else len(part) for part in files[name]])
    _may_be_read(name)
    size = _tidemark.file_size(name)
    if size is None:
        raise FileNotFoundError(2, "No such file or directory", text_of(path))
    return size


def time_of(path):
    """what a run writes is newer than what it reads, and the later the newer"""
    name = clean(path)
    own = [i for i, each in enumerate(files, 1) if each == name or each.startswith(name + "/")]
    if not own and name not in folders and not is_folder(path):
        size_of(path)
    return float(own[-1]) if own else 0.0


def make_folder(path):
    parts = clean(path).split("/")
    for i in range(len(parts)):
        folders["/".join(parts[:i + 1])] = True


def _kinds_in(path):
    """what stands in a folder, and whether it is a folder; None: that is to be asked for"""
    declared = _declared_names(clean(path))
    if declared is not None:
        return {name: None for name in declared}
    start = clean(path)
    names = _tidemark.folder_kinds(start)
    start = "" if start == "." else start.rstrip("/") + "/"
    for name in [*files, *folders]:
        if name.startswith(start) and name not in ("", ".", "/") and name[len(start):len(start) + 1] not in ("", "/"):
            names[name[len(start):].split("/")[0]] = None
    return names


def names_in(path):
    declared = _declared_names(clean(path))
    return sorted(_kinds_in(path)) if declared is None else declared


class Entry:
    """what os.scandir() gives of each name"""

    def __init__(self, folder, name, is_folder=None):
        self.name, self.path, self._is_folder = name, folder + "/" + name, is_folder

    def is_dir(self, *, follow_symlinks=True):
        return is_folder(self.path) if self._is_folder is None else self._is_folder

    def is_file(self, *, follow_symlinks=True):
        return is_file(self.path) if self._is_folder is None else not self._is_folder

    def is_symlink(self):
        return False

    def __fspath__(self):
        return self.path


class Entries:
    def __init__(self, path="."):
        folder, kinds = text_of(path).rstrip("/"), _kinds_in(path)
        self._entries = iter([Entry(folder, name, kinds[name]) for name in sorted(kinds)])

    def __iter__(self):
        return self._entries

    def __next__(self):
        return next(self._entries)

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def drop(path):
    name = clean(path)
    if name not in files:
        raise FileNotFoundError(f"[Errno 2] No such file or directory: '{text_of(path)}'")
    del files[name]


def drop_folder(path):
    name = clean(path)
    for table in (files, folders):
        for other in list(table):
            if other == name or other.startswith(name + "/"):
                del table[other]


def move(src, dst):
    files[clean(dst)] = content_of(src)
    drop(src)


class Saved:
    """what torch.save() wrote, in the place of its bytes: a file takes it"""

    def __init__(self, pieces):
        self.pieces = pieces


class File:
    """text, or what torch.save() put there; `name` None: in memory"""

    closed = False
    _one_line_end = False  # "\r\n" and "\r" are read as "\n"

    def __init__(self, name=None, mode="w+", content=None):
        self.name, self.mode = name, mode
        self._content = [] if content is None else content
        self._at = 0
        if name is not None and "r" not in mode:
            self._content = files[clean(name)] if "a" in mode and is_file(name) else []
            keep(name, self._content)

    def _text(self):
        for piece in self._content:
            if not isinstance(piece, (str, bytes, bytearray)):
                _tidemark.refuse(
                    "reading a file that torch.save() wrote as bytes is not modelled", "read it with torch.load()"
                )
        if "b" in self.mode:
            return b"".join([piece.encode() if isinstance(piece, str) else bytes(piece) for piece in self._content])
        text = "".join([piece if isinstance(piece, str) else piece.decode() for piece in self._content])
        if self._one_line_end and "\r" in text:
            return text.replace("\r\n", "\n").replace("\r", "\n")
        return text

    def _rest(self):
        # Below 0: all of it was read, and nobody has asked how much that is.
        text = self._text()
        if self._at < 0:
            self._at = len(text)
        return text[self._at:]

    def write(self, text):
        if isinstance(text, Saved):
            self._content.extend(text.pieces)
            return 0
        self._content.append(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def read(self, size=-1):
        if self._at == 0 and (size is None or size < 0) and len(self._content) == 1:
            self._at = -1
            whole = self._content[0]
            is_plain = isinstance(whole, str) and "b" not in self.mode and "\r" not in whole
            return whole if is_plain else self._text()
        text = self._rest()
        text = text if size is None or size < 0 else text[:size]
        self._at += len(text)
        return text

    def readline(self):
        rest = self._rest()
        end = rest.find(b"\n" if "b" in self.mode else "\n")
        return self.read(len(rest) if end < 0 else end + 1)

    def readlines(self):
        return list(iter(self))

    def __iter__(self):
        line = self.readline()
        while line:
            yield line
            line = self.readline()

    def getvalue(self):
        if any(not isinstance(piece, (str, bytes, bytearray)) for piece in self._content):
            return Saved(list(self._content))
        return self._text()

    def seek(self, offset, whence=0):
        self._at = offset
        return offset

    def tell(self):
        self._rest()
        return self._at

    def truncate(self, size=None):
        self._content.clear()

    def flush(self):
        pass

    def fileno(self):
        return 3

    def isatty(self):
        return False

    def readable(self):
        return True

    writable = seekable = readable

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
    if "r" in mode:
        made = File(text_of(file), mode, content_of(file))
        made._one_line_end = newline is None
        return made
    if "x" in mode and is_file(file):
        raise FileExistsError(f"[Errno 17] File exists: '{text_of(file)}'")
    return File(text_of(file), mode)
