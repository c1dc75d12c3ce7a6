import contextlib
import warnings


class WarningsRecorder:
    def __init__(self, found):
        self._found = found

    def __getattr__(self, name):
        return getattr(self._found[-1], name) if self._found else None

    @property
    def warnings(self):
        return self._found


@contextlib.contextmanager
def check_warnings(*filters, **kwargs):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield WarningsRecorder(found)


@contextlib.contextmanager
def check_no_warnings(testcase, message="", category=Warning, force_gc=False):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    testcase.assertEqual(found, [])


check_no_resource_warning = check_no_warnings


def check_syntax_warning(testcase, statement, errtext="", *, lineno=1, offset=None):
    with testcase.assertWarnsRegex(SyntaxWarning, errtext):
        compile(statement, "<testcase>", "exec")


def ignore_warnings(*, category):
    return lambda test: test


def save_restore_warnings_filters():
    return contextlib.nullcontext()
