from collections import namedtuple

__all__ = ["get_close_matches", "Match", "SequenceMatcher", "unified_diff"]

Match = namedtuple("Match", "a b size")


class SequenceMatcher:
    """what two sequences have in common: the longest run first, then what lies on either side of it"""

    def __init__(self, isjunk=None, a="", b="", autojunk=True):
        self.isjunk, self.autojunk = isjunk, autojunk
        self.a = self.b = None
        self.set_seqs(a, b)

    def set_seqs(self, a, b):
        self.set_seq1(a)
        self.set_seq2(b)

    def set_seq1(self, a):
        self.a = a
        self.matching_blocks = self.opcodes = None

    def set_seq2(self, b):
        self.b = b
        self.matching_blocks = self.opcodes = self.fullbcount = None
        places = {}
        for i, each in enumerate(b):
            places.setdefault(each, []).append(i)
        self.bjunk = set() if self.isjunk is None else {each for each in places if self.isjunk(each)}
        most = len(b) // 100 + 1
        often = self.autojunk and len(b) >= 200
        self.bpopular = {each for each, at in places.items() if often and len(at) > most} - self.bjunk
        self.b2j = {each: at for each, at in places.items() if each not in self.bjunk and each not in self.bpopular}

    def find_longest_match(self, alo=0, ahi=None, blo=0, bhi=None):
        a, b = self.a, self.b
        ahi, bhi = len(a) if ahi is None else ahi, len(b) if bhi is None else bhi
        i, j, size = alo, blo, 0
        lengths = {}
        for at in range(alo, ahi):
            longer = {}
            for place in self.b2j.get(a[at], ()):
                if blo <= place < bhi:
                    longer[place] = count = lengths.get(place - 1, 0) + 1
                    if count > size:
                        i, j, size = at - count + 1, place - count + 1, count
            lengths = longer
        for junk in (False, True):
            while i > alo and j > blo and (b[j - 1] in self.bjunk) == junk and a[i - 1] == b[j - 1]:
                i, j, size = i - 1, j - 1, size + 1
            while i + size < ahi and j + size < bhi and (b[j + size] in self.bjunk) == junk and (
                a[i + size] == b[j + size]
            ):
                size += 1
        return Match(i, j, size)

    def get_matching_blocks(self):
        if self.matching_blocks is not None:
            return self.matching_blocks
        waiting, found = [(0, len(self.a), 0, len(self.b))], []
        while waiting:
            alo, ahi, blo, bhi = waiting.pop()
            i, j, size = match = self.find_longest_match(alo, ahi, blo, bhi)
            if size:
                found.append(match)
                if alo < i and blo < j:
                    waiting.append((alo, i, blo, j))
                if i + size < ahi and j + size < bhi:
                    waiting.append((i + size, ahi, j + size, bhi))
        joined = []
        for i, j, size in sorted(found):
            if joined and joined[-1].a + joined[-1].size == i and joined[-1].b + joined[-1].size == j:
                last = joined.pop()
                joined.append(Match(last.a, last.b, last.size + size))
            else:
                joined.append(Match(i, j, size))
        self.matching_blocks = [*joined, Match(len(self.a), len(self.b), 0)]
        return self.matching_blocks

    def get_opcodes(self):
        if self.opcodes is None:
            self.opcodes, i, j = [], 0, 0
            for at, place, size in self.get_matching_blocks():
                if i < at or j < place:
                    tag = "insert" if i == at else "delete" if j == place else "replace"
                    self.opcodes.append((tag, i, at, j, place))
                i, j = at + size, place + size
                if size:
                    self.opcodes.append(("equal", at, i, place, j))
        return self.opcodes

    def get_grouped_opcodes(self, n=3):
        codes = list(self.get_opcodes()) or [("equal", 0, 1, 0, 1)]
        if codes[0][0] == "equal":
            tag, i1, i2, j1, j2 = codes[0]
            codes[0] = tag, max(i1, i2 - n), i2, max(j1, j2 - n), j2
        if codes[-1][0] == "equal":
            tag, i1, i2, j1, j2 = codes[-1]
            codes[-1] = tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n)
        group = []
        for tag, i1, i2, j1, j2 in codes:
            if tag == "equal" and i2 - i1 > 2 * n:
                group.append((tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n)))
                yield group
                group, i1, j1 = [], max(i1, i2 - n), max(j1, j2 - n)
            group.append((tag, i1, i2, j1, j2))
        if group and not (len(group) == 1 and group[0][0] == "equal"):
            yield group

    def ratio(self):
        return _ratio(sum([match.size for match in self.get_matching_blocks()]), self)

    def quick_ratio(self):
        left = {}
        for each in self.b:
            left[each] = left.get(each, 0) + 1
        common = 0
        for each in self.a:
            if left.get(each, 0) > 0:
                left[each] -= 1
                common += 1
        return _ratio(common, self)

    def real_quick_ratio(self):
        return _ratio(min(len(self.a), len(self.b)), self)


def _ratio(common, matcher):
    length = len(matcher.a) + len(matcher.b)
    return 2.0 * common / length if length else 1.0


def get_close_matches(word, possibilities, n=3, cutoff=0.6):
    if not n > 0:
        raise ValueError(f"n must be > 0: {n!r}")
    if not 0.0 <= cutoff <= 1.0:
        raise ValueError(f"cutoff must be in [0.0, 1.0]: {cutoff!r}")
    matcher, found = SequenceMatcher(), []
    matcher.set_seq2(word)
    for each in possibilities:
        matcher.set_seq1(each)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff and matcher.ratio() >= cutoff:
            found.append((matcher.ratio(), each))
    return [each for _, each in sorted(found, reverse=True)[:n]]


def _range(start, stop):
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def unified_diff(a, b, fromfile="", tofile="", fromfiledate="", tofiledate="", n=3, lineterm="\n"):
    started = False
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(n):
        if not started:
            started = True
            for sign, name, date in (("---", fromfile, fromfiledate), ("+++", tofile, tofiledate)):
                yield f"{sign} {name}" + (f"\t{date}" if date else "") + lineterm
        yield f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@{lineterm}"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from [" " + line for line in a[i1:i2]]
                continue
            yield from ["-" + line for line in a[i1:i2]]
            yield from ["+" + line for line in b[j1:j2]]
