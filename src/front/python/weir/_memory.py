"""Amounts of memory as people write them."""
import re

_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse(memory):
    """Bytes: an integer, or text such as "256M"; None is 0, the library's choice."""
    if memory is None:
        return 0
    if isinstance(memory, str):
        match = re.fullmatch(r"(\d+)([KMGT]?)(i?B)?", memory.strip())
        if not match:
            raise ValueError(f'memory must be a number of bytes, or such as "256M", not {memory!r}')
        return int(match[1]) << _UNITS[match[2]]
    return int(memory)
