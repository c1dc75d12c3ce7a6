def system():
    return "Linux"


def node():
    return "localhost"


def release():
    return "6.1.0"


def machine():
    return "x86_64"


processor = machine


def platform(aliased=False, terse=False):
    return "Linux-6.1.0-x86_64-with-glibc2.36"


def python_version():
    return "3.11.0"


def python_implementation():
    return "CPython"


def version():
    return "#1 SMP"


def uname():
    import _tidemark

    fields = ["system", "node", "release", "version", "machine", "processor"]
    kind = _tidemark.named_tuple("platform.uname_result", fields)
    return kind(system(), node(), release(), version(), machine(), processor())


def python_version_tuple():
    return "3", "11", "0"


def libc_ver():
    return "glibc", "2.36"


def mac_ver():
    return "", ("", "", ""), ""


def architecture():
    return "64bit", "ELF"


def freedesktop_os_release():
    return {"ID": "debian"}
