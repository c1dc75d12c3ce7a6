from unittest._assertions import Assertions


class SkipTest(Exception):
    pass



_module_cleanups = []


def addModuleCleanup(function, /, *args, **kwargs):
    _module_cleanups.append((function, args, kwargs))


def doModuleCleanups():
    while _module_cleanups:
        function, args, kwargs = _module_cleanups.pop()
        function(*args, **kwargs)


def skip(reason):
    def decorate(test):
        if not isinstance(test, type):
            inner = test

            def test(*args, **kwargs):
                raise SkipTest(reason)

            test.__name__ = inner.__name__
        test.__unittest_skip__ = True
        test.__unittest_skip_why__ = reason
        return test

    if callable(reason) and not isinstance(reason, str):
        function, reason = reason, ""
        return decorate(function)
    return decorate


def skipIf(condition, reason):
    return skip(reason) if condition else lambda test: test


def skipUnless(condition, reason):
    return lambda test: test if condition else skip(reason)(test)


def expectedFailure(test):
    test.__unittest_expecting_failure__ = True
    return test


class _SubTest:
    def __init__(self, case, message, parameters):
        self._case, self._message, self._parameters = case, message, parameters

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        if kind is None or not issubclass(kind, Exception) or issubclass(kind, SkipTest):
            return False
        words = [] if self._message is None else [f"[{self._message}]"]
        words += [f"{name}={value!r}" for name, value in self._parameters.items()]
        self._case._subtest_failed(error, f"({', '.join(words)})")
        return True


class TestCase(Assertions):
    failureException = AssertionError
    longMessage = True
    maxDiff = 640

    def __init_subclass__(cls, *args, **kwargs):
        cls._classSetupFailed = False
        cls._class_cleanups = []
        super().__init_subclass__(*args, **kwargs)

    def __init__(self, methodName="runTest"):
        self._testMethodName = methodName
        self._cleanups = []
        self._type_equality_funcs = {}
        self._failed_subtests = []
        method = getattr(self, methodName, None)
        if method is None and methodName != "runTest":
            raise ValueError(f"no such test method in {self.__class__}: {methodName}")
        self._testMethodDoc = method.__doc__ if method is not None else None

    def setUp(self):
        pass

    def tearDown(self):
        pass

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def addCleanup(self, function, /, *args, **kwargs):
        self._cleanups.append((function, args, kwargs))

    def enterContext(self, manager):
        result = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return result

    @classmethod
    def addClassCleanup(cls, function, /, *args, **kwargs):
        cls._class_cleanups.append((function, args, kwargs))

    @classmethod
    def enterClassContext(cls, manager):
        result = manager.__enter__()
        cls.addClassCleanup(manager.__exit__, None, None, None)
        return result

    @classmethod
    def doClassCleanups(cls):
        while cls._class_cleanups:
            function, args, kwargs = cls._class_cleanups.pop()
            function(*args, **kwargs)

    def doCleanups(self):
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            function(*args, **kwargs)

    def countTestCases(self):
        return 1

    def defaultTestResult(self):
        from unittest.result import TestResult

        return TestResult()

    def shortDescription(self):
        return self._testMethodDoc.split("\n")[0].strip() if self._testMethodDoc else None

    def id(self):
        return f"{self.__class__.__module__}.{self.__class__.__qualname__}.{self._testMethodName}"

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return self._testMethodName == other._testMethodName

    def __hash__(self):
        return hash((type(self), self._testMethodName))

    def __str__(self):
        return f"{self._testMethodName} ({self.id()})"

    def __repr__(self):
        return f"<{self.__class__.__module__}.{self.__class__.__qualname__} testMethod={self._testMethodName}>"

    def skipTest(self, reason):
        raise SkipTest(reason)

    def subTest(self, msg=None, **params):
        return _SubTest(self, msg, params)

    def _subtest_failed(self, error, words):
        self._failed_subtests.append((error, words))

    def _run_steps(self):
        error = None
        try:
            self.setUp()
            try:
                getattr(self, self._testMethodName)()
            finally:
                self.tearDown()
        finally:
            self.doCleanups()
        if self._failed_subtests:
            error, words = self._failed_subtests[0]
            error.add_note(words)
            raise error

    def run(self, result=None):
        if result is None:
            result = self.defaultTestResult()
        method = getattr(self, self._testMethodName)
        result.startTest(self)
        for asked in (self.__class__, method):
            if getattr(asked, "__unittest_skip__", False):
                result.addSkip(self, getattr(asked, "__unittest_skip_why__", ""))
                result.stopTest(self)
                return result
        expected = getattr(method, "__unittest_expecting_failure__", False) or getattr(
            self, "__unittest_expecting_failure__", False
        )
        try:
            self._run_steps()
        except SkipTest as reason:
            result.addSkip(self, str(reason))
        except KeyboardInterrupt:
            raise
        except Exception as error:
            kind = (type(error), error, error.__traceback__)
            if expected:
                result.addExpectedFailure(self, kind)
            elif isinstance(error, self.failureException):
                result.addFailure(self, kind)
            else:
                result.addError(self, kind)
        else:
            if expected:
                result.addUnexpectedSuccess(self)
            else:
                result.addSuccess(self)
        result.stopTest(self)
        return result

    def __call__(self, *args, **kwargs):
        return self.run(*args, **kwargs)

    def debug(self):
        self._run_steps()
