class _Kind:
    def __init__(self, *types):
        self._types = types

    def __instancecheck__(self, obj):
        return isinstance(obj, self._types)


Number = Complex = Real = _Kind(int, float)
Rational = Integral = _Kind(int)
