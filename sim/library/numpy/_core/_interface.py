# What an array tells of its memory.


class Bytes:
    """bytes that are not known"""

    def __init__(self, count):
        self._count = count

    def __len__(self):
        return self._count


def interface_of(array):
    """the strides of an array without gaps are not told"""
    itemsize = array.itemsize
    strides = None if array._t.is_contiguous() else tuple([n * itemsize for n in array._t.stride()])
    typestr = f"{'|' if itemsize == 1 else '<'}{array.dtype.kind}{itemsize}"
    return {"shape": array.shape, "typestr": typestr, "strides": strides, "version": 3}
