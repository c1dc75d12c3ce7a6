"""other programs: there are none"""
PIPE, STDOUT, DEVNULL = -1, -2, -3


class SubprocessError(Exception):
    pass


class CalledProcessError(SubprocessError):
    def __init__(self, returncode, cmd, output=None, stderr=None):
        self.returncode, self.cmd, self.output, self.stderr = returncode, cmd, output, stderr


class TimeoutExpired(SubprocessError):
    pass


class CompletedProcess:
    pass


class Popen:
    def __init__(self, args, *rest, **options):
        run(args)


def run(args, *rest, **options):
    name = args.split()[0] if isinstance(args, str) else args[0]
    raise FileNotFoundError(f"[Errno 2] No such file or directory: {str(name)!r}")


call = check_call = check_output = getoutput = getstatusoutput = run
