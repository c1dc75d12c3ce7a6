"""Sockets without a network, copies of folders, clocks and threads, as CPython has them."""
import socket, os, shutil, tempfile, time, threading, sys, timeit
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", 0)); s.listen(1)
port = s.getsockname()[1]
print(port > 1024, isinstance(port, int)); s.close()
with socket.socket() as t:
    print(t.connect_ex(("localhost", 29512)) != 0)
try: socket.create_connection(("127.0.0.1", 29513))
except ConnectionRefusedError as e: print("refused", e.errno)
print(socket.htons(80), socket.ntohl(1), socket.inet_ntoa(socket.inet_aton("10.0.0.7")))
d = tempfile.mkdtemp()
os.makedirs(os.path.join(d, "a/b"))
for n in ("a/x.txt", "a/b/y.txt", "a/z.log"):
    with open(os.path.join(d, n), "w") as f: f.write(n)
shutil.copytree(os.path.join(d, "a"), os.path.join(d, "c"), ignore=shutil.ignore_patterns("*.log"))
print(sorted(os.listdir(os.path.join(d, "c"))), open(os.path.join(d, "c/b/y.txt")).read())
with open(os.path.join(d, "a/x.txt")) as f, open(os.path.join(d, "w"), "w") as g: shutil.copyfileobj(f, g)
print(open(os.path.join(d, "w")).read(), os.EX_OK, os.isatty(99), time.clock_gettime(time.CLOCK_MONOTONIC) > 0)
print(len(threading.enumerate()), timeit.Timer(lambda: 1).timeit(3) >= 0, len(timeit.repeat(lambda: 1, repeat=2, number=1)))
print(os.path.basename(tempfile.mktemp(".x"))[:3], sys.getfilesystemencodeerrors())
