from PIL import Image


def _same(image, *args, **kwargs):
    return image.copy()


autocontrast = equalize = flip = mirror = invert = posterize = solarize = exif_transpose = _same


def colorize(image, *args, **kwargs):
    return image.convert("RGB")


def grayscale(image):
    return image.convert("L")


def _border(border):
    if not isinstance(border, (tuple, list)):
        return border, border, border, border
    return tuple(border) if len(border) == 4 else (border[0], border[1], border[0], border[1])


def expand(image, border=0, fill=0):
    left, top, right, bottom = _border(border)
    return Image.new(image.mode, (image.width + left + right, image.height + top + bottom))


def crop(image, border=0):
    left, top, right, bottom = _border(border)
    return image.crop((left, top, image.width - right, image.height - bottom))


def fit(image, size, *args, **kwargs):
    return image.resize(size)


pad = fit


def contain(image, size, *args, **kwargs):
    picture = image.width / image.height
    if picture > size[0] / size[1]:
        return image.resize((size[0], round(image.height / image.width * size[0])))
    return image.resize((round(picture * size[1]), size[1]))


def scale(image, factor, resample=None):
    return image.resize((round(factor * image.width), round(factor * image.height)))
