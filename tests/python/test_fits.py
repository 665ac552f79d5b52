"""Weir's arrays where others take arrays."""
import numpy as np
import pytest

import weir


def test_dask(saved):
    da = pytest.importorskip("dask.array")
    x = np.arange(600.0).reshape(20, 30)
    with weir.open(saved(x)) as a:
        d = da.from_array(a, chunks=(6, 7))
        assert np.array_equal(d.compute(), x) and d.sum().compute() == x.sum()
        assert np.array_equal(d[::3, [1, 5, 2]].compute(), x[::3, [1, 5, 2]])
        assert np.array_equal(d.T.dot(d).compute(scheduler="processes", num_workers=2), x.T @ x)
        assert da.from_array(a, chunks=5).name == da.from_array(a, chunks=5).name


def test_dask_chunks(tmp_path):
    da = pytest.importorskip("dask.array")
    with weir.create(tmp_path / "a.zarr", (20, 30), "f8", chunks=(10, 5)) as a:
        a[...] = 3
    with weir.open(tmp_path / "a.zarr") as a:
        d = da.from_array(a)
        assert d.mean().compute() == 3
    with weir.create(tmp_path / "b.npy", (20, 30), "f8") as b:
        da.ones((20, 30), chunks=(7, 8)).store(b, lock=False)
        assert (b[...] == 1).all()


def test_xarray(saved, tmp_path):
    xarray = pytest.importorskip("xarray")
    x = np.arange(60.0).reshape(3, 4, 5)
    with xarray.open_dataset(saved(x), engine="weir") as data:
        assert list(data) == ["x"] and data.x.dims == ("dim_0", "dim_1", "dim_2")
        assert np.array_equal(data.x[1, ::2, [0, 3]].values, x[1, ::2, [0, 3]].T)
        assert np.array_equal(data.x.isel(dim_0=[2, 0], dim_2=slice(None, None, -1)).values,
                              x[[2, 0], :, ::-1])
        assert data.x.mean().item() == x.mean()
        assert np.array_equal(data.x.isel(dim_0=xarray.DataArray([0, 1], dims="p"),
                                          dim_1=xarray.DataArray([2, 3], dims="p")).values,
                              x[[0, 1], [2, 3]])
        lazy = data.chunk({"dim_0": 1})
        assert np.array_equal(lazy.x.sum("dim_0").values, x.sum(0))


def test_xarray_of_netcdf(tmp_path):
    xarray = pytest.importorskip("xarray")
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("lat", 3)
        file.createDimension("lon", 4)
        v = file.createVariable("temperature", "f4", ("lat", "lon"))
        v.units = "K"
        v[...] = np.arange(12).reshape(3, 4)
    with xarray.open_dataset(f"{tmp_path}/a.nc:/temperature", engine="weir") as data:
        assert data.temperature.dims == ("lat", "lon") and data.temperature.attrs["units"] == "K"
        assert data.temperature.sel(lat=1).sum() == 22


def test_numpy_functions(saved):
    x = np.arange(12.0).reshape(3, 4)
    with weir.open(saved(x)) as a:
        assert np.sum(a) == x.sum() and np.array_equal(np.add(a, 1), x + 1)
        assert np.array_equal(np.concatenate([a, a]), np.concatenate([x, x]))
