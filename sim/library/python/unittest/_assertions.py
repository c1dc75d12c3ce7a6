import re
import warnings


class _Raising:
    """what assertRaises and its kin give without a callable"""

    def __init__(self, case, expected, pattern, kwargs):
        self._case, self._expected, self._pattern = case, expected, pattern
        self.msg = kwargs.pop("msg", None)
        if kwargs:
            raise TypeError(f"{next(iter(kwargs))!r} is an invalid keyword argument for this function")

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None:
            self._case._fail(self.msg, f"{_names(self._expected)} not raised")
        if not issubclass(kind, self._expected):
            return False
        self.exception = error
        self._case._match(self._pattern, str(error), self.msg)
        return True


class _Warning:
    def __init__(self, case, expected, pattern, kwargs):
        self._case, self._expected, self._pattern = case, expected, pattern
        self.msg = kwargs.pop("msg", None)

    def __enter__(self):
        self._manager = warnings.catch_warnings(record=True)
        self.warnings = self._manager.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, kind, error, traceback):
        self._manager.__exit__(kind, error, traceback)
        if kind is not None:
            return
        found = [each.message for each in self.warnings if isinstance(each.message, self._expected)]
        for each in self.warnings:
            if isinstance(each.message, self._expected):
                self.warning, self.filename, self.lineno = each.message, each.filename, each.lineno
                break
        if self._pattern is not None:
            found = [each for each in found if re.search(self._pattern, str(each))]
        if not found:
            self._case._fail(self.msg, f"{_names(self._expected)} not triggered")


def _names(kinds):
    return " or ".join(kind.__name__ for kind in kinds) if isinstance(kinds, tuple) else kinds.__name__


class Assertions:
    def fail(self, msg=None):
        raise self.failureException(msg)

    def _formatMessage(self, msg, standard):
        if not self.longMessage:
            return msg or standard
        return standard if msg is None else f"{standard} : {msg}"

    def _fail(self, msg, standard):
        raise self.failureException(self._formatMessage(msg, standard))

    def _match(self, pattern, text, msg):
        if pattern is None:
            return
        expression = re.compile(pattern) if isinstance(pattern, (str, bytes)) else pattern
        if not expression.search(text):
            self._fail(msg, f"{expression.pattern!r} does not match {text!r}")

    def addTypeEqualityFunc(self, typeobj, function):
        self._type_equality_funcs[typeobj] = function

    def assertEqual(self, first, second, msg=None):
        function = self._type_equality_funcs.get(type(first)) if type(first) is type(second) else None
        if function is not None:
            function(first, second, msg=msg)
        elif not first == second:
            self._fail(msg, f"{first!r} != {second!r}")

    def assertNotEqual(self, first, second, msg=None):
        if not first != second:
            self._fail(msg, f"{first!r} == {second!r}")

    def assertTrue(self, expr, msg=None):
        if not expr:
            self._fail(msg, f"{expr!r} is not true")

    def assertFalse(self, expr, msg=None):
        if expr:
            self._fail(msg, f"{expr!r} is not false")

    def assertIs(self, expr1, expr2, msg=None):
        if expr1 is not expr2:
            self._fail(msg, f"{expr1!r} is not {expr2!r}")

    def assertIsNot(self, expr1, expr2, msg=None):
        if expr1 is expr2:
            self._fail(msg, f"unexpectedly identical: {expr1!r}")

    def assertIsNone(self, obj, msg=None):
        if obj is not None:
            self._fail(msg, f"{obj!r} is not None")

    def assertIsNotNone(self, obj, msg=None):
        if obj is None:
            self._fail(msg, "unexpectedly None")

    def assertIn(self, member, container, msg=None):
        if member not in container:
            self._fail(msg, f"{member!r} not found in {container!r}")

    def assertNotIn(self, member, container, msg=None):
        if member in container:
            self._fail(msg, f"{member!r} unexpectedly found in {container!r}")

    def assertIsInstance(self, obj, cls, msg=None):
        if not isinstance(obj, cls):
            self._fail(msg, f"{obj!r} is not an instance of {cls!r}")

    def assertNotIsInstance(self, obj, cls, msg=None):
        if isinstance(obj, cls):
            self._fail(msg, f"{obj!r} is an instance of {cls!r}")

    def assertLess(self, a, b, msg=None):
        if not a < b:
            self._fail(msg, f"{a!r} not less than {b!r}")

    def assertLessEqual(self, a, b, msg=None):
        if not a <= b:
            self._fail(msg, f"{a!r} not less than or equal to {b!r}")

    def assertGreater(self, a, b, msg=None):
        if not a > b:
            self._fail(msg, f"{a!r} not greater than {b!r}")

    def assertGreaterEqual(self, a, b, msg=None):
        if not a >= b:
            self._fail(msg, f"{a!r} not greater than or equal to {b!r}")

    def _is_almost(self, first, second, places, delta):
        if places is not None and delta is not None:
            raise TypeError("specify delta or places not both")
        if first == second:
            return True
        difference = abs(first - second)
        if delta is not None:
            return difference <= delta
        return round(difference, 7 if places is None else places) == 0

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        if not self._is_almost(first, second, places, delta):
            self._fail(msg, f"{first!r} != {second!r}")

    def assertNotAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        if self._is_almost(first, second, places, delta):
            self._fail(msg, f"{first!r} == {second!r}")

    def assertRegex(self, text, expected_regex, msg=None):
        self._match(expected_regex, text, msg)

    def assertNotRegex(self, text, unexpected_regex, msg=None):
        expression = re.compile(unexpected_regex) if isinstance(unexpected_regex, (str, bytes)) else unexpected_regex
        if expression.search(text):
            self._fail(msg, f"{expression.pattern!r} matches {text!r}")

    def assertSequenceEqual(self, first, second, msg=None, seq_type=None):
        if seq_type is not None:
            self.assertIsInstance(first, seq_type, msg)
            self.assertIsInstance(second, seq_type, msg)
        if first == second:
            return
        same = len(first) == len(second) and all(a == b for a, b in zip(first, second))
        if not same or type(first) is type(second):
            self._fail(msg, f"{first!r} != {second!r}")

    def assertListEqual(self, list1, list2, msg=None):
        self.assertSequenceEqual(list1, list2, msg, seq_type=list)

    def assertTupleEqual(self, tuple1, tuple2, msg=None):
        self.assertSequenceEqual(tuple1, tuple2, msg, seq_type=tuple)

    def assertSetEqual(self, set1, set2, msg=None):
        if set1.difference(set2) or set2.difference(set1):
            self._fail(msg, f"{set1!r} != {set2!r}")

    def assertDictEqual(self, d1, d2, msg=None):
        self.assertIsInstance(d1, dict, "First argument is not a dictionary")
        self.assertIsInstance(d2, dict, "Second argument is not a dictionary")
        if d1 != d2:
            self._fail(msg, f"{d1!r} != {d2!r}")

    def assertMultiLineEqual(self, first, second, msg=None):
        if first != second:
            self._fail(msg, f"{first!r} != {second!r}")

    def assertCountEqual(self, first, second, msg=None):
        left = list(second)
        for each in first:
            for i, other in enumerate(left):
                if each is other or each == other:
                    del left[i]
                    break
            else:
                self._fail(msg, f"element counts were not equal: {each!r}")
        if left:
            self._fail(msg, f"element counts were not equal: {left[0]!r}")

    def assertRaises(self, expected_exception, *args, **kwargs):
        return self._raises(_Raising, expected_exception, None, args, kwargs)

    def assertRaisesRegex(self, expected_exception, expected_regex, *args, **kwargs):
        return self._raises(_Raising, expected_exception, expected_regex, args, kwargs)

    def assertWarns(self, expected_warning, *args, **kwargs):
        return self._raises(_Warning, expected_warning, None, args, kwargs)

    def assertWarnsRegex(self, expected_warning, expected_regex, *args, **kwargs):
        return self._raises(_Warning, expected_warning, expected_regex, args, kwargs)

    def _raises(self, manager, expected, pattern, args, kwargs):
        for kind in expected if isinstance(expected, tuple) else (expected,):
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                raise TypeError("arg 1 must be an exception type or tuple of exception types")
        if not args:
            return manager(self, expected, pattern, kwargs)
        function, *args = args
        with manager(self, expected, pattern, {}):
            function(*args, **kwargs)
