#!/usr/bin/python3
"""Writes and reads a matrix of doubles collectively by blocks of columns through h5py; prints lines
as contest.h does. usage: h5_columns.py FILE [--quick]"""
import os
import sys
import time

import h5py
import numpy
from mpi4py import MPI

N = 4096
comm = MPI.COMM_WORLD
quick = "--quick" in sys.argv


def timed(step):
    comm.Barrier()
    start = time.perf_counter()
    step()
    return comm.allreduce(time.perf_counter() - start, MPI.MAX)


def main():
    width = N // comm.size
    columns = slice(comm.rank * width, (comm.rank + 1) * width)
    block = numpy.full((N, width), float(comm.rank))
    with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
        data = file.create_dataset("matrix", (N, N), "f8")

        def write():
            with data.collective:
                data[:, columns] = block

        def read():
            with data.collective:
                data.read_direct(block, numpy.s_[:, columns])

        def read_new():
            with data.collective:
                assert data[:, columns][0, 0] == comm.rank

        for _ in range(2 if quick else 4):
            for op, step in (("write", write), ("read", read), ("read into new memory", read_new)):
                seconds = timed(step)
                if comm.rank == 0:
                    print("h5py", f"h5py {N} x {N} f8 by columns", op, seconds, sep="\t", flush=True)
    if comm.rank == 0:
        os.unlink(sys.argv[1])


main()
