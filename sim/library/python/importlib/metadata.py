import _tidemark


class PackageNotFoundError(ModuleNotFoundError):
    def __str__(self):
        return f"No package metadata was found for {self.args[0]}"


# What is part of the program here has no folder that says its release: torch, and what its wheel brings along.
_OWN = {"torch": "torch", "numpy": "numpy", "filelock": "filelock", "fsspec": "fsspec", "jinja2": "jinja2"}


def _plain(name):
    return name.lower().replace("-", "_").replace(".", "_")


class PathDistribution:
    def __init__(self, folder, entry):
        self._folder = folder + "/" + entry
        self._name, _, self.version = entry[:-len(".dist-info/")].partition("-")

    def read_text(self, filename):
        return _tidemark.read_text(self._folder + filename)

    @property
    def metadata(self):
        return PackageMetadata(self.read_text("METADATA") or "")

    @property
    def name(self):
        return self.metadata["Name"] or self._name

    @property
    def requires(self):
        return self.metadata.get_all("Requires-Dist")

    @property
    def entry_points(self):
        return EntryPoints(_entry_points_of(self.read_text("entry_points.txt") or ""))

    def _tops(self):
        listed = self.read_text("top_level.txt")
        if listed is not None:
            return listed.split()
        tops = {}
        for line in (self.read_text("RECORD") or "").splitlines():
            path = line.split(",")[0]
            top = path.partition("/")[0]
            if path.endswith(".py") and not top.endswith("-info") and top != "..":
                tops[top[:-3] if top == path else top] = True
        return list(tops)


class _OwnDistribution(PathDistribution):
    def __init__(self, name):
        self._name = name
        self.version = _tidemark.import_module(name).__version__.partition("+")[0]

    def read_text(self, filename):
        return f"Name: {self._name}\nVersion: {self.version}\n" if filename == "METADATA" else None

    def _tops(self):
        return [self._name]


Distribution = PathDistribution


class PackageMetadata:
    def __init__(self, text):
        self._fields = []
        for line in text.splitlines():
            if not line:
                break
            key, colon, value = line.partition(": ")
            if colon and not line.startswith(" "):
                self._fields.append((key, value))

    def get_all(self, name, failobj=None):
        found = [value for key, value in self._fields if key.lower() == name.lower()]
        return found or failobj

    def get(self, name, default=None):
        return (self.get_all(name) or [default])[0]

    def __getitem__(self, name):
        return self.get(name)

    def __contains__(self, name):
        return self.get_all(name) is not None


class EntryPoint:
    def __init__(self, name, value, group):
        self.name, self.value, self.group = name, value, group
        self.module, _, self.attr = value.partition(":")

    def load(self):
        found = _tidemark.import_module(self.module)
        for part in filter(None, self.attr.split(".")):
            found = getattr(found, part)
        return found

    def __repr__(self):
        return f"EntryPoint(name={self.name!r}, value={self.value!r}, group={self.group!r})"


class EntryPoints(tuple):
    def select(self, **params):
        return EntryPoints([each for each in self if all([getattr(each, k) == v for k, v in params.items()])])

    def get(self, group, default=()):
        return self.select(group=group) or default

    @property
    def groups(self):
        return {each.group for each in self}

    @property
    def names(self):
        return {each.name for each in self}


def _entry_points_of(text):
    out, group = [], ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            group = line[1:-1]
        elif "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            out.append(EntryPoint(name.strip(), value.partition("[")[0].strip(), group))
    return out


def distributions(**kwargs):
    for folder in _tidemark.search_path():
        for entry in _tidemark.list_folder(folder):
            if entry.endswith(".dist-info/"):
                yield PathDistribution(folder, entry)
    for name in _OWN.values():
        if _tidemark.find_module(name) is not None:
            yield _OwnDistribution(name)


def distribution(distribution_name):
    if _plain(distribution_name) in _OWN and _tidemark.find_module(_OWN[_plain(distribution_name)]) is not None:
        return _OwnDistribution(_OWN[_plain(distribution_name)])
    begin = _plain(distribution_name)
    for folder in _tidemark.search_path():
        for entry in _tidemark.list_folder(folder):
            if entry.endswith(".dist-info/") and _plain(entry.partition("-")[0]) == begin:
                return PathDistribution(folder, entry)
    raise PackageNotFoundError(distribution_name)


def version(distribution_name):
    return distribution(distribution_name).version


def metadata(distribution_name):
    return distribution(distribution_name).metadata


def requires(distribution_name):
    return distribution(distribution_name).requires


def files(distribution_name):
    return None


def entry_points(**params):
    found = []
    for each in distributions():
        found.extend(each.entry_points)
    return EntryPoints(found).select(**params)


def packages_distributions():
    out = {}
    for each in distributions():
        for top in each._tops():
            out.setdefault(top, []).append(each.name)
    return out
