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


class Repr:
    """a repr() that leaves out what goes beyond stated lengths"""

    fillvalue = "..."
    maxlevel, maxdict, maxlist, maxtuple, maxset, maxfrozenset = 6, 4, 6, 6, 6, 6
    maxstring, maxlong, maxother = 30, 40, 30

    def repr(self, x):
        return self.repr1(x, self.maxlevel)

    def repr1(self, x, level):
        if type(x) in (list, tuple, set, frozenset):
            return self._items(x, level)
        if type(x) is dict:
            return self._pairs(x, level)
        return self._cut(_full_repr(x), self.maxstring if isinstance(x, str) else self.maxother)

    def _cut(self, text, most):
        if len(text) <= most:
            return text
        head = max(0, (most - 3) // 2)
        tail = max(0, most - 3 - head)
        return text[:head] + self.fillvalue + text[len(text) - tail:]

    def _items(self, x, level):
        name = type(x).__name__
        left, right = {"list": "[]", "tuple": "()", "set": "{}", "frozenset": ("frozenset({", "})")}[name]
        if not x and name in ("set", "frozenset"):
            return name + "()"
        most = getattr(self, "max" + name)
        if level <= 0 and x:
            return left + self.fillvalue + right
        parts = [self.repr1(each, level - 1) for each in itertools.islice(x, most)]
        if len(x) > most:
            parts.append(self.fillvalue)
        return left + ", ".join(parts) + ("," if name == "tuple" and len(x) == 1 else "") + right

    def _pairs(self, x, level):
        if level <= 0 and x:
            return "{" + self.fillvalue + "}"
        parts = [
            self.repr1(key, level - 1) + ": " + self.repr1(x[key], level - 1)
            for key in itertools.islice(x, self.maxdict)
        ]
        if len(x) > self.maxdict:
            parts.append(self.fillvalue)
        return "{" + ", ".join(parts) + "}"


aRepr = Repr()


def repr(x):
    return aRepr.repr(x)
