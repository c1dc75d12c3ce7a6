"""TOML, as scripts read their settings"""
import io
import tomllib

TEXT = '''
# a comment
title = "TOML \\u00e9 \\t tab" # after
bare-key_1 = 'lit\\eral'
"quoted key" = true
site."google.com".on = false
[owner]
name = """
Roses are red
Violets \\
    are blue ""quoted"" """
raw = \'\'\'I\'\'m \\raw
two\'\'\'
born = 1979-05-27T07:32:00-08:00
utc = 1979-05-27 07:32:00.5Z
local = 1979-05-27T07:32:00.999999
day = 1979-05-27
clock = 07:32:00
[numbers]
ints = [ +99, 42, 0, -17, 1_000, 0xDEAD_beef, 0o755, 0b1101 ]
floats = [1.0, -0.01, 5e+22, 1e06, 6.626e-34, 224_617.445_991, inf, -inf]
mixed = [
  1, # one
  "two",
  [3.5, []],
]
point = { x = 1, y = { z = 2 }, w.v = 3 }
[[products]]
name = "Hammer"
[[products]]
[[products]]
name = "Nail"
[products.part]
size = 3
[[products.part.holes]]
at = 1
[[products.part.holes]]
at = 2
[a.b.c]
d = 1
[a]
e = 2
'''

found = tomllib.loads(TEXT)
for key, value in found.items():
    print(key, value)
print(tomllib.load(io.BytesIO(b"a = 1\r\nb = [\r\n2]\r\n")))
print(tomllib.loads("x = 1.5e3", parse_float=str), tomllib.loads(""), tomllib.loads("nan = nan")["nan"] != 0)
for wrong in (
    "a = 1\na = 2", "a = ", "a", "= 1", "[a", "[a]\n[a]", "a.b = 1\n[a]\nb.c = 2", "a = [1", "a = {x = 1", 'a = "x', "a = 'x\ny'",
    'a = "\\q"', "a = 01", "a = 1__0", "a = 1 b = 2", "[a]\nb = 1\n[a.b]", "[[a]]\n[a]", "a = []\n[[a]]", "a = {}\n[a.b]", "a = 2020-13-01",
    'a = "\\ud800"', 'a = """x', "a = tru", "a = 1979-02-30", "a = \x01", "# \x02", 'a = "x\x03"', "a = { x = 1, }", "a.b = 1\na.b.c = 2",
):  # fmt: skip
    try:
        print(wrong.encode(), tomllib.loads(wrong))
    except tomllib.TOMLDecodeError as error:
        print(wrong.encode(), "TOMLDecodeError", str(error).split(" (at ")[-1])
