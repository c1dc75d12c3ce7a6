from unittest.case import (
    SkipTest,
    TestCase,
    addModuleCleanup,
    doModuleCleanups,
    expectedFailure,
    skip,
    skipIf,
    skipUnless,
)
from unittest.result import TestResult
from unittest.runner import TestLoader, TestProgram, TestSuite, TextTestRunner, defaultTestLoader

main = TestProgram
