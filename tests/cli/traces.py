#!/usr/bin/env python3
"""Writes traces as WEIR_TRACE makes them, of jobs that never ran.
usage: traces.py FOLDER RANKS [JOB [BINS]]

A made job alternates work of its own with collective writes of a checkpoint, through every fourth
rank, the first of which has most to do; it begins with small independent reads of a table. All
figures follow from the ranks' numbers, so equal arguments make equal files."""
import os
import sys

MS = 1_000_000
START = 1_790_000_000_000_000_000


def checkpoint_plan(ranks, aggregators):
    return f"input: write, {ranks} ranks\\nplan: together, {aggregators} aggregators, realms even\\n" \
           "because waiting & <copying> cost less than \"alone\""


def make_bin(b, rank, serves, aggregators, width):
    """What a rank does in a bin: ns by phase, and the cell that it moves bytes of, or None."""
    load = 8 if rank == 0 else 4
    if b < 12:  # the table
        return {"access": (20 + rank % 5) * MS}, ("0 read", (rank * 7 + b * 5) % 61, 40 * 4096)
    if b % 24 < 16:
        return {}, None
    spent, cell = {"exchange": 5 * MS}, None  # a checkpoint
    if serves:
        spent["access"] = min(load * 3, 26) * MS
        cell = ("1 write", (rank // 4 * 64 // aggregators + b // 24 * 8 + b % 24 - 16) % 64, load << 20)
    spent["wait"] = width - 2 * MS - sum(spent.values())
    return spent, cell


def write_rank(folder, job, rank, ranks, bins):
    aggregators = max(1, ranks // 4)
    serves = rank % 4 == 0 and rank // 4 < aggregators
    width, table, size = 32 * MS, 256 << 10, 1 << 36
    out = ["weir-trace 1", f"job {job}", f"rank {rank} {ranks}", f"host node{rank // 16:03d}",
           f"node {rank // 16}", "version 0.2.0 openmpi", "program ocean_model", f"start {START + rank % 7 * MS}",
           f"length {bins * width - 3 * MS}", "complete 1", f"memory {(40 if serves else 2) << 20}",
           f"bins {bins} {width}"]
    cells, total, moved, first, parts = [], {"exchange": 0, "access": 0, "wait": 0}, [0, 0], 0, 0
    for b in range(bins):
        spent, cell = make_bin(b, rank, serves, aggregators, width)
        for name, ns in spent.items():
            out.append(f"time {name} {b} {ns}")
            total[name] += ns
        first += spent.get("access", 0) if b < 12 else 0
        parts += "exchange" in spent
        if cell:
            cells.append(f"cell {cell[0]} {cell[1]} {b} {cell[2]}")
            moved[cell[0] == "1 write"] += cell[2]
    wanted = (8 if rank == 0 else 4) * (1 << 20) * parts * aggregators // ranks
    access, reads = total["access"] - first, 40 * min(bins, 12)
    spent = total["exchange"] + access + total["wait"] + 9 * MS
    out += [f"file 0 {table} /scratch/inputs/table & <b>.dat", f"span 0 {table // 64}",
            f"file 1 {size} /scratch/run 7/checkpoint.h5", f"span 1 {size // 64}", *cells,
            f"call 0 0 read alone blocking {reads} {reads * 512} {moved[0]} {reads} {first + 12 * MS} 0 {first} 0 "
            f"{2 * MS} 0",
            "shape 0 0 0 0 512 4096 none sieve",
            f"call 1 1 write together blocking 8 {wanted} {moved[1]} {moved[1] >> 21} {spent} {total['exchange']} "
            f"{access} {total['wait']} {300 * MS} 0",
            f"shape 1 {aggregators} {2 << 20} {12 if serves else 0} 65536 262144 shm {'rounds' if serves else 'none'}",
            f"plan 1 {checkpoint_plan(ranks, aggregators)}", "plan 0 alone, sieve: 512 bytes of each 4096"]
    if rank:
        out.append(f"waited 0 {total['wait'] * 3 // 4}")
    with open(os.path.join(folder, f"{job}.{rank}.weir"), "w", encoding="utf-8") as f:
        f.write("\n".join(out + ["errors 0", "end", ""]))


if __name__ == "__main__":
    folder, ranks = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    for r in range(ranks):
        write_rank(folder, sys.argv[3] if len(sys.argv) > 3 else "0123456789abcdef", r, ranks,
                   int(sys.argv[4]) if len(sys.argv) > 4 else 200)
