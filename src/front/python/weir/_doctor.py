"""What the library finds on this machine."""
import os

from . import _comm, _weir


def doctor(folder=".", comm=None):
    """What the library finds on this machine and in a folder, and what it will use, as text."""
    return _weir.doctor(os.fsencode(folder), _comm.address(comm))
