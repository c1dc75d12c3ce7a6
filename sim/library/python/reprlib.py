import functools
import itertools


def recursive_repr(fillvalue="..."):
    def decorating(user_function):
        running = set()

        @functools.wraps(user_function)
        def wrapper(self):
            if id(self) in running:
                return fillvalue
            running.add(id(self))
            try:
                return user_function(self)
            finally:
                running.discard(id(self))

        return wrapper

    return decorating


_full_repr = repr


def _sorted(x):
    try:
        return sorted(x)
    except Exception:
        return list(x)


class Repr:
    """a repr() that leaves out what goes beyond stated lengths; repr_NAME() makes it of a type of that name"""

    fillvalue = "..."

    def __init__(self):
        self.maxlevel, self.maxtuple, self.maxlist, self.maxarray, self.maxdict = 6, 6, 6, 5, 4
        self.maxset, self.maxfrozenset, self.maxdeque = 6, 6, 6
        self.maxstring, self.maxlong, self.maxother = 30, 40, 30

    def repr(self, x):
        return self.repr1(x, self.maxlevel)

    def repr1(self, x, level):
        own = getattr(self, "repr_" + type(x).__name__.replace(" ", "_"), None)
        return self.repr_instance(x, level) if own is None else own(x, level)

    def _cut(self, text, most):
        if len(text) <= most:
            return text
        head = max(0, (most - 3) // 2)
        tail = max(0, most - 3 - head)
        return text[:head] + self.fillvalue + text[len(text) - tail:]

    def _repr_iterable(self, x, level, left, right, maxiter, trail=""):
        if level <= 0 and len(x):
            return left + self.fillvalue + right
        parts = [self.repr1(each, level - 1) for each in itertools.islice(x, maxiter)]
        if len(x) > maxiter:
            parts.append(self.fillvalue)
        return left + ", ".join(parts) + (trail if len(x) == 1 else "") + right

    def repr_tuple(self, x, level):
        return self._repr_iterable(x, level, "(", ")", self.maxtuple, ",")

    def repr_list(self, x, level):
        return self._repr_iterable(x, level, "[", "]", self.maxlist)

    def repr_array(self, x, level):
        if not x:
            return f"array('{x.typecode}')"
        return self._repr_iterable(x, level, f"array('{x.typecode}', [", "])", self.maxarray)

    def repr_set(self, x, level):
        return self._repr_iterable(_sorted(x), level, "{", "}", self.maxset) if x else "set()"

    def repr_frozenset(self, x, level):
        return self._repr_iterable(_sorted(x), level, "frozenset({", "})", self.maxfrozenset) if x else "frozenset()"

    def repr_deque(self, x, level):
        return self._repr_iterable(x, level, "deque([", "])", self.maxdeque)

    def repr_dict(self, x, level):
        if not x:
            return "{}"
        if level <= 0:
            return "{" + self.fillvalue + "}"
        parts = [
            self.repr1(key, level - 1) + ": " + self.repr1(x[key], level - 1)
            for key in itertools.islice(_sorted(x), self.maxdict)
        ]
        if len(x) > self.maxdict:
            parts.append(self.fillvalue)
        return "{" + ", ".join(parts) + "}"

    def repr_str(self, x, level):
        text = _full_repr(x[:self.maxstring])
        if len(text) <= self.maxstring and len(x) <= self.maxstring:
            return text
        head = max(0, (self.maxstring - 3) // 2)
        tail = max(0, self.maxstring - 3 - head)
        text = _full_repr(x[:head] + x[len(x) - tail:])
        return text[:head] + self.fillvalue + text[len(text) - tail:]

    def repr_int(self, x, level):
        return self._cut(_full_repr(x), self.maxlong)

    def repr_instance(self, x, level):
        try:
            text = _full_repr(x)
        except Exception:
            return f"<{x.__class__.__name__} instance at {id(x):#x}>"
        return self._cut(text, self.maxother)


aRepr = Repr()


def repr(x):
    return aRepr.repr(x)
