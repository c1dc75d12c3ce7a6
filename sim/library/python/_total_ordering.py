"""functools.total_ordering"""


def _derived(root, change):
    """A comparison that another one and == decide: `change` takes what that one said."""

    def compare(self, other):
        said = getattr(type(self), root)(self, other)
        return said if said is NotImplemented else change(said, self, other)

    return compare


_WITH_EQUAL = {
    ("__lt__", "__gt__"): lambda said, a, b: not said and a != b,
    ("__lt__", "__le__"): lambda said, a, b: said or a == b,
    ("__lt__", "__ge__"): lambda said, a, b: not said,
    ("__le__", "__ge__"): lambda said, a, b: not said or a == b,
    ("__le__", "__lt__"): lambda said, a, b: said and a != b,
    ("__le__", "__gt__"): lambda said, a, b: not said,
    ("__gt__", "__lt__"): lambda said, a, b: not (said or a == b),
    ("__gt__", "__ge__"): lambda said, a, b: said or a == b,
    ("__gt__", "__le__"): lambda said, a, b: not said,
    ("__ge__", "__le__"): lambda said, a, b: not said or a == b,
    ("__ge__", "__gt__"): lambda said, a, b: said and a != b,
    ("__ge__", "__lt__"): lambda said, a, b: not said,
}


def total_ordering(cls):
    orders = ("__lt__", "__le__", "__gt__", "__ge__")
    own = [name for name in orders if getattr(cls, name, None) is not getattr(object, name, None)]
    if not own:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    for name in orders:
        if name not in own:
            made = _derived(own[0], _WITH_EQUAL[own[0], name])
            made.__name__ = name
            setattr(cls, name, made)
    return cls
