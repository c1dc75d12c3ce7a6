# What fsspec tells and does of files that the program wrote.
from fsspec.implementations.local import LocalFileSystem
import fsspec
fs = LocalFileSystem()
fs.touch("a.txt")
with fs.open("a.txt", "wb") as f: f.write(b"abcd")
fs.cp("a.txt", "b.txt")
fs.mv("b.txt", "c.txt")
print(fs.size("c.txt"), fs.modified("a.txt") <= fs.modified("c.txt"), fs.cat_file("c.txt", 1, 3), fs.exists("b.txt"))
