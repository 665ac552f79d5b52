"""Weir: sections of arrays larger than memory, between files and processes.

    import numpy as np
    import weir

    with weir.create("a.npy", (1000, 600), "f8") as a:
        a[:, 100:200] = np.ones((1000, 100))
    with weir.open("a.npy") as a:
        part = a[::2, 150]

open and create say what an array is; weir.Array how it is read and written, also by all processes of
an MPI program together; slabs walks arrays that do not fit in memory; transpose, matmul, median,
laplace, reduce, copy and fill are operators on whole arrays; plan shows what an access would do.
"""
import atexit as _atexit

from . import _weir
from ._array import Array, LocalArray, LocalArrays, _at_exit, create, open, remove
from ._doctor import doctor
from ._errors import (AccessError, ArgumentError, BudgetError, CommunicationError, Error, ExistsError,
                      FormatError, InterruptedError, NotFoundError, StorageError, UnsupportedError)
from ._operators import (Estimate, Relaxed, Statistics, copy, fill, laplace, matmul, median, reduce,
                         transpose)
from ._plan import Plan, plan
from ._slabs import Slab, Slabs, slabs
from ._weir import Request

__version__ = _weir.version().split()[0]
_atexit.register(_at_exit)

__all__ = ["AccessError", "ArgumentError", "Array", "BudgetError", "CommunicationError", "Error",
           "Estimate", "ExistsError", "FormatError", "InterruptedError", "LocalArray", "LocalArrays",
           "NotFoundError", "Plan", "Relaxed", "Request", "Slab", "Slabs", "Statistics",
           "StorageError", "UnsupportedError", "copy", "create", "doctor", "fill", "laplace", "matmul",
           "median", "open", "plan", "reduce", "remove", "slabs", "transpose"]

for _name in __all__:  # what users see of names is where they find them
    if isinstance(globals()[_name], type) and _name != "Request":
        globals()[_name].__module__ = "weir"
