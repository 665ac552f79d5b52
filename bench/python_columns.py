#!/usr/bin/python3
"""Writes and reads a matrix of doubles collectively by blocks of columns, by weir in a .npy file
and by h5py in turn; prints lines as contest.h does.
usage: python_columns.py PACKAGE FOLDER [--quick]"""
import pathlib
import sys
import time

import h5py
import numpy
from mpi4py import MPI

sys.path.insert(0, sys.argv[1])
import weir

N = 4096
FOLDER = pathlib.Path(sys.argv[2])
QUICK = "--quick" in sys.argv
comm = MPI.COMM_WORLD


def timed(step):
    comm.Barrier()
    start = time.perf_counter()
    step()
    return comm.allreduce(time.perf_counter() - start, MPI.MAX)


def steps(array, read_into):
    """The three accesses of an array that has `collective`."""
    width = N // comm.size
    part = numpy.s_[:, comm.rank * width:(comm.rank + 1) * width]
    block, out = numpy.full((N, width), 1.0 + comm.rank), numpy.zeros((N, width))

    def write():
        with array.collective:
            array[part] = block

    def read():
        with array.collective:
            read_into(part, out)
        assert (out[::100] == block[::100]).all()

    def read_new():
        with array.collective:
            assert array[part][N - 1, 0] == block[0, 0]

    return {"write": write, "read into memory that is there": read, "read": read_new}


def main():
    ours, theirs = FOLDER / "python-columns.npy", FOLDER / "python-columns.h5"
    with weir.create(ours, (N, N), "f8", comm=comm, overwrite=True) as array, \
         h5py.File(theirs, "w", driver="mpio", comm=comm) as file:
        data = file.create_dataset("matrix", (N, N), "f8")
        our_steps = steps(array, lambda part, out: array.read_all(part, out=out))
        their_steps = steps(data, lambda part, out: data.read_direct(out, part))
        for repetition in range(4 if QUICK else 8):
            for op, step in our_steps.items():
                pair = timed(step), timed(their_steps[op])
                if comm.rank == 0 and repetition:  # files get their pages in the first
                    print("columns", f"{N} x {N} f8 by columns", op, *pair, sep="\t", flush=True)
    if comm.rank == 0:
        ours.unlink()
        theirs.unlink()


main()
