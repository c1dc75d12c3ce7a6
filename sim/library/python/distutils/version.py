import re


class Version:
    def __init__(self, vstring=None):
        if vstring:
            self.parse(vstring)

    def __repr__(self):
        return f"{type(self).__name__} ('{self}')"

    def _beside(self, other):
        """-1, 0 or 1, or NotImplemented"""
        if isinstance(other, str):
            other = type(self)(other)
        elif not isinstance(other, type(self)):
            return NotImplemented
        mine, its = self._order(), other._order()
        return 0 if mine == its else -1 if mine < its else 1

    def __eq__(self, other):
        found = self._beside(other)
        return found if found is NotImplemented else found == 0

    def __lt__(self, other):
        found = self._beside(other)
        return found if found is NotImplemented else found < 0

    def __le__(self, other):
        found = self._beside(other)
        return found if found is NotImplemented else found <= 0

    def __gt__(self, other):
        found = self._beside(other)
        return found if found is NotImplemented else found > 0

    def __ge__(self, other):
        found = self._beside(other)
        return found if found is NotImplemented else found >= 0


class LooseVersion(Version):
    def parse(self, vstring):
        self.vstring = vstring
        parts = [part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def _order(self):
        return self.version

    def __str__(self):
        return self.vstring


class StrictVersion(Version):
    def parse(self, vstring):
        found = re.match(r"^(\d+)\.(\d+)(\.(\d+))?([ab](\d+))?$", vstring)
        if found is None:
            raise ValueError(f"invalid version number '{vstring}'")
        major, minor, _, patch, before, number = found.groups()
        self.version = (int(major), int(minor), int(patch or 0))
        self.prerelease = (before[0], int(number)) if before else None

    def _order(self):
        return (self.version, self.prerelease is None, self.prerelease or ("", 0))

    def __str__(self):
        numbers = self.version if self.version[2] else self.version[:2]
        text = ".".join([str(n) for n in numbers])
        return text + self.prerelease[0] + str(self.prerelease[1]) if self.prerelease else text
