"""What goes wrong in the library, as exceptions."""
import builtins
import errno as _errno
import os


class Error(Exception):
    """Something that Weir could not do; on every rank of a collective call the same.

    It is also an OSError where a file or the system is the cause, a ValueError for arguments, a
    MemoryError for memory and budgets. `path`, `offset` and `rank` tell where it arose (None: not
    known), `code` is that of the C interface.
    """

    def __init__(self, text, code=0, path=None, offset=None, rank=None, errno=None):
        super().__init__(text)
        self.text, self.code, self.path = text, code, path
        self.offset, self.rank = offset, rank
        if errno is not None:  # then it is an OSError
            self.errno, self.strerror, self.filename = errno, os.strerror(errno), path

    def __str__(self):
        return self.text

    def __reduce__(self):
        return make, (self.code, getattr(self, "errno", 0) or 0,
                      -1 if self.rank is None else self.rank,
                      -1 if self.offset is None else self.offset, self.path or "", self.text)


class ArgumentError(Error, ValueError):
    """An argument is outside what is accepted, or arguments do not fit together."""


class FormatError(Error, ValueError):
    """A file is not what it should be."""


class BudgetError(Error, MemoryError):
    """Memory does not suffice; the text says what would."""


class StorageError(Error, OSError):
    """The system refused; `errno` says why."""


class NotFoundError(Error, FileNotFoundError):
    """There is no such file."""


class ExistsError(Error, FileExistsError):
    """There is one already."""


class AccessError(Error, PermissionError):
    """The system, or how an array was opened, does not permit it."""


class UnsupportedError(Error, NotImplementedError):
    """Right, but this build or system cannot do it."""


class CommunicationError(Error, RuntimeError):
    """Ranks could not exchange data, or made calls that do not fit together."""


class InterruptedError(Error, builtins.InterruptedError):
    """A rank was interrupted."""


# By code of the C interface: class, and the errno where the system gave none.
_CLASSES = {-1: (ArgumentError, None), -2: (BudgetError, None), -3: (BudgetError, None),
            -4: (ArgumentError, None), -5: (FormatError, None),
            -6: (NotFoundError, _errno.ENOENT), -7: (ExistsError, _errno.EEXIST),
            -8: (AccessError, _errno.EACCES), -9: (StorageError, _errno.ENOSPC),
            -10: (StorageError, _errno.EIO), -11: (CommunicationError, None),
            -12: (CommunicationError, None), -13: (UnsupportedError, None),
            -14: (InterruptedError, _errno.EINTR)}


def make(code, errno, rank, offset, path, text):
    """The exception for a failure, as the extension tells it."""
    kind, usual = _CLASSES.get(code, (Error, None))
    return kind(text, code, path or None, None if offset < 0 else offset,
                None if rank < 0 else rank, errno or usual)


_KINDS = {}


def share(error):
    """An exception that other ranks of a call have, too. Where this rank has it because its arguments
    are wrong, the others have an ArgumentError: it becomes one, and stays what it is."""
    kind = next((kind for kind in (IndexError, TypeError) if isinstance(error, kind)), None)
    if isinstance(error, ValueError) and not isinstance(error, Error):
        kind = ValueError
    if kind and not isinstance(error, Error):
        if kind not in _KINDS:
            _KINDS[kind] = ArgumentError if kind is ValueError else type(
                kind.__name__, (ArgumentError, kind), {"__module__": "weir"})
        error = _KINDS[kind](str(error), -1)
    error._weir_shared = True
    return error
