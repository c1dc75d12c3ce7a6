class _RedOpType(str):
    """an operation: its name in lower case"""

    @property
    def name(self):
        return self.upper()

    @property
    def value(self):
        return list(_RED_OPS).index(str(self))

    def __repr__(self):
        return f"<RedOpType.{self.name}: {self.value}>"


_RED_OPS = ("sum", "avg", "product", "min", "max", "band", "bor", "bxor", "premul_sum")


class ReduceOp:
    RedOpType = _RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = [_RedOpType(name) for name in _RED_OPS]
