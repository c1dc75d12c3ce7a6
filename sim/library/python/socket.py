import _tidemark

socket, create_connection = [_tidemark.later("socket." + n) for n in ("socket", "create_connection")]
AF_INET, SOCK_STREAM = 2, 1


def gethostname():
    return "localhost"


def gethostbyname(hostname):
    return "127.0.0.1"
