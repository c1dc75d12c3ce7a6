# Python's regular expressions: what they find, and what they refuse.
import re


def told(what, function):
    try:
        print(what, function())
    except re.error as error:
        print(what, "re.error")
    except Exception as error:
        print(what, type(error).__name__, error)


def shown(match):
    return None if match is None else (match.span(), match.group(), match.groups(), match.lastindex)


for pattern, text in [
    ("a+", "baaa"), ("(a)(b)?", "a"), ("((a)(b))", "ab"), ("(a)|(b)", "b"), ("(a)()", "a"),
    (r"(?P<year>\d{4})-(?P<month>\d\d)", "on 2024-06-01"), (r"(?P<q>['\"])(.*?)(?P=q)", "x='a\"b'"),
    (r"^\s*(\w+)\s*=\s*(.*?)\s*$", "  lr = 1e-3  \n"), (r"\bfoo\b", "a foo b"), (r"\Aab\Z", "ab"), (r"b\Z", "ab\n"),
    ("b$", "ab\n"), ("(?i)ABC", "xabc"), ("(?s)a.b", "a\nb"), ("a.b", "a\nb"), ("(?m)^b$", "a\nb\nc"), ("x{2,}", "axxxb"),
    ("x{,2}y", "xxxy"), ("x{a}", "x{a}"), ("x{1", "x{1"), (r"[\d.-]+", "v1.2-3"), ("[]a]+", "]a]"), ("[^]a]+", "b]a]"),
    ("[[:alpha:]]+", ":a]"), (r"[\]\[]+", "[]"), ("(?=a)a", "a"), ("(?!a).", "ab"), ("(?<=a)b", "ab"), ("(?<!a)b", "abb"),
    ("(?:ab)+", "ababa"), ("(a)?b(?(1)c|d)", "abc"), ("(a)?b(?(1)c|d)", "bd"), ("(?>a+)b", "aaab"), ("a++b", "aaab"),
    (r"(\w)\1", "hello"), (r"\x41\u0042\103", "ABC"), (r"\v\t", "\x0b\t"), ("(?i:a)b", "Ab"), ("(?i:a)b", "AB"),
    ("", "abc"), ("a|", "b"), (r"\.py$", "train.py"), ("é+", "caféé"), (r"\w+", "naïve"), (r"layers\.(\d+)\.(weight|bias)", "layers.12.bias"),
    ("(?x) a b  # a comment\n c", "abc"), ("(?x:a b)c d", "abc d"), (r"(?#comment)a", "a"), (r"a\b*", "a"), ("$", "a\n"),
]:
    told(repr(pattern), lambda: shown(re.search(pattern, text)))

for pattern in ["(", ")", "(a", "[a", "*a", "a**", "a{2,1}", "(?P<1>a)", "(?P<a>a)(?P<a>b)", r"\q", r"(a)\2", r"(?P=x)", "(?q)", "a(?i)b",
                "[b-a]", "\\", "(?<=a*)b", r"[\q]", "(?(2)a|b)", "(?P<a", "x{3}{2}", "^*"]:
    told(repr(pattern), lambda: re.compile(pattern) and "compiled")

print(re.findall(r"\d+", "1 22 333"), re.findall(r"(\w)(\d)", "a1 b2"), re.findall(r"(\w)\d", "a1 b2"))
print(re.findall("", "abc"), re.findall("a*", "baac"), re.findall(r"\b|\w+", "ab cd"))
print(re.split(r"[,;]\s*", "a, b;c"), re.split("(,)", "a,b,c", 1), re.split("x*", "axbc"))
print(re.sub("a", "b", "banana", 2), re.subn("a*", "-", "baac"), re.sub(r"(\w+) (\w+)", r"\2 \1", "one two"))
print(re.sub(r"(?P<n>\d)", r"<\g<n>\g<1>>", "a1"), re.sub("x", r"\\n\n", "x"), re.sub("a", lambda m: m.group().upper(), "banana"))
told("template", lambda: re.sub("a", r"\1", "a"))
told("template escape", lambda: re.sub("a", r"\q", "a"))
told("template name", lambda: re.sub("a", r"\g<b>", "a"))
m = re.match(r"(?P<a>x)(?P<b>y)?", "xz")
print(m.groupdict(), m.lastgroup, m["a"], m.start("a"), m.span("b"), m.group("a", 0), m.expand(r"\g<a>!"), m.re.groups, m.regs)
told("no group", lambda: m.group(3))
p = re.compile(r"^b", re.M)
print([x.span() for x in p.finditer("b\nb\n")], p.search("ab", 1), p.match("b", 0, 0), p.fullmatch("b"), p.pattern, p.flags)
print(re.compile("a", re.I | re.S).flags, re.compile("^", re.M).findall("a\n"), re.escape("a.b*c"), re.compile(p) is p)
print([m.span() for m in re.finditer("é", "aébé")], re.sub("é", "e", "éé"), re.split("é", "aéb"))
print(re.fullmatch("a|ab", "ab"), re.match("a|ab", "ab"), bool(re.match("A", "a", re.I)))
print(len(re.findall(r"\d+", " ".join(str(i) for i in range(2000)))), re.match("(a+)+$", "a" * 12 + "b"))
