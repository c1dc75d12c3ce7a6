import _tidemark


class Placeholder(type):
    """stands for what is not there: it may be named, handed on and inherited from"""

    def __call__(cls, *args, **kwargs):
        _refuse(cls)

    def __getattr__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"type object '{cls._placeholder[0]}' has no attribute '{name}'")
        whole, why, hint = cls._placeholder
        return make(f"{whole}.{name}", why, hint)

    def __iter__(cls):
        _refuse(cls)

    def __len__(cls):
        _refuse(cls)

    def __getitem__(cls, key):
        _refuse(cls)

    def __repr__(cls):
        return f"<{cls._placeholder[0]}, which {cls._placeholder[1]}>"


def _refuse(cls):
    whole, why, hint = cls._placeholder
    _tidemark.refuse(f"{whole} {why}", hint)


def make(name, why, hint):
    module, _, last = name.rpartition(".")
    return Placeholder(last, (), {"_placeholder": (name, why, hint), "__module__": module})
