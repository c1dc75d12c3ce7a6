"""What a program prints where it finds a terminal."""

import os
import pty
import subprocess


def run_on_terminal(command, *, env, cwd=None, with_errors=False):
    """(exit code, text) of a command whose standard output is a terminal; `with_errors`: its standard error too."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, cwd=cwd, stdout=slave, stderr=slave if with_errors else None, env=env) as process:
        os.close(slave)
        printed = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # Linux tells the end of a terminal so
                break
            if not chunk:
                break
            printed += chunk
        os.close(master)
        return process.wait(), printed.decode()
