"""Runs the tests of one module of CPython's own suite, within Tidemark: run.py FOLDER MODULE FIRST [TEST ...].

The tests that are named are left out.

Each test has a line before it and one after it, so that what refuses the whole program is known by name.
"""

import importlib
import os
import sys
import unittest

folder, name, first, left_out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
os.environ["CONFORMANCE_SUITE"] = folder


class Lines(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.index = -1

    def startTest(self, test):
        self.index += 1
        print(f"begin {self.index} {name_of(test)}")

    def addSuccess(self, test):
        print("passed")

    def addExpectedFailure(self, test, error):
        print("passed")

    def addUnexpectedSuccess(self, test):
        print("failed: unexpected success")

    def addSkip(self, test, reason):
        print(f"skipped: {line_of(reason)}")

    def addFailure(self, test, error):
        print(f"failed: {line_of(f'{error[0].__name__}: {error[1]}')}")

    addError = addFailure


def name_of(test):
    return test.id().split(".", 2)[2]


def line_of(text):
    return " ".join(str(text).split())[:300]


module = importlib.import_module(f"test.{name}")
kinds = [getattr(module, each) for each in dir(module)]
kinds = [each for each in kinds if isinstance(each, type) and issubclass(each, unittest.TestCase)]
tests = [test for kind in kinds for test in unittest.defaultTestLoader.loadTestsFromTestCase(kind)]
result = Lines()
result.index = first - 1
group = []
for test in tests[first:]:
    if name_of(test) not in left_out:
        group.append(test)
        continue
    unittest.TestSuite(group).run(result)
    group = []
    result.startTest(test)
    result.addSkip(test, "left out")
unittest.TestSuite(group).run(result)
print("end")
