"""xarray.open_dataset(name, engine="weir"): a dataset with one variable, read when it is needed."""
import os

import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from . import _array


class _Variable(BackendArray):
    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER,
                                                  lambda key: self.array.oindex[key])


class WeirBackend(BackendEntrypoint):
    """Any array that weir.open opens."""

    description = "arrays by Weir: .npy, Zarr, HDF5, NetCDF, raw files"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "variable", "hints")

    def open_dataset(self, filename_or_obj, *, drop_variables=None, variable=None, hints=None):
        array = _array.open(filename_or_obj, hints=hints)
        if variable is None:
            variable = os.path.basename(array.path).split(".")[0] or "array"
            if ":/" in array.path:
                variable = array.path.rpartition("/")[2]
        names = array.dims or (None,) * array.ndim
        dims = [name or f"dim_{i}" for i, name in enumerate(names)]
        data = indexing.LazilyIndexedArray(_Variable(array))
        made = {} if variable in (drop_variables or ()) else {
            variable: xarray.Variable(dims, data, dict(array.attrs))}
        dataset = xarray.Dataset(made)
        dataset.set_close(array.close)
        return dataset

    def guess_can_open(self, filename_or_obj):
        return False
