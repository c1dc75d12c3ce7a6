#!/usr/bin/env python3
"""The program as a whole process: what it prints where, and its exit codes.

    program_test.py PATH/TO/tidemark
"""

import gzip
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = ""
EVENTS = """index,action,address,bytes,stream,id
0,segment_alloc,4096,2097152,0,
1,alloc,4096,100,0,0
"""
OTHER_EVENTS = EVENTS.replace("4096,100,", "4096,101,")


def run(*args, stdin=b"", env=None):
    done = subprocess.run([TIDEMARK, *args], capture_output=True, input=stdin, env=env, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(*args, env=None):
    """Standard output and exit code when it is a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen([TIDEMARK, *args], stdout=slave, env={**os.environ, "TERM": "xterm", **(env or {})}) as process:
        os.close(slave)
        output = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # Linux tells the end of a terminal so
                break
            if not chunk:
                break
            output += chunk
        os.close(master)
        return process.wait(), output.decode()


class HelpAndVersion(unittest.TestCase):
    def test_version_is_one_line(self):
        code, out, err = run("--version")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^tidemark \d+\.\d+\.\d+ \(PyTorch 2\.11 by default\)\n$")

    def test_help_lists_every_command_and_each_explains_itself(self):
        code, out, err = run("help")
        self.assertEqual((code, err), (0, ""))
        listing = out.split("Commands\n")[1].split("\n\n")[0]
        names = [line.split()[0] for line in listing.splitlines() if line.startswith("  ") and line[2] != " "]
        self.assertIn("diff", names)
        for name in names:
            code, out, err = run("help", name)
            self.assertEqual((code, err), (0, ""), name)
            if name != "help":
                self.assertTrue(out.startswith(f"tidemark {name}: "), name)
                self.assertIn("\nExamples\n", out)

    def test_no_command_is_wrong_usage(self):
        code, out, err = run()
        self.assertEqual((code, out), (2, ""))
        self.assertIn("Commands\n", err)


class Refusals(unittest.TestCase):
    def test_unknown_words_get_a_suggestion_and_exit_code_2(self):
        for args, message in [
            (["dif"], "error: unknown command 'dif'; did you mean 'diff'?\n"),
            (["--versoin"], "error: unknown option '--versoin'; did you mean '--version'?\n"),
            (["help", "dif"], "error: unknown command 'dif'; did you mean 'diff'?\n"),
            (["diff", "--formt", "json", "a", "b"],
             "error: unknown option '--formt'; did you mean '--format'?\nSee 'tidemark help diff'.\n"),
            (["diff", "a", "b", "c"], "error: unexpected argument 'c'\nSee 'tidemark help diff'.\n"),
            (["diff", "a"], "error: missing argument B\nSee 'tidemark help diff'.\n"),
        ]:
            self.assertEqual(run(*args), (2, "", message), args)


class Diff(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = pathlib.Path(self.folder.name)
        self.a, self.b, self.bad = (str(root / name) for name in ("a.csv", "b.csv.gz", "bad.csv"))
        pathlib.Path(self.a).write_text(EVENTS, encoding="utf-8")
        pathlib.Path(self.b).write_bytes(gzip.compress(OTHER_EVENTS.encode()))
        pathlib.Path(self.bad).write_text("a,b\n", encoding="utf-8")

    def test_equal_is_0_different_is_1(self):
        self.assertEqual(run("diff", self.a, self.a),
                         (0, "Equal: 2 events, peak reserved 2.00 MiB (2,097,152 bytes)\n", ""))
        code, out, err = run("diff", self.a, self.b)
        self.assertEqual((code, err), (1, ""))
        self.assertIn("First difference: event 1, differs in bytes\n", out)

    def test_standard_input_is_a_file_too(self):
        self.assertEqual(run("diff", self.a, "-", stdin=EVENTS.encode())[0], 0)

    def test_bad_contents_are_2_and_a_missing_file_is_4(self):
        code, out, err = run("diff", self.a, self.bad)
        self.assertEqual((code, out), (2, ""))
        self.assertTrue(err.startswith(f"{self.bad}:1:1: error: no column 'action' in the header"), err)
        missing = self.a + ".none"
        self.assertEqual(run("diff", self.a, missing), (4, "", f"error: {missing}: No such file or directory\n"))

    def test_output_that_cannot_be_written_is_4(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TIDEMARK, "diff", self.a, self.b], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, b"error: cannot write to standard output: No space left on device\n")

    def test_colour_is_for_terminals_without_no_color(self):
        self.assertNotIn("\x1b[", run("diff", self.a, self.b)[1])
        code, out = on_terminal("diff", self.a, self.b)
        self.assertEqual(code, 1)
        self.assertIn("\x1b[1m", out)
        self.assertNotIn("\x1b[", on_terminal("diff", self.a, self.b, env={"NO_COLOR": "1"})[1])
        self.assertNotIn("\x1b[", on_terminal("diff", self.a, self.b, env={"TERM": "dumb"})[1])


if __name__ == "__main__":
    TIDEMARK = sys.argv.pop(1)
    unittest.main()
