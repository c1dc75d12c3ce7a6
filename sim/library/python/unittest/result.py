import sys


class TestResult:
    def __init__(self, stream=None, descriptions=None, verbosity=None):
        self.failures, self.errors, self.skipped = [], [], []
        self.expectedFailures, self.unexpectedSuccesses = [], []
        self.testsRun = 0
        self.shouldStop = False
        self.stream, self.verbosity = stream, verbosity

    def startTest(self, test):
        self.testsRun += 1

    def stopTest(self, test):
        pass

    def startTestRun(self):
        pass

    def stopTestRun(self):
        pass

    def stop(self):
        self.shouldStop = True

    def addSuccess(self, test):
        self._tell(test, "ok")

    def addFailure(self, test, error):
        self.failures.append((test, self._text_of(error)))
        self._tell(test, "FAIL")

    def addError(self, test, error):
        self.errors.append((test, self._text_of(error)))
        self._tell(test, "ERROR")

    def addSkip(self, test, reason):
        self.skipped.append((test, reason))
        self._tell(test, f"skipped {reason!r}")

    def addExpectedFailure(self, test, error):
        self.expectedFailures.append((test, self._text_of(error)))
        self._tell(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        self.unexpectedSuccesses.append(test)
        self._tell(test, "unexpected success")

    def addSubTest(self, test, subtest, error):
        pass

    def wasSuccessful(self):
        return not (self.failures or self.errors or self.unexpectedSuccesses)

    def _tell(self, test, word):
        if self.verbosity is not None and self.verbosity > 1:
            print(f"{test} ... {word}", file=self.stream or sys.stderr)

    def _text_of(self, error):
        return f"{error[0].__name__}: {error[1]}\n"
