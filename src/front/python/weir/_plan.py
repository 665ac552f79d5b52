"""What an access would do, and why."""
import numpy as np

from . import _index, _weir

_FORMS = ("blocking", "split", "nonblocking")


class Plan:
    """Prints as text, and draws itself in a notebook; save("plan.svg") writes the picture."""

    def __init__(self, text, svg):
        self.text, self.svg = text, svg

    def __str__(self):
        return self.text.rstrip("\n")

    __repr__ = __str__

    def _repr_svg_(self):
        return self.svg

    def save(self, path):
        """Writes the picture."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def plan(array, sections, write=False, *, dtype="f8", order="C", ranks=None, alone=False,
         form="blocking", ranks_per_node=0, cores=0, hints=None):
    """The plan of an access of an array by several ranks, which is not made.

    `array` is a weir.Array without chunks, or a shape, of `dtype` and `order`. `sections` has what
    each rank wants, None for nothing; or it is a function of the rank, and `ranks` says how many
    there are:

        weir.plan((4096, 4096), lambda p: np.s_[:, 1024 * p:1024 * p + 512], ranks=4)
    """
    if isinstance(array, _weir.Array):
        if array.chunks:
            raise NotImplementedError("plans of arrays in chunks are not shown")
        shape, dtype, order = array.shape, array.dtype, array.order
    else:
        shape = tuple(int(n) for n in array)
    if callable(sections):
        if ranks is None:
            raise TypeError("ranks is needed where sections is a function")
        sections = [sections(rank) for rank in range(ranks)]
    if form not in _FORMS:
        raise ValueError(f"form must be one of {', '.join(_FORMS)}, not {form!r}")
    keys = tuple(None if key is None else _index.outer_key(key, shape) for key in sections)
    return Plan(*_weir.plan(shape, np.dtype(dtype).itemsize, order == "F", keys, write, alone,
                            _FORMS.index(form), ranks_per_node, cores, hints))
