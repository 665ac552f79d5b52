#!/usr/bin/python3
"""Suite `etp`: runs bench_etp once for each MPI-IO of the system and compares.

Each case is compared with the peer whose collective call is the fastest, ours measured in the same
run. Called by run.py with a launcher: etp.py mpirun... -n RANKS [--quick]
"""
import collections
import math
import os
import pathlib
import subprocess
import sys

GOALS = {16: (">=7", ">=4", 1.0), 4: (">=5", ">=3", 1.0), 2: (">=2.5", ">=2.5", 0.9)}
PEERS = {"mpirun.openmpi": ("ompio", "romio321"), "mpiexec.mpich": ("romio",)}


def median(values):
    return sorted(values)[len(values) // 2]


def measure(bin_dir, launcher, peer, quick):
    """{(case, op): [(ours, peer together, peer alone)]}"""
    table = pathlib.Path(__file__).resolve().parent / "cases" / "etp_4k_16procs.tsv"
    file = bin_dir.parent / "bench" / "etp.bin"
    command = [*launcher, str(bin_dir / "bench_etp"), str(table), str(file), *quick]
    environment = {**os.environ, "OMPI_MCA_io": peer}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"etp.py: {peer}: {run.stderr.strip().splitlines()[:1]}")
    times = collections.defaultdict(list)
    for line in run.stdout.splitlines():
        record, case, op, *numbers = line.split("\t")
        if record == "time":
            times[case, op].append(tuple(float(number) for number in numbers))
    return times


def say(*fields):
    print(*fields, sep="\t", flush=True)


def report(runs, ranks):
    """The figures of every case, and their geometric means."""
    ratios = collections.defaultdict(list)
    read_goal, write_goal, least = GOALS.get(ranks, ("-", "-", 0))
    for case, op in next(iter(runs.values())):
        peer = min(runs, key=lambda name: median([t[1] for t in runs[name][case, op]]))
        name = f"{case}, {ranks} ranks"
        say("figure", name, op, "speed", f">={least}" if least else "-", "s", "weir_file_*_all",
            peer)
        for ours, together, _ in runs[peer][case, op]:
            say("sample", name, op, ours, together)
        ratios[op].append(median([t[1] / t[0] for t in runs[peer][case, op]]))
    for op, goal in (("read", read_goal), ("write", write_goal)):
        name = f"geometric mean, {ranks} ranks"
        mean = math.exp(sum(map(math.log, ratios[op])) / len(ratios[op]))
        say("figure", name, op, "value", goal, "times", "weir_file_*_all", "-")
        say("sample", name, op, mean, "-")


def main():
    quick = [word for word in sys.argv[1:] if word == "--quick"]
    launcher = [word for word in sys.argv[1:] if word != "--quick"]
    bin_dir = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
    runs = {peer: measure(bin_dir, launcher, peer, quick) for peer in PEERS[launcher[0]]}
    report(runs, int(launcher[-1]))


if __name__ == "__main__":
    main()
