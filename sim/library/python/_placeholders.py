import _tidemark


_MODELLED = "docs/language.md lists what is; an operator can be declared as a custom op: docs/scenario.md"


class Placeholder(type):
    """stands for what is not there: it may be named, handed on and inherited from"""

    def __call__(cls, *args, **kwargs):
        import _declared

        name = cls._placeholder[0]
        if _declared.of(name) is not None:
            return _declared.called(name, args, kwargs)
        if name.startswith("scipy.linalg.") and name.count(".") == 2:
            from numpy import _scipy_linalg

            known = _scipy_linalg.of(name.rpartition(".")[2])
            if known is not None:
                return known(*args, **kwargs)
        _refuse(cls)

    def __getattr__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"type object '{cls._placeholder[0]}' has no attribute '{name}'")
        whole, why, hint = cls._placeholder
        return make(f"{whole}.{name}", why, hint)

    def __bool__(cls):
        if cls._is_value:
            _refuse(cls)
        return True

    def __iter__(cls):
        _refuse(cls)

    def __len__(cls):
        _refuse(cls)

    def __getitem__(cls, key):
        _refuse(cls)

    def _refused(cls, *others):
        _refuse(cls)

    __int__ = __float__ = __index__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refused
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __round__ = __contains__ = _refused

    def __repr__(cls):
        return f"<{cls._placeholder[0]}, which {cls._placeholder[1]}>"


def _refuse(cls):
    whole, why, hint = cls._placeholder
    _tidemark.refuse(f"{whole} {why}", hint)


def make(name, why, hint, is_value=True):
    module, _, last = name.rpartition(".")
    return Placeholder(last, (), {"_placeholder": (name, why, hint), "_is_value": is_value, "__module__": module})


def make_known(name, is_value):
    """a name of a package that has it, and is not modelled"""
    return make(name, "is not modelled", _MODELLED, is_value)
