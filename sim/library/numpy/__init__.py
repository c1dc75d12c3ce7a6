"""NumPy: arrays are tensors of the host."""
import numpy._core as _core
import numpy.dtypes as dtypes
import numpy.linalg as linalg
import numpy.random as random
import numpy.testing as testing
from numpy._core.multiarray import ndarray
from numpy._core.numerictypes import (
    bool_, dtype, float16, float32, float64, floating, generic, inexact, int16, int32, int64, int8, integer,
    issubdtype, number, signedinteger, uint16, uint32, uint64, uint8, unsignedinteger,
)
from numpy._core.umath import *
from numpy._core.fromnumeric import *
from numpy._core.numeric import *
from numpy._core.einsumfunc import *
from numpy.lib._files import (
    frombuffer, fromfile, genfromtxt, load, loadtxt, memmap, save, savetxt, savez, savez_compressed,
)
from numpy.lib.function_base import *
from numpy.lib.index_tricks import *
from numpy.lib.nanfunctions import *
from numpy.lib.sets_and_counts import *
from numpy.lib.twodim_base import *

int_ = long = longlong = int64
uint = ulong = ulonglong = uintp = uint64
byte, short, intc, ubyte, ushort, uintc = int8, int16, int32, uint8, uint16, uint32
half, single, double = float16, float32, float64
bool = bool_
__version__ = "2.3.5"
