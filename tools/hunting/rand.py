"""Choices of a draw: everything comes from one seed."""

import random


class Rand(random.Random):
    def chance(self, p):
        return self.random() < p

    def pick(self, *options):
        return options[self.randrange(len(options))]

    def weighted(self, **weights):
        return self.choices(list(weights), list(weights.values()))[0]

    def some(self, items, least=1, most=None):
        """a few of `items`, in their own order"""
        most = min(most or len(items), len(items))
        chosen = set(self.sample(range(len(items)), self.randint(least, most)))
        return [x for i, x in enumerate(items) if i in chosen]

    def width(self, most=512):
        """a layer's width: mostly round, at times odd"""
        sizes = [w for w in (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024) if w <= most]
        return self.choice(sizes) if self.chance(0.8) else self.randint(3, most)


def indent(text, by=4):
    return "".join(" " * by + line if line.strip() else line for line in text.splitlines(keepends=True))
