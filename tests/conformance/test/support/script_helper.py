import unittest


def assert_python_ok(*args, **env_vars):
    raise unittest.SkipTest("needs processes")


assert_python_failure = spawn_python = kill_python = make_script = run_python_until_end = run_test_script = assert_python_ok
