from triton.language.extra import cuda, libdevice
