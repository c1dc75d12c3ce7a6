"""NumPy: arrays are tensors of the host."""
import numpy._core as _core
import numpy.dtypes as dtypes
import numpy.linalg as linalg
import numpy.random as random
from numpy._core.multiarray import ndarray
from numpy._core.numerictypes import (
    bool_, dtype, float16, float32, float64, floating, generic, inexact, int16, int32, int64, int8, integer,
    issubdtype, number, signedinteger, uint16, uint32, uint64, uint8, unsignedinteger,
)
from numpy._core.umath import *
from numpy._core.fromnumeric import *
from numpy._core.numeric import *
from numpy._core.einsumfunc import *
from numpy.lib._files import fromfile, genfromtxt, load, loadtxt, memmap, save, savetxt, savez, savez_compressed
from numpy.lib.function_base import *
from numpy.lib.index_tricks import *
from numpy.lib.nanfunctions import *
from numpy.lib.sets_and_counts import *
from numpy.lib.twodim_base import *

int_ = int64
uint = uint64
__version__ = "2.3.5"
