class tqdm:
    def __init__(self, iterable=None, desc=None, total=None, leave=True, disable=False, **kwargs):
        self.iterable, self.total, self.n = iterable, total, 0

    def __iter__(self):
        iterable = self.iterable
        for obj in iterable:
            yield obj

    def __len__(self):
        return self.total if self.iterable is None else len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def update(self, n=1):
        self.n += n

    def set_postfix(self, ordered_dict=None, refresh=True, **kwargs):
        pass

    def set_postfix_str(self, s="", refresh=True):
        pass

    def set_description(self, desc=None, refresh=True):
        pass

    def refresh(self):
        pass

    def close(self):
        pass

    @staticmethod
    def write(s, file=None, end="\n"):
        print(s, end=end)


def trange(*args, **kwargs):
    return tqdm(range(*args), **kwargs)
