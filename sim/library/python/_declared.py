"""What a scenario's `data:` says of folders of pictures and of loaders: counts, shapes and types, and no values."""
import _tidemark
import ast

_told = []


def all_of():
    """name -> what is said of it"""
    if not _told:
        text = dict(_tidemark.environment()).get("TIDEMARK_DATA")
        _told.append({} if text is None else ast.literal_eval(text))
    return _told[0]


def of(name):
    return all_of().get(name)


def folders():
    """the folders of pictures: path -> {"images", "classes", "size"}"""
    return {name: said for name, said in all_of().items() if isinstance(said, dict) and "images" in said}


def _between(text, index):
    """a length of LOW..HIGH: spread evenly over the items, the same in every run"""
    low, high = [int(part) for part in text.split("..")]
    return low + (index + 1) * 2654435761 % 4294967296 * (high - low + 1) // 4294967296


def _sizes(shape, index):
    if isinstance(shape, (int, str)):
        shape = [shape]
    return [_between(n, index) if isinstance(n, str) else n for n in shape]


def item_of(said, index):
    """one item, as it is said: a tensor, a list, a picture, a number or a text, or several of them"""
    if isinstance(said, list):
        return tuple([item_of(each, index) for each in said])
    if said in ("int", "float"):
        import torch

        return torch.empty((), dtype=torch.int64 if said == "int" else torch.float64).item()
    if said == "text":
        return "text"
    if "words" in said:
        return " ".join(["word"] * _sizes(said["words"], index)[0])
    if "image" in said:
        from PIL import Image

        height, width = _sizes(said["image"], index)
        return Image.new(said.get("mode", "RGB"), (width, height))
    if "shape" in said or "list" in said:
        import torch

        sizes = _sizes(said.get("shape", said.get("list")), index)
        made = torch.empty(sizes, dtype=getattr(torch, said.get("dtype", "int64")))
        return made.tolist() if "list" in said else made
    return {name: item_of(each, index) for name, each in said.items()}


def called(name, args, kwargs):
    """what a call of the loader gives"""
    said = of(name)
    _tidemark.note(f"{name} is declared: its counts, shapes and types are known, its values are not")
    if "splits" not in said:
        return Items(said["length"], said["item"])
    splits = {split: Items(length, said["item"]) for split, length in said["splits"].items()}
    wanted = kwargs.get("split")
    if wanted is None:
        return Splits(splits)
    if wanted.partition("[")[0] not in splits:
        raise ValueError(f"Unknown split {wanted!r}. Should be one of {list(splits)}.")
    found = splits[wanted.partition("[")[0]]
    return found if "[" not in wanted else found.select(found._part(wanted.partition("[")[2].rstrip("]")))


class Items:
    """a set of items, with what libraries of data sets do with one"""

    def __init__(self, length, item, places=None, changes=()):
        self._length, self._item, self._changes = length, item, tuple(changes)
        self._places = range(length) if places is None else places

    def __len__(self):
        return len(self._places)

    def _part(self, text):
        low, _, high = text.partition(":")

        def place(part, other):
            if not part:
                return other
            return len(self) * int(part[:-1]) // 100 if part.endswith("%") else int(part)

        return range(place(low, 0), place(high, len(self)))

    def _one(self, place):
        out = item_of(self._item, place)
        for change in self._changes:
            out = change(out, place)
        return out

    def __getitem__(self, index):
        if isinstance(index, str):
            return [item[index] for item in self]
        if isinstance(index, slice) or isinstance(index, (list, tuple)):
            places = self._places[index] if isinstance(index, slice) else [self._places[i] for i in index]
            items = [self._one(place) for place in places]
            if items and isinstance(items[0], dict):
                return {name: [item[name] for item in items] for name in items[0]}
            return items
        return self._one(self._places[int(index)])

    def __iter__(self):
        for place in self._places:
            yield self._one(place)

    @property
    def column_names(self):
        first = self._one(0)
        return list(first) if isinstance(first, dict) else []

    @property
    def features(self):
        return {name: None for name in self.column_names}

    @property
    def num_rows(self):
        return len(self)

    def _with(self, places=None, change=None):
        places = self._places if places is None else places
        return Items(self._length, self._item, places, self._changes if change is None else (*self._changes, change))

    def select(self, indices):
        return self._with([self._places[int(i)] for i in indices])

    def take(self, n):
        return self.select(range(min(n, len(self))))

    def shuffle(self, seed=None, **options):
        return self._with()

    def map(self, function, batched=False, remove_columns=None, with_indices=False, fn_kwargs=None, **options):
        given = fn_kwargs or {}

        def change(item, place):
            more = (place,) if with_indices else ()
            if batched:
                out = function({name: [value] for name, value in item.items()}, *[[m] for m in more], **given)
                out = {name: values[0] for name, values in out.items()}
            else:
                out = function(item, *more, **given)
            removed = [remove_columns] if isinstance(remove_columns, str) else remove_columns or []
            return {**{name: value for name, value in item.items() if name not in removed}, **(out or {})}

        return self._with(change=change)

    def filter(self, function, **options):
        _tidemark.note("a declared data set keeps all items that a filter asks about")
        return self._with()

    def remove_columns(self, column_names):
        names = [column_names] if isinstance(column_names, str) else column_names
        return self._with(change=lambda item, place: {n: value for n, value in item.items() if n not in names})

    def select_columns(self, column_names):
        names = [column_names] if isinstance(column_names, str) else column_names
        return self._with(change=lambda item, place: {n: item[n] for n in names})

    def rename_column(self, original_column_name, new_column_name):
        return self.rename_columns({original_column_name: new_column_name})

    def rename_columns(self, column_mapping):
        return self._with(change=lambda item, place: {column_mapping.get(n, n): value for n, value in item.items()})

    def with_format(self, type=None, columns=None, **options):
        import torch

        def change(item, place):
            kept = item if columns is None else {n: item[n] for n in columns}
            if type != "torch":
                return kept
            is_number = (int, float, list)
            return {n: torch.as_tensor(value) if isinstance(value, is_number) else value for n, value in kept.items()}

        return self._with(change=change)

    def set_format(self, type=None, columns=None, **options):
        self._changes = self.with_format(type, columns)._changes

    def with_transform(self, transform, **options):
        def change(item, place):
            return {n: values[0] for n, values in transform({n: [value] for n, value in item.items()}).items()}

        return self._with(change=change)

    def set_transform(self, transform, **options):
        self._changes = self.with_transform(transform)._changes

    def train_test_split(self, test_size=0.25, **options):
        held = int(len(self) * test_size) if isinstance(test_size, float) else test_size
        places = list(self._places)
        first = len(places) - held
        return Splits({"train": self._with(places[:first]), "test": self._with(places[first:])})


class Splits(dict):
    """data sets by the names of their splits; what is done with all is done with each"""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def of_each(*args, **kwargs):
            return Splits({split: getattr(each, name)(*args, **kwargs) for split, each in self.items()})

        return of_each

    @property
    def column_names(self):
        return {split: each.column_names for split, each in self.items()}
