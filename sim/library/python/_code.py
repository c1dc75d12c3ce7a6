class Code:
    def __init__(self, source, filename, mode):
        self._text, self.co_filename, self._mode = source, str(filename), mode
        self.co_name = "<module>"
