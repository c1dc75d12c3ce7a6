import _tidemark

RawValue, RawArray, Value, Array, copy, synchronized, SynchronizedBase, Synchronized, SynchronizedArray = [
    _tidemark.later("multiprocessing.sharedctypes." + name)
    for name in (
        "RawValue", "RawArray", "Value", "Array", "copy", "synchronized", "SynchronizedBase", "Synchronized",
        "SynchronizedArray",
    )
]
