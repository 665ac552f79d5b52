"""Which processes: None is this one alone, "world" all that mpirun started, or a communicator of
mpi4py's."""
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
    if MPI.Get_library_version().strip("\0\n") != _weir.mpi_version().strip("\0\n"):
        raise RuntimeError(f"mpi4py uses another MPI ({MPI.Get_library_version().split(',')[0]}) "
                           f"than weir ({_weir.mpi_version().split(',')[0]})")
    return MPI._addressof(comm)
