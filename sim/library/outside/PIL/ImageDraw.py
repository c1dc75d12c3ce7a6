import _tidemark

# What is drawn changes values, which nobody knows.


class ImageDraw:
    def __init__(self, im, mode=None):
        self.im, self.mode = im, mode or im.mode

    def rectangle(self, xy, fill=None, outline=None, width=1):
        pass

    def line(self, xy, fill=None, width=0, joint=None):
        pass

    def ellipse(self, xy, fill=None, outline=None, width=1):
        pass

    def polygon(self, xy, fill=None, outline=None, width=1):
        pass

    def point(self, xy, fill=None):
        pass

    def text(self, xy, text, fill=None, font=None, *args, **kwargs):
        pass


Draw = ImageDraw


def __getattr__(name):
    return _tidemark.later("PIL.ImageDraw." + name)
