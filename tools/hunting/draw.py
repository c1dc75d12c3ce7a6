"""Draws one case from a seed and a number."""

from . import loop, programs, sequence, tables, vision
from .rand import Rand

KINDS = {"vision": (vision.maker, 4), "sequence": (sequence.maker, 4), "tables": (tables.maker, 3), "programs": (programs.maker, 3)}


def draw(seed, number, only=None, release="2.11"):
    r = Rand("%s/%s" % (seed, number))
    kind = only or r.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    return loop.case_of(r, KINDS[kind][0](r), release)
