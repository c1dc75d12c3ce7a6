from triton.language.extra.libdevice import *
