import _tidemark

# No run has a network: a socket has an address of this machine, and nobody answers it.

AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6 = 0, 1, 2, 10
SOCK_STREAM, SOCK_DGRAM = 1, 2
SOL_SOCKET, SO_REUSEADDR, SO_BROADCAST, SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE, SO_LINGER, SO_REUSEPORT = (
    1, 2, 6, 7, 8, 9, 13, 15,
)  # fmt: skip
IPPROTO_TCP, TCP_NODELAY, IPPROTO_UDP, SOMAXCONN, SHUT_RD, SHUT_WR, SHUT_RDWR = 6, 1, 17, 4096, 0, 1, 2
INADDR_ANY, AI_PASSIVE, has_ipv6 = 0, 1, True
error, timeout = OSError, TimeoutError
_FIRST_FREE = 32768  # Linux gives from here on (net.ipv4.ip_local_port_range)
_bound = [0]
_timeout = [None]


class gaierror(OSError):
    pass


class herror(OSError):
    pass


def _refused(what):
    _tidemark.refuse(f"socket.{what}() is not modelled: no run has a network")


def _free_port():
    _bound[0] += 1
    return _FIRST_FREE + _bound[0] - 1


class socket:
    def __init__(self, family=AF_INET, type=SOCK_STREAM, proto=0, fileno=None):
        self.family, self.type, self.proto = family, type, proto
        self._name, self._timeout, self._closed = ("0.0.0.0", 0), _timeout[0], False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def bind(self, address):
        host, port = address[0], address[1]
        self._name = (host or "0.0.0.0", port or _free_port())

    def listen(self, backlog=SOMAXCONN):
        if not self._name[1]:
            self._name = ("0.0.0.0", _free_port())

    def connect(self, address):
        if self.type != SOCK_DGRAM:
            _tidemark.note(f"no network: nobody answers at {address[0]}, port {address[1]}")
            raise ConnectionRefusedError(111, "Connection refused")
        # Nothing is sent: the socket takes the address of this machine.
        self._name = ("127.0.0.1", _free_port())

    def connect_ex(self, address):
        _tidemark.note(f"no network: nobody answers at {address[0]}, port {address[1]}")
        return 111

    def getsockname(self):
        return self._name

    def setsockopt(self, level, optname, value, optlen=None):
        pass

    def getsockopt(self, level, optname, buflen=0):
        return 0

    def settimeout(self, value):
        self._timeout = value

    def gettimeout(self):
        return self._timeout

    def setblocking(self, flag):
        self._timeout = None if flag else 0.0

    def shutdown(self, how):
        pass

    def close(self):
        self._closed = True

    def fileno(self):
        return -1 if self._closed else 3

    def accept(self):
        _refused("socket.accept")

    def recv(self, bufsize, flags=0):
        _refused("socket.recv")

    def send(self, data, flags=0):
        _refused("socket.send")

    def sendall(self, data, flags=0):
        _refused("socket.sendall")


SocketType = socket


def create_connection(address, timeout=None, source_address=None, *, all_errors=False):
    made = socket()
    made.connect(address)
    return made


def create_server(address, *, family=AF_INET, backlog=None, reuse_port=False, dualstack_ipv6=False):
    made = socket(family)
    made.bind(address)
    made.listen()
    return made


def gethostname():
    return "localhost"


def getfqdn(name=""):
    return name or "localhost"


def gethostbyname(hostname):
    return "127.0.0.1"


def gethostbyname_ex(hostname):
    return (hostname, [], ["127.0.0.1"])


def gethostbyaddr(ip_address):
    return ("localhost", [], [ip_address])


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    return [(AF_INET, type or SOCK_STREAM, IPPROTO_TCP, "", ("127.0.0.1", int(port or 0)))]


def getdefaulttimeout():
    return _timeout[0]


def setdefaulttimeout(timeout):
    _timeout[0] = timeout


def htons(x):
    return (x & 0xFF) << 8 | x >> 8 & 0xFF


ntohs = htons


def htonl(x):
    return htons(x & 0xFFFF) << 16 | htons(x >> 16 & 0xFFFF)


ntohl = htonl


def inet_aton(ip_string):
    return bytes([int(part) for part in ip_string.split(".")])


def inet_ntoa(packed_ip):
    return ".".join([str(byte) for byte in packed_ip])
