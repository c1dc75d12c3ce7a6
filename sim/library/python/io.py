from _files import File, Saved, open


class StringIO(File):
    def __init__(self, initial_value="", newline="\n"):
        super().__init__(None, "w+", [initial_value] if initial_value else None)


class BytesIO(File):
    def __init__(self, initial_bytes=None):
        super().__init__(None, "w+b")
        if isinstance(initial_bytes, Saved):
            self.write(initial_bytes)
        elif initial_bytes is not None:
            self._content.append(bytes(initial_bytes))

    def getbuffer(self):
        return self.getvalue()


IOBase = RawIOBase = BufferedIOBase = TextIOBase = File
TextIOWrapper = FileIO = BufferedReader = BufferedWriter = BufferedRandom = File
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
DEFAULT_BUFFER_SIZE = 8192


class UnsupportedOperation(OSError, ValueError):
    pass
