"""What draws nothing: pictures are made on the host, and nothing on the device hangs on them."""


class Nothing:
    """any object of a picture: it takes every call and has every attribute"""

    def __call__(self, *args, **kwargs):
        return self

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __iter__(self):
        return iter((self, self))

    def __len__(self):
        return 2


nothing = Nothing()


def __getattr__(name):
    """of modules whose names all stand for nothing"""
    if name.startswith("__"):
        raise AttributeError(name)
    return nothing


class Grid:
    """the axes of a figure, in rows and columns"""

    def __init__(self, rows):
        self._rows = rows
        self.shape = (len(rows), len(rows[0]))
        self.size = len(rows) * len(rows[0])

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        return (Row(each) for each in self._rows)

    def __getitem__(self, key):
        if isinstance(key, tuple):
            row, column = key
            chosen = self._rows[row]
            return [each[column] for each in chosen] if isinstance(row, slice) else chosen[column]
        return Row(self._rows[key])

    def flatten(self):
        return Row([each for row in self._rows for each in row])

    ravel = flatten

    @property
    def flat(self):
        return iter(self.flatten())


class Row(list):
    @property
    def shape(self):
        return (len(self),)

    @property
    def flat(self):
        return iter(self)

    def flatten(self):
        return self

    ravel = flatten


def axes_of(rows, columns, squeeze=True):
    grid = [[nothing] * columns for _ in range(rows)]
    if not squeeze or (rows > 1 and columns > 1):
        return Grid(grid)
    if rows == 1 and columns == 1:
        return nothing
    return Row([each for row in grid for each in row])
