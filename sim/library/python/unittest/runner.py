import sys

from unittest.case import SkipTest, TestCase, doModuleCleanups
from unittest.result import TestResult


class TestSuite:
    def __init__(self, tests=()):
        self._tests = []
        self.addTests(tests)

    def __iter__(self):
        return iter(self._tests)

    def addTest(self, test):
        self._tests.append(test)

    def addTests(self, tests):
        for test in tests:
            self.addTest(test)

    def countTestCases(self):
        return sum(test.countTestCases() for test in self)

    def run(self, result, debug=False):
        kind = None
        for test in self:
            if result.shouldStop:
                break
            if not isinstance(test, TestSuite) and type(test) is not kind:
                _leave(kind)
                kind = type(test)
                try:
                    kind.setUpClass()
                except SkipTest as reason:
                    kind.__unittest_skip__ = True
                    kind.__unittest_skip_why__ = str(reason)
            test(result)
        _leave(kind)
        return result

    def __call__(self, *args, **kwargs):
        return self.run(*args, **kwargs)


def _leave(kind):
    if kind is not None:
        kind.tearDownClass()
        kind.doClassCleanups()


class TestLoader:
    testMethodPrefix = "test"
    suiteClass = TestSuite

    def getTestCaseNames(self, testCaseClass):
        names = [name for name in dir(testCaseClass) if name.startswith(self.testMethodPrefix)]
        return sorted(name for name in names if callable(getattr(testCaseClass, name)))

    def loadTestsFromTestCase(self, testCaseClass):
        names = self.getTestCaseNames(testCaseClass)
        if not names and hasattr(testCaseClass, "runTest"):
            names = ["runTest"]
        return self.suiteClass([testCaseClass(name) for name in names])

    def loadTestsFromModule(self, module, *args, pattern=None, **kwargs):
        tests = []
        for name in dir(module):
            each = getattr(module, name)
            if isinstance(each, type) and issubclass(each, TestCase) and each is not TestCase:
                tests.append(self.loadTestsFromTestCase(each))
        load_tests = getattr(module, "load_tests", None)
        suite = self.suiteClass(tests)
        return suite if load_tests is None else load_tests(self, suite, pattern)

    def loadTestsFromName(self, name, module=None):
        found = module
        parts = name.split(".")
        if found is None:
            found = __import__(parts[0])
            parts = parts[1:]
        for part in parts:
            found = getattr(found, part)
        if isinstance(found, type):
            return self.loadTestsFromTestCase(found)
        if isinstance(found, type(sys)):
            return self.loadTestsFromModule(found)
        return self.suiteClass([found()])

    def loadTestsFromNames(self, names, module=None):
        return self.suiteClass([self.loadTestsFromName(name, module) for name in names])


defaultTestLoader = TestLoader()


class TextTestRunner:
    resultclass = TestResult

    def __init__(self, stream=None, descriptions=True, verbosity=1, failfast=False, buffer=False, resultclass=None):
        self.stream, self.descriptions, self.verbosity = stream or sys.stderr, descriptions, verbosity
        if resultclass is not None:
            self.resultclass = resultclass

    def run(self, test):
        result = self.resultclass(self.stream, self.descriptions, self.verbosity)
        result.startTestRun()
        test(result)
        doModuleCleanups()
        result.stopTestRun()
        for kind, found in (("ERROR", result.errors), ("FAIL", result.failures)):
            for each, text in found:
                print(f"{kind}: {each}\n{text}", file=self.stream)
        many = "" if result.testsRun == 1 else "s"
        print(f"Ran {result.testsRun} test{many}", file=self.stream)
        print("OK" if result.wasSuccessful() else "FAILED", file=self.stream)
        return result


class TestProgram:
    def __init__(
        self,
        module="__main__",
        defaultTest=None,
        argv=None,
        testRunner=None,
        testLoader=None,
        exit=True,
        verbosity=1,
    ):
        loader = defaultTestLoader if testLoader is None else testLoader
        if isinstance(module, str):
            module = sys.modules[module]
        if defaultTest is None:
            tests = loader.loadTestsFromModule(module)
        else:
            names = [defaultTest] if isinstance(defaultTest, str) else defaultTest
            tests = loader.loadTestsFromNames(names, module)
        runner = TextTestRunner(verbosity=verbosity) if testRunner is None else testRunner
        if isinstance(runner, type):
            runner = runner()
        self.result = runner.run(tests)
        if exit:
            sys.exit(not self.result.wasSuccessful())
