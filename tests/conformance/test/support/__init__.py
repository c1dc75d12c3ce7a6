"""What CPython's tests take of test.support, as far as they need it here."""

import contextlib
import gc
import io
import re
import sys
import unittest

verbose = False
is_emscripten = is_wasi = is_android = is_jython = False
is_apple = MS_WINDOWS = False
has_fork_support = has_subprocess_support = has_socket_support = False
Py_DEBUG = False
HAVE_DOCSTRINGS = False
MISSING_C_DOCSTRINGS = True
NHASHBITS = 64
MAX_Py_ssize_t = sys.maxsize
_1M, _1G, _2G, _4G = 1 << 20, 1 << 30, 1 << 31, 1 << 32
SHORT_TIMEOUT = LONG_TIMEOUT = LOOPBACK_TIMEOUT = INTERNET_TIMEOUT = 30.0
use_resources = None


class TestFailed(Exception):
    pass


class ResourceDenied(unittest.SkipTest):
    pass


def _cpython(test):
    return unittest.skip("about CPython itself")(test)


cpython_only = requires_subprocess_test = no_tracing = refcount_test = _cpython
skip_if_pgo_task = lambda test: test
requires_docstrings = unittest.skip("about docstrings of built-in functions")
requires_IEEE_754 = requires_gil_enabled = lambda test: test


def impl_detail(msg=None, **guards):
    return _cpython


def check_impl_detail(**guards):
    return guards.get("cpython", not guards) is False


def requires_subprocess():
    return unittest.skip("needs processes")


def requires_fork():
    return unittest.skip("needs processes")


def requires_resource(resource):
    return unittest.skip(f"resource {resource!r} is not enabled")


def requires(resource, msg=None):
    raise ResourceDenied(f"resource {resource!r} is not enabled")


def is_resource_enabled(resource):
    return False


def requires_mac_ver(*version):
    return lambda test: test


requires_limited_api = requires_legacy_unicode_capi = requires_zlib = requires_gzip = unittest.skip("not here")


def bigmemtest(size=0, memuse=0, dry_run=True):
    return unittest.skip("needs much memory")


bigaddrspacetest = unittest.skip("needs much memory")


def gc_collect():
    gc.collect()


@contextlib.contextmanager
def disable_gc():
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextlib.contextmanager
def captured_output(stream_name):
    original = getattr(sys, stream_name)
    setattr(sys, stream_name, io.StringIO())
    try:
        yield getattr(sys, stream_name)
    finally:
        setattr(sys, stream_name, original)


def captured_stdout():
    return captured_output("stdout")


def captured_stderr():
    return captured_output("stderr")


@contextlib.contextmanager
def swap_attr(obj, attr, new_val):
    if hasattr(obj, attr):
        real = getattr(obj, attr)
        setattr(obj, attr, new_val)
        try:
            yield real
        finally:
            setattr(obj, attr, real)
    else:
        setattr(obj, attr, new_val)
        try:
            yield
        finally:
            if hasattr(obj, attr):
                delattr(obj, attr)


@contextlib.contextmanager
def swap_item(obj, item, new_val):
    if item in obj:
        real = obj[item]
        obj[item] = new_val
        try:
            yield real
        finally:
            obj[item] = real
    else:
        obj[item] = new_val
        try:
            yield
        finally:
            if item in obj:
                del obj[item]


@contextlib.contextmanager
def infinite_recursion(max_depth=75):
    yield


@contextlib.contextmanager
def adjust_int_max_str_digits(max_digits):
    yield


@contextlib.contextmanager
def run_with_locale(catstr, *locales):
    raise unittest.SkipTest("needs locales")
    yield


@contextlib.contextmanager
def catch_unraisable_exception():
    raise unittest.SkipTest("about CPython itself")
    yield


def check_sizeof(test, o, size):
    raise unittest.SkipTest("about CPython itself")


def calcobjsize(fmt):
    raise unittest.SkipTest("about CPython itself")


calcvobjsize = calcobjsize


def get_attribute(obj, name):
    try:
        return getattr(obj, name)
    except AttributeError:
        raise unittest.SkipTest(f"object {obj!r} has no attribute {name!r}")


def sortdict(given):
    return "{" + ", ".join("%r: %r" % pair for pair in sorted(given.items())) + "}"


def check_syntax_error(testcase, statement, errtext="", *, lineno=None, offset=None):
    with testcase.assertRaisesRegex(SyntaxError, errtext):
        compile(statement, "<test string>", "exec")


def check_free_after_iterating(test, iter, cls, args=()):
    class A(cls):
        def __del__(self):
            nonlocal done
            done = True
            try:
                next(it)
            except StopIteration:
                pass

    done = False
    it = iter(A(*args))
    test.assertRaises(StopIteration, next, it)
    gc_collect()
    test.assertTrue(done)


def check__all__(test_case, module, *args, **kwargs):
    raise unittest.SkipTest("about what a module lists")


def check_disallow_instantiation(testcase, tp, *args, **kwds):
    testcase.assertRaises(TypeError, tp, *args, **kwds)


def load_package_tests(pkg_dir, loader, standard_tests, pattern):
    return standard_tests


def maybe_get_event_loop_policy():
    return None


def setswitchinterval(interval):
    pass


def wait_process(pid, *, exitcode, timeout=None):
    raise unittest.SkipTest("needs processes")


def collision_stats(*args):
    raise unittest.SkipTest("about CPython itself")


def args_from_interpreter_flags():
    return []


def run_in_subinterp(code):
    raise unittest.SkipTest("about CPython itself")


class SuppressCrashReport:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class _ALWAYS_EQ:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class _NEVER_EQ:
    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    def __hash__(self):
        return 1


class _LARGEST:
    def __eq__(self, other):
        return isinstance(other, _LARGEST)

    def __lt__(self, other):
        return False

    def __le__(self, other):
        return isinstance(other, _LARGEST)

    def __gt__(self, other):
        return not isinstance(other, _LARGEST)

    def __ge__(self, other):
        return True


class _SMALLEST:
    def __eq__(self, other):
        return isinstance(other, _SMALLEST)

    def __gt__(self, other):
        return False

    def __ge__(self, other):
        return isinstance(other, _SMALLEST)

    def __lt__(self, other):
        return not isinstance(other, _SMALLEST)

    def __le__(self, other):
        return True


ALWAYS_EQ, NEVER_EQ, LARGEST, SMALLEST = _ALWAYS_EQ(), _NEVER_EQ(), _LARGEST(), _SMALLEST()
