"""object.__getattribute__ asks no __getattr__."""


class Traced:
    kind = "traced"

    def __init__(self):
        self.own = 1

    def __getattr__(self, key):
        if key.startswith("__"):
            return object.__getattribute__(self, key)
        return "made " + key


thing = Traced()
print(thing.own, thing.kind, thing.other, object.__getattribute__(thing, "own"), thing.__class__.__name__)
for name in ("__len__", "missing"):
    try:
        print(object.__getattribute__(thing, name))
    except AttributeError as error:
        print(error)
print(hasattr(thing, "__iter__"), hasattr(thing, "anything"))
