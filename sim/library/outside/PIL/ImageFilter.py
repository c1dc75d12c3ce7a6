class Filter:
    def __init__(self, *args, **kwargs):
        pass


class GaussianBlur(Filter):
    pass


class BoxBlur(Filter):
    pass


class UnsharpMask(Filter):
    pass


class MedianFilter(Filter):
    pass


class MaxFilter(Filter):
    pass


class MinFilter(Filter):
    pass


class Kernel(Filter):
    pass


BLUR, CONTOUR, DETAIL, EDGE_ENHANCE, EDGE_ENHANCE_MORE, EMBOSS, FIND_EDGES, SHARPEN, SMOOTH, SMOOTH_MORE = [
    Filter() for _ in range(10)
]
