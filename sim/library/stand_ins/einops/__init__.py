import math
import torch


class EinopsError(RuntimeError):
    pass


class _Pattern:
    """ "left -> right", read once: on each side groups of axes, a bare axis being a group of one.

    The calls that are made of it, and when each is left out: einops 0.8's _reconstruct_from_shape
    and its backend for torch.
    """

    def __init__(self, pattern, operation, names):
        self.pattern, self.operation = pattern, operation
        if pattern.count("->") != 1:
            self.fail("a pattern has one '->'")
        left, right = pattern.split("->")
        self.numbers = {}
        self.left, self.right = self.groups(left, "left"), self.groups(right, "right")
        given, taken = self.axes(self.left), self.axes(self.right)
        if "..." in taken and "..." not in given:
            self.fail("an ellipsis on the right alone")
        if any("..." in group and len(group) > 1 for group in self.left) or ["...", None] in self.left:
            self.fail("an ellipsis in parentheses on the left")
        known = set(given) | set(taken)
        for name in names:
            if name not in known:
                self.fail("Axis " + name + " is not used in transform")
        only_left = [axis for axis in given if axis not in taken]
        only_right = [axis for axis in taken if axis not in given]
        if operation == "rearrange" and (only_left or only_right):
            self.fail(
                "Identifiers only on one side of expression (should be on both): " + str(set(only_left + only_right))
            )
        if operation == "repeat" and only_left:
            self.fail("Unexpected identifiers on the left side of repeat: " + str(set(only_left)))
        if operation == "repeat" and [a for a in only_right if a not in names and a not in self.numbers]:
            self.fail("Specify sizes for new axes in repeat")
        if operation not in ("rearrange", "repeat") and only_right:
            self.fail("Unexpected identifiers on the right side of reduce: " + str(set(only_right)))

    def fail(self, what):
        raise EinopsError(
            " Error while processing " + str(self.operation) + '-reduction pattern "' + self.pattern + '".\n ' + what
        )

    def groups(self, text, side):
        out, inside, seen = [], None, set()
        for word in text.replace("(", " ( ").replace(")", " ) ").replace("\u2026", "...").split():
            if word == "(":
                if inside is not None:
                    self.fail("Axis composition is one-level (brackets inside brackets not allowed)")
                inside = []
            elif word == ")":
                if inside is None:
                    self.fail("Brackets are not balanced")
                out.append(inside + [None] if inside == ["..."] else inside)
                inside = None
            else:
                if word.isdecimal():
                    number = int(word)
                    if number < 1:
                        self.fail("Anonymous axis should have positive length, not " + word)
                    word = side + " " + str(len(self.numbers))
                    axes = [word] if number > 1 else []
                    if number > 1:
                        self.numbers[word] = number
                else:
                    if word != "..." and not word.isidentifier():
                        self.fail("Invalid axis identifier: " + word)
                    if word in seen:
                        self.fail("Indexing expression contains duplicate dimension \"" + word + "\"")
                    seen.add(word)
                    axes = [word]
                if inside is None:
                    out.append(axes)
                else:
                    inside.extend(axes)
        if inside is not None:
            self.fail("Imbalanced parentheses")
        return out

    def axes(self, groups):
        return [axis for group in groups for axis in group if axis is not None]

    def spread(self, groups, hidden):
        """with the axes that an ellipsis stands for: each alone, or all in one group where it is in parentheses"""
        out = []
        for group in groups:
            if group == ["..."]:
                out.extend([axis] for axis in hidden)
            else:
                out.append([a for axis in group if axis is not None for a in (hidden if axis == "..." else [axis])])
        return out

    def __call__(self, tensor, sizes):
        shape = tensor.shape
        rank = len(self.left)
        if ["..."] in self.left:
            if len(shape) < rank - 1:
                self.fail(
                    "Wrong shape: expected >=" + str(rank - 1) + " dims. Received " + str(len(shape)) + "-dim tensor."
                )
            hidden = ["..." + str(i) for i in range(len(shape) - rank + 1)]
        else:
            if len(shape) != rank:
                self.fail("Wrong shape: expected " + str(rank) + " dims. Received " + str(len(shape)) + "-dim tensor.")
            hidden = []
        left, right = self.spread(self.left, hidden), self.spread(self.right, hidden)
        lengths = {**self.numbers, **sizes}
        for group, length in zip(left, shape):
            unknown = [axis for axis in group if axis not in lengths]
            product = math.prod([lengths[axis] for axis in group if axis in lengths])
            if len(unknown) > 1:
                self.fail("Could not infer sizes for " + str(set(unknown)))
            if not unknown and product != length:
                self.fail("Shape mismatch, " + str(length) + " != " + str(product))
            if unknown:
                if length % product != 0:
                    self.fail(
                        "Shape mismatch, can't divide axis of length " + str(length) + " in chunks of " + str(product)
                    )
                lengths[unknown[0]] = length // product
        given, taken = self.axes(left), self.axes(right)
        kept, reduced = [axis for axis in taken if axis in given], [axis for axis in given if axis not in taken]
        order = [given.index(axis) for axis in kept + reduced]
        if any(len(group) != 1 for group in left):
            tensor = tensor.reshape([lengths[axis] for axis in given])
        if order != list(range(len(order))):
            tensor = tensor.permute(order)
        if reduced:
            tensor = self.reduced(tensor, tuple(range(len(kept), len(given))))
        added = [(i, lengths[axis]) for i, axis in enumerate(taken) if axis not in given]
        if added:
            repeats = [-1] * len(taken)
            for position, length in added:
                tensor = torch.unsqueeze(tensor, position)
                repeats[position] = length
            tensor = tensor.expand(repeats)
        if any(len(group) != 1 for group in right):
            tensor = tensor.reshape([math.prod([lengths[axis] for axis in group]) for group in right])
        return tensor

    def reduced(self, tensor, dims):
        if not isinstance(self.operation, str):
            return self.operation(tensor, dims)
        if self.operation in ("min", "max"):
            return getattr(tensor, "a" + self.operation)(dim=dims)
        if self.operation in ("sum", "mean"):
            return getattr(tensor, self.operation)(dim=dims)
        if self.operation not in ("prod", "any", "all"):
            self.fail("Unknown reduction " + self.operation)
        for dim in reversed(dims):
            tensor = getattr(tensor, self.operation)(dim=dim)
        return tensor


def reduce(tensor, pattern, reduction, **axes_lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    return _Pattern(pattern, reduction, axes_lengths)(tensor, axes_lengths)


def rearrange(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, "rearrange", **axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, "repeat", **axes_lengths)


def parse_shape(x, pattern):
    names = pattern.split()
    if "..." in names:
        at = names.index("...")
        names[at:at + 1] = ["_"] * (len(x.shape) - len(names) + 1)
    if len(names) != len(x.shape):
        raise RuntimeError(
            "Can't parse shape with different number of dimensions: " + pattern + " " + str(tuple(x.shape))
        )
    return {name: length for name, length in zip(names, x.shape) if name != "_"}


def einsum(*tensors_and_pattern):
    *tensors, pattern = tensors_and_pattern
    letters = {}

    def short(side):
        for name in side.split():
            if name != "..." and name not in letters:
                letters[name] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)]
        return "".join([name if name == "..." else letters[name] for name in side.split()])

    left, right = pattern.split("->")
    sides = ",".join([short(side) for side in left.split(",")])
    return torch.einsum(sides + "->" + short(right), *tensors)


def pack(tensors, pattern):
    names = pattern.split()
    before, after = names.index("*"), len(names) - names.index("*") - 1
    reshaped, shapes = [], []
    for tensor in tensors:
        shape = tensor.shape
        end = len(shape) - after
        if end < before:
            raise EinopsError("packed tensor has too few axes for the pattern " + pattern)
        shapes.append(shape[before:end])
        reshaped.append(tensor.reshape((*shape[:before], -1, *shape[end:])))
    return torch.cat(reshaped, dim=before), shapes


def unpack(tensor, packed_shapes, pattern):
    at = pattern.split().index("*")
    shape = tensor.shape
    lengths = [-1 if -1 in p else math.prod(p) for p in packed_shapes]
    if -1 in lengths:
        lengths[lengths.index(-1)] = shape[at] - sum([n for n in lengths if n != -1])
    out, start = [], 0
    for length, packed in zip(lengths, packed_shapes):
        part = tensor[(*[slice(None)] * at, slice(start, start + length))]
        out.append(part.reshape((*shape[:at], *packed, *shape[at + 1:])))
        start += length
    return out


def asnumpy(tensor):
    return tensor.detach().cpu().numpy()
