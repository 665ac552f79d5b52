"""Which processes: None is this one alone, "world" all that mpirun started, or a communicator of
mpi4py's."""
import re

from . import _weir


def address(comm):
    """What the extension finds the communicator by."""
    if comm is None:
        return 0
    if isinstance(comm, str) and comm == "world":
        _weir.start_mpi()
        return 1
    try:
        from mpi4py import MPI
    except ImportError:
        MPI = None
    if MPI is None or not isinstance(comm, MPI.Comm):
        raise TypeError('comm must be None, "world", or a communicator of mpi4py')
    theirs, ours = (text.strip("\0\n") for text in (MPI.Get_library_version(), _weir.mpi_version()))
    if theirs != ours:
        theirs, ours = (" ".join(re.split(r"[,\n]", text)[0].split()) for text in (theirs, ours))
        raise RuntimeError(f"mpi4py uses another MPI ({theirs}) than weir ({ours})")
    return MPI._addressof(comm)
