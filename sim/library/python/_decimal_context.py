"""decimal's signals and contexts: how results are rounded, and what an operation says beside its result."""

import decimal

MAX_PREC = MAX_EMAX = 999999999999999999
MIN_EMIN = -999999999999999999
MIN_ETINY = MIN_EMIN - (MAX_PREC - 1)
ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR = "ROUND_UP", "ROUND_DOWN", "ROUND_CEILING", "ROUND_FLOOR"
ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN = "ROUND_HALF_UP", "ROUND_HALF_DOWN", "ROUND_HALF_EVEN"
ROUND_05UP = "ROUND_05UP"
_ROUNDINGS = (
    ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_DOWN, ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_05UP
)


class DecimalException(ArithmeticError):
    __module__ = "decimal"


class Clamped(DecimalException):
    __module__ = "decimal"


class InvalidOperation(DecimalException):
    __module__ = "decimal"


class ConversionSyntax(InvalidOperation):
    __module__ = "decimal"


class DivisionImpossible(InvalidOperation):
    __module__ = "decimal"


class DivisionUndefined(InvalidOperation, ZeroDivisionError):
    __module__ = "decimal"


class DivisionByZero(DecimalException, ZeroDivisionError):
    __module__ = "decimal"


class Inexact(DecimalException):
    __module__ = "decimal"


class Rounded(DecimalException):
    __module__ = "decimal"


class Subnormal(DecimalException):
    __module__ = "decimal"


class Overflow(Inexact, Rounded):
    __module__ = "decimal"


class Underflow(Inexact, Rounded, Subnormal):
    __module__ = "decimal"


class FloatOperation(DecimalException, TypeError):
    __module__ = "decimal"


SIGNALS = (
    InvalidOperation, FloatOperation, DivisionByZero, Overflow, Subnormal, Underflow, Rounded, Inexact, Clamped
)
_SHOWN = (
    Clamped, InvalidOperation, DivisionByZero, Inexact, FloatOperation, Overflow, Rounded, Subnormal, Underflow
)

def _signal_table(given):
    if isinstance(given, dict):
        for key in given:
            if key not in SIGNALS:
                raise KeyError("invalid error flag")
        return {signal: bool(given.get(signal, False)) for signal in SIGNALS}
    return {signal: signal in given for signal in SIGNALS}


def _limited(name, low, high):
    def check(value):
        if not isinstance(value, int):
            raise TypeError(f"an integer is required for {name}")
        if not low <= value <= high:
            raise ValueError(f"valid range for {name} is [{low}, {high}]")
        return value

    return check


_CHECKS = {
    "prec": _limited("prec", 1, MAX_PREC),
    "Emin": _limited("Emin", MIN_EMIN, 0),
    "Emax": _limited("Emax", 0, MAX_EMAX),
    "capitals": _limited("capitals", 0, 1),
    "clamp": _limited("clamp", 0, 1),
    "flags": _signal_table,
    "traps": _signal_table,
}


class Context:
    __module__ = "decimal"

    def __init__(self, prec=None, rounding=None, Emin=None, Emax=None, capitals=None, clamp=None, flags=None,
                 traps=None):
        like = DefaultContext if "DefaultContext" in globals() else None

        def or_default(value, name, plain):
            return value if value is not None else plain if like is None else getattr(like, name)

        self.prec = or_default(prec, "prec", 28)
        self.rounding = or_default(rounding, "rounding", ROUND_HALF_EVEN)
        self.Emin, self.Emax = or_default(Emin, "Emin", -999999), or_default(Emax, "Emax", 999999)
        self.capitals, self.clamp = or_default(capitals, "capitals", 1), or_default(clamp, "clamp", 0)
        self.traps = or_default(traps, "traps", [InvalidOperation, DivisionByZero, Overflow])
        self.flags = [] if flags is None else flags

    def __setattr__(self, name, value):
        if name == "rounding":
            if value not in _ROUNDINGS:
                raise TypeError("valid values for rounding are:\n  [" + ", ".join(_ROUNDINGS) + "]")
        elif name in _CHECKS:
            value = _CHECKS[name](value)
        else:
            raise AttributeError(f"'decimal.Context' object has no attribute '{name}'")
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        raise AttributeError(f"{name} cannot be deleted")

    def __repr__(self):
        def names(table):
            return "[" + ", ".join([signal.__name__ for signal in _SHOWN if table[signal]]) + "]"

        return (
            f"Context(prec={self.prec}, rounding={self.rounding}, Emin={self.Emin}, Emax={self.Emax}, "
            f"capitals={self.capitals}, clamp={self.clamp}, flags={names(self.flags)}, traps={names(self.traps)})"
        )

    def copy(self):
        return Context(self.prec, self.rounding, self.Emin, self.Emax, self.capitals, self.clamp,
                       dict(self.flags), dict(self.traps))

    __copy__ = copy

    def __reduce__(self):
        return (Context, (self.prec, self.rounding, self.Emin, self.Emax, self.capitals, self.clamp,
                          dict(self.flags), dict(self.traps)))

    def clear_flags(self):
        self.flags = []

    def clear_traps(self):
        self.traps = []

    def Etiny(self):
        return self.Emin - self.prec + 1

    def Etop(self):
        return self.Emax - self.prec + 1

    def radix(self):
        return decimal.Decimal(10)

    def copy_decimal(self, a):
        return decimal._taken(a, True)

    def _signal(self, *conditions):
        """Says what happened; raised where it is trapped."""
        for condition in conditions:
            signal = condition if condition in self.flags else InvalidOperation
            self.flags[signal] = True
            if self.traps[signal]:
                raise signal([condition])

    def _invalid(self, condition=InvalidOperation):
        self._signal(condition)
        return decimal._nan()

    def create_decimal(self, num="0"):
        made = decimal.Decimal(num, self)
        if made.is_nan() and made._int and decimal._digits(made._int) > self.prec - self.clamp:
            return self._invalid(ConversionSyntax)
        return made._fix(self)

    def create_decimal_from_float(self, f):
        return decimal.Decimal.from_float(f)._fix(self)

    def __getattr__(self, name):
        """Most methods are those of Decimal, in this context."""
        if name not in _METHODS:
            raise AttributeError(f"'decimal.Context' object has no attribute '{name}'")
        method, takes_context = getattr(decimal.Decimal, _METHODS[name]), name not in _PLAIN

        def call(a, *others):
            given = [decimal._taken(other, True) for other in (a, *others)]
            return method(*given, self) if takes_context else method(*given)

        return call

    def power(self, a, b, modulo=None):
        return decimal._taken(a, True)._power(decimal._taken(b, True), modulo, self)

    def to_sci_string(self, a):
        return decimal._taken(a, True)._text(False, self)

    def to_eng_string(self, a):
        return decimal._taken(a, True)._text(True, self)

    def apply(self, a):
        return decimal._taken(a, True)._fix(self)

    _apply = apply


_PLAIN = (
    "canonical", "compare_total", "compare_total_mag", "copy_abs", "copy_negate", "copy_sign", "is_canonical",
    "is_finite", "is_infinite", "is_nan", "is_qnan", "is_signed", "is_snan", "is_zero", "same_quantum",
)
_METHODS = {name: name for name in _PLAIN}
for _each in (
    "compare", "compare_signal", "exp", "fma", "is_normal", "is_subnormal", "ln", "log10", "logb", "logical_and",
    "logical_invert", "logical_or", "logical_xor", "max", "max_mag", "min", "min_mag", "next_minus", "next_plus",
    "next_toward", "normalize", "number_class", "remainder_near", "rotate", "scaleb", "shift", "sqrt",
):
    _METHODS[_each] = _each
for _each in (
    "abs", "add", "divide", "divide_int", "divmod", "minus", "multiply", "plus", "quantize", "remainder", "subtract",
    "to_integral", "to_integral_exact", "to_integral_value",
):
    _METHODS[_each] = "_" + _each

DefaultContext = Context()
BasicContext = Context(
    9, ROUND_HALF_UP, traps=[DivisionByZero, Overflow, InvalidOperation, Clamped, Underflow], flags=[]
)
ExtendedContext = Context(9, ROUND_HALF_EVEN, traps=[], flags=[])
_current = []


def getcontext():
    if not _current:
        _current.append(DefaultContext.copy())
    return _current[-1]


def setcontext(context):
    if not isinstance(context, Context):
        raise TypeError("argument must be a context")
    if context in (DefaultContext, BasicContext, ExtendedContext):
        context = context.copy()
        context.clear_flags()
    _current[:] = [context]


class _Local:
    def __init__(self, context):
        self.new_context = context.copy()

    def __enter__(self):
        self.saved_context = getcontext()
        setcontext(self.new_context)
        return self.new_context

    def __exit__(self, *error):
        setcontext(self.saved_context)


def localcontext(ctx=None, **kwargs):
    manager = _Local(getcontext() if ctx is None else ctx)
    for name, value in kwargs.items():
        if name not in _CHECKS and name != "rounding":
            raise TypeError(f"'{name}' is an invalid keyword argument for this function")
        setattr(manager.new_context, name, value)
    return manager
