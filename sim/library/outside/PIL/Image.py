import _tidemark
from enum import IntEnum


class Resampling(IntEnum):
    NEAREST = 0
    BOX = 4
    BILINEAR = 2
    HAMMING = 5
    BICUBIC = 3
    LANCZOS = 1


class Transpose(IntEnum):
    FLIP_LEFT_RIGHT = 0
    FLIP_TOP_BOTTOM = 1
    ROTATE_90 = 2
    ROTATE_180 = 3
    ROTATE_270 = 4
    TRANSPOSE = 5
    TRANSVERSE = 6


class Transform(IntEnum):
    AFFINE = 0
    EXTENT = 1
    PERSPECTIVE = 2
    QUAD = 3
    MESH = 4


NEAREST, BOX, BILINEAR = Resampling.NEAREST, Resampling.BOX, Resampling.BILINEAR
HAMMING, BICUBIC, LANCZOS = Resampling.HAMMING, Resampling.BICUBIC, Resampling.LANCZOS
FLIP_LEFT_RIGHT, FLIP_TOP_BOTTOM = Transpose.FLIP_LEFT_RIGHT, Transpose.FLIP_TOP_BOTTOM
AFFINE, EXTENT, PERSPECTIVE = Transform.AFFINE, Transform.EXTENT, Transform.PERSPECTIVE
MAX_IMAGE_PIXELS = 89478485


class Image:
    def __init__(self):
        _tidemark.refuse("PIL.Image.Image is not modelled", "make the tensor that the picture would become")


def __getattr__(name):
    return _tidemark.later("PIL.Image." + name)
