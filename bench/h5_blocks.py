#!/usr/bin/python3
"""Reads a matrix of doubles collectively by blocks through h5py; prints lines as contest.h does.
usage: h5_blocks.py FILE [--quick]"""
import os
import sys
import time

import h5py
import numpy
from mpi4py import MPI

N = 4096
comm = MPI.COMM_WORLD


def main():
    rows, columns = MPI.Compute_dims(comm.size, 2)
    place = divmod(comm.rank, columns)
    part = tuple(slice(p * N // n, (p + 1) * N // n) for p, n in zip(place, (rows, columns)))
    block = numpy.full((N // rows, N // columns), 1.5)
    with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
        data = file.create_dataset("matrix", (N, N), "f8")
        with data.collective:
            data[part] = block
        for _ in range(2 if "--quick" in sys.argv else 5):
            comm.Barrier()
            start = time.perf_counter()
            with data.collective:
                data.read_direct(block, part)
            seconds = comm.allreduce(time.perf_counter() - start, MPI.MAX)
            if comm.rank == 0:
                print("blocks", f"{N} x {N} f8 by blocks", "read", seconds, sep="\t", flush=True)
    if comm.rank == 0:
        os.unlink(sys.argv[1])


main()
