from enum import IntEnum
import os
import _files
import _tidemark
import numpy as np
from PIL import _header

# A picture is its mode and its size: nothing on the device depends on more. The values of its pixels are not known.


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


class Dither(IntEnum):
    NONE = 0
    ORDERED = 1
    RASTERIZE = 2
    FLOYDSTEINBERG = 3


class Palette(IntEnum):
    WEB = 0
    ADAPTIVE = 1


NEAREST, BOX, BILINEAR = Resampling.NEAREST, Resampling.BOX, Resampling.BILINEAR
HAMMING, BICUBIC, LANCZOS = Resampling.HAMMING, Resampling.BICUBIC, Resampling.LANCZOS
ANTIALIAS = Resampling.LANCZOS
FLIP_LEFT_RIGHT, FLIP_TOP_BOTTOM = Transpose.FLIP_LEFT_RIGHT, Transpose.FLIP_TOP_BOTTOM
ROTATE_90, ROTATE_180, ROTATE_270 = Transpose.ROTATE_90, Transpose.ROTATE_180, Transpose.ROTATE_270
TRANSPOSE, TRANSVERSE = Transpose.TRANSPOSE, Transpose.TRANSVERSE
AFFINE, EXTENT, PERSPECTIVE = Transform.AFFINE, Transform.EXTENT, Transform.PERSPECTIVE
QUAD, MESH = Transform.QUAD, Transform.MESH
MAX_IMAGE_PIXELS = 89478485

_bands = {
    "1": ("1",),
    "L": ("L",),
    "P": ("P",),
    "I": ("I",),
    "F": ("F",),
    "I;16": ("I",),
    "LA": ("L", "A"),
    "PA": ("P", "A"),
    "RGB": ("R", "G", "B"),
    "YCbCr": ("Y", "Cb", "Cr"),
    "LAB": ("L", "A", "B"),
    "HSV": ("H", "S", "V"),
    "RGBA": ("R", "G", "B", "A"),
    "RGBX": ("R", "G", "B", "X"),
    "CMYK": ("C", "M", "Y", "K"),
}
_kinds = {"1": "bool", "I": "int32", "F": "float32", "I;16": "uint16"}
_by_kind = {"bool": "1", "uint8": "L", "int32": "I", "float32": "F", "float64": "F", "uint16": "I;16"}
_by_depth = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_photograph = (500, 375)


class Image:
    format = None
    format_description = None
    is_animated = False
    n_frames = 1

    def __init__(self, mode="RGB", size=(0, 0)):
        self.mode, self.size, self.info = mode, (int(size[0]), int(size[1])), {}

    def _new(self, size=None, mode=None):
        return Image(mode or self.mode, size or self.size)

    @property
    def width(self):
        return self.size[0]

    @property
    def height(self):
        return self.size[1]

    def getbands(self):
        return _bands[self.mode]

    def __array__(self, dtype=None, copy=None):
        depth = len(self.getbands())
        shape = (self.height, self.width) if depth == 1 else (self.height, self.width, depth)
        return np.empty(shape, dtype=dtype or _kinds.get(self.mode, "uint8"))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def copy(self):
        return self._new()

    def convert(self, mode=None, *args, **kwargs):
        return self._new(mode=mode)

    def quantize(self, *args, **kwargs):
        return self._new(mode="P")

    def resize(self, size, resample=None, box=None, reducing_gap=None):
        return self._new(size)

    def reduce(self, factor, box=None):
        across, down = factor if isinstance(factor, (tuple, list)) else (factor, factor)
        left, top, right, bottom = box or (0, 0, *self.size)
        return self._new(((right - left + across - 1) // across, (bottom - top + down - 1) // down))

    def thumbnail(self, size, resample=Resampling.BICUBIC, reducing_gap=2.0):
        width, height = size
        if width >= self.width and height >= self.height:
            return
        aspect = self.width / self.height
        if width / height >= aspect:
            width = max(1, round(height * aspect))
        else:
            height = max(1, round(width / aspect))
        self.size = (width, height)

    def draft(self, mode, size):
        return None

    def crop(self, box=None):
        if box is None:
            return self._new()
        left, top, right, bottom = [round(edge) for edge in box]
        if right < left:
            raise ValueError("Coordinate 'right' is less than 'left'")
        if bottom < top:
            raise ValueError("Coordinate 'lower' is less than 'upper'")
        return self._new((right - left, bottom - top))

    def rotate(self, angle, resample=Resampling.NEAREST, expand=0, center=None, translate=None, fillcolor=None):
        if not expand or angle % 180 == 0:
            return self._new()
        if angle % 90 == 0:
            return self._new((self.height, self.width))
        import math

        turn = -math.radians(angle % 360.0)
        cosine, sine = round(math.cos(turn), 15), round(math.sin(turn), 15)
        middle = (self.width / 2.0, self.height / 2.0)
        across = cosine * -middle[0] + sine * -middle[1] + middle[0]
        down = -sine * -middle[0] + cosine * -middle[1] + middle[1]
        corners = [(0, 0), (self.width, 0), (self.width, self.height), (0, self.height)]
        xs = [cosine * x + sine * y + across for x, y in corners]
        ys = [-sine * x + cosine * y + down for x, y in corners]
        return self._new((math.ceil(max(xs)) - math.floor(min(xs)), math.ceil(max(ys)) - math.floor(min(ys))))

    def transpose(self, method):
        turns = (Transpose.ROTATE_90, Transpose.ROTATE_270, Transpose.TRANSPOSE, Transpose.TRANSVERSE)
        return self._new((self.height, self.width)) if method in turns else self._new()

    def transform(self, size, method, data=None, resample=Resampling.NEAREST, fill=1, fillcolor=None):
        return self._new(size)

    def filter(self, filter):
        return self._new()

    def point(self, lut, mode=None):
        return self._new(mode=mode)

    def split(self):
        return tuple([self._new(mode="1" if self.mode == "1" else "L") for _ in self.getbands()])

    def getchannel(self, channel):
        return self._new(mode="L")

    def paste(self, im, box=None, mask=None):
        pass

    putpalette = putalpha = putdata = alpha_composite = paste

    def getpalette(self, *args):
        return [0] * 768 if self.mode == "P" else None

    def load(self):
        pass

    close = verify = load

    def seek(self, frame):
        if frame != 0:
            raise EOFError("attempt to seek outside sequence")

    def tell(self):
        return 0

    def save(self, fp, format=None, **params):
        _tidemark.note("pictures that the program saves are not written")

    def show(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__") or name in ("mode", "size", "info"):
            raise AttributeError(name)
        _tidemark.refuse(f"PIL.Image.Image.{name} is not modelled: a picture's values are not known")


def new(mode, size, color=0):
    return Image(mode, size)


def fromarray(obj, mode=None):
    shape = [int(n) for n in obj.shape]
    if mode is None:
        if len(shape) == 2:
            mode = _by_kind.get(str(obj.dtype))
        elif len(shape) == 3:
            mode = _by_depth.get(shape[2])
        if mode is None:
            raise TypeError(f"Cannot handle this data type: {tuple(shape[2:])}, {obj.dtype}")
    return Image(mode, (shape[1], shape[0]))


def frombuffer(mode, size, data, decoder_name="raw", *args):
    return Image(mode, size)


frombytes = frombuffer


def open(fp, mode="r", formats=None):
    """a picture's mode and size, of its file's header"""
    path = getattr(fp, "name", None) if hasattr(fp, "read") else fp
    if isinstance(path, (str, os.PathLike)) and _files.declared_size(path) is not None:
        height, width = _files.declared_size(path)
        return Image("RGB", (width, height))
    if isinstance(path, (str, os.PathLike)):
        if path is fp and not os.path.exists(path):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        found = _header.mode_and_size(path)
        if found is not None:
            return Image(*found)
    width, height = _photograph
    _tidemark.note(f"a picture that cannot be read is taken to be {width} by {height}, RGB")
    return Image("RGB", _photograph)


def merge(mode, bands):
    return Image(mode, bands[0].size)


def blend(im1, im2, alpha):
    return im1.copy()


alpha_composite = composite = lambda im1, im2, *rest: im1.copy()


def register_open(*args, **kwargs):
    pass


register_extension = register_mime = register_save = init = preinit = register_open


def __getattr__(name):
    return _tidemark.later("PIL.Image." + name)
