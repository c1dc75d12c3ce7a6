"""characters by name, in texts, formatted texts and bytes"""
print("\N{LATIN SMALL LETTER A}\N{latin small letter e with acute}|\N{GREEK CAPITAL LETTER OMEGA}\N{EM DASH}")
print("\N{RIGHTWARDS ARROW} \N{BOX DRAWINGS LIGHT HORIZONTAL}\N{FULL BLOCK} \N{BULLET}\N{HORIZONTAL ELLIPSIS}")
n = 3
print(f"\N{MULTIPLICATION SIGN}{n}\N{DEGREE SIGN} {n:>4} \N{CHECK MARK}", rf"\N{n}", r"\N{DASH}")
print(f"""\N{GREEK SMALL LETTER ALPHA}{n!r:\N{BULLET}>4}""", "\N{SPACE}\N{TILDE}".encode())
print(b"\N{BULLET}", b"\u0041\U00000041\x41", len(b"\N"))
print(ascii("\N{BLACK STAR}\N{INFINITY}\N{EURO SIGN}\N{TRADE MARK SIGN}\N{LATIN SMALL LETTER Z WITH CARON}"))
print(f"\\\N{BULLET}\\{n}", f"\N{AMPERSAND}{{}}")
