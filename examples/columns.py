"""Writes a 128 MiB HDF5 dataset through h5py, each rank a block of columns; prints how long it took.
usage: mpirun -n 4 /usr/bin/python3 columns.py FILE.h5"""
import sys

import h5py
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
    x = file.create_dataset("x", (4096, 4096), "f8")
    n = 4096 // comm.size
    mine = numpy.full((4096, n), comm.rank, "f8")
    comm.Barrier()
    start = MPI.Wtime()
    with x.collective:
        x[:, comm.rank * n : comm.rank * n + n] = mine
    if comm.rank == 0:
        print(f"{MPI.Wtime() - start:.2f} s")
