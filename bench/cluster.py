#!/usr/bin/python3
"""Suite `cluster`: collective calls between hosts that are namespaces of this machine.

bench_etp and bench_hpio run under tools/cluster, by turns with one peer and the other; in each run
ours and the peer make the same calls by turns. A case is judged against the peer that is faster, in
times of ours in its own run. bench_overlap runs through libweir_mpiio, on storage of a set speed.
"""
import collections
import csv
import os
import pathlib
import re
import select
import subprocess
import sys
import tempfile

import numpy

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import overlap
import peers

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ["WEIR_BENCH_BIN"])
TABLE = HERE / "cases" / "etp_4k_16procs.tsv"
PEERS = peers.PEERS["mpirun.openmpi"]
QUICK = sys.argv[-1] == "--quick"
HOSTS, RANKS = 4, 16
UNABLE = 77  # tools/cluster's status where the machine does not allow it
SILENCE = 100  # seconds after which a run counts as hung
SLOW_LINKS = ["--rate", "10gbit"]
BYTES_CASES = ("table 1 III", "table 2 III", "table 3 III", "table 4 III", "table 5 III",
               "table 6 III")
DENSE = {"64 MiB in turns of 4 KiB": "plain, 1 MiB, and sending all of it",
         "64 MiB in blocks of 4 MiB": "plain, 1 MiB"}
SIDE, ELEMENT = 4096, 4  # of the table's array


class Unable(Exception):
    """The machine does not allow it; the text says why."""


def read_all(process):
    """(what it prints, or has printed when it is killed for its silence, whether that is so)"""
    text = b""
    while select.select([process.stdout], [], [], SILENCE)[0]:
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            return text.decode(), False
        text += piece
    process.kill()
    return text.decode(), True


def start(hosts, ranks, options, program):
    """Runs the program in the folder that hosts share: (its output, errors, what is wrong)"""
    command = [HERE.parent / "tools" / "cluster", str(hosts), str(ranks), *options, "sh", "-c",
               'cd "$CLUSTER_SHARED" && exec "$@"', "sh", *map(str, program)]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as process:
            output, silent = read_all(process)
        said.seek(0)
        errors = said.read()
    if process.returncode == UNABLE:
        raise Unable(errors.strip().splitlines()[-1].partition(": ")[2])
    reasons = re.findall(r"^rank \d+: (.*)", errors, re.MULTILINE)
    if silent or not reasons:
        reasons = [f"silent for {SILENCE} s" if silent else f"exit status {process.returncode}"]
    return output, errors, reasons[0] if process.returncode else None


def must(*arguments):
    """What start returns of a run of ours, which on a busy machine may need a second try."""
    output, errors, wrong = start(*arguments)
    if wrong:
        output, errors, wrong = start(*arguments)
    if wrong:
        sys.exit(f"cluster.py: {wrong}")
    return output, errors


def measure(where, ranks, options, program, passes):
    """{peer: what peers.parse returns, of all passes}. A peer that fails is told, and tried once
    more; what is wrong with ours ends the suite."""
    runs = {peer: collections.defaultdict(list) for peer in PEERS}
    turns, failed = list(PEERS) * (1 if QUICK else passes), []
    for peer in turns:
        if failed.count(peer) == 2:
            continue
        output, _, wrong = start(HOSTS, ranks, [*options, "--export", f"OMPI_MCA_io={peer}"],
                                 [*program, "--cluster", *["--quick"] * QUICK])
        found = peers.parse(output)
        for case, rows in found.items():
            runs[peer][case] += rows
        if not wrong:
            continue
        if not wrong.startswith(("peer", "silent", "exit")):
            sys.exit(f"cluster.py: {where}, with {peer}: {wrong}")
        turns += [peer] * (peer not in failed)
        failed.append(peer)
        last = " ".join(list(found)[-1][1:]) if found else "its start"
        peers.say("note", where, f"{peer}: {wrong} after {last}")
    return runs


def cases_of(runs, part):
    """Of all peers: one may not have come to its end."""
    return list(dict.fromkeys(case for run in runs.values() for case in run if case[0] == part))


def say_case(runs, case, where, goal):
    """Against the faster peer; the median of that."""
    samples = {peer: peers.pairs(runs, [peer], case, peers.PEER) for peer in runs
               if runs[peer].get(case)}
    ratio = {peer: peers.median([theirs / ours for ours, theirs in samples[peer]])
             for peer in samples}
    peer = min(ratio, key=ratio.get)
    peers.say_ratio(f"{case[1]}, {where}", case[2], "speed", goal, peer, samples[peer])
    return ratio[peer]


def say_cases(runs, part, where, goals, least):
    """Each case; the means, whose goals are {figure: (ops, goal)}; the worst."""
    ratios = {case: say_case(runs, case, where, least) for case in cases_of(runs, part)}
    for figure, (ops, goal) in goals.items():
        means = [ratio for case, ratio in ratios.items() if case[2] in ops]
        peers.say_value(f"geometric mean, {where}", figure, goal, "times", peers.NAME,
                        [peers.geometric_mean(means)])
    peers.say_value(f"worst case, {where}", "read and write", least, "times", peers.NAME,
                    [min(ratios.values())])


def report_etp(where, options, read_goal, write_goal, least, passes, table=TABLE):
    runs = measure(where, RANKS, options, [BIN / "bench_etp", table, "etp.bin"], passes)
    goals = {"read": (["read"], read_goal), "write": (["write"], write_goal)}
    say_cases(runs, "etp", where, goals, least)


def report_gluster():
    """Without table 6: there every 4 bytes are a write of their own, as nobody may write back what
    is between them, and its first case has no result within SILENCE."""
    where = f"etp, {HOSTS} hosts, {RANKS} ranks, GlusterFS"
    rows = TABLE.read_text(encoding="utf-8").splitlines(keepends=True)
    peers.say("note", where, "without table 6: ours makes a write for every 4 bytes there, and has "
              f"no result in {SILENCE} s")
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as table:
        table.write("".join(row for row in rows if row[0] != "6"))
        table.flush()
        report_etp(where, ["--fs", "gluster"], ">=2", ">=2", ">=0.9", 1, table.name)


def report_slow_links():
    delay = [*SLOW_LINKS, "--delay", "50us"]
    where = f"etp, {HOSTS} hosts, {RANKS} ranks, 10 Gbit/s"
    try:
        start(1, 1, delay, ["true"])
    except Unable as why:
        peers.say("note", where, f"without the delay of 50 us: {why}")
        delay = SLOW_LINKS
    else:
        where += ", 50 us"
    report_etp(where, delay, ">=3", ">=2.5", ">=1.0", 1)


def report_dense(runs, where):
    """One reference is plain access and then sending the bytes; where each rank has a block of the
    file, nothing needs to be sent."""
    for case in cases_of(runs, "dense"):
        sent = 2 if DENSE[case[1]].endswith("sending all of it") else 1
        samples = [(row[0], sum(row[1:1 + sent])) for run in runs.values() for row in run[case]]
        peers.say_ratio(f"{case[1]}, {where}", case[2], "slowdown", "<=1.5", DENSE[case[1]],
                        samples)


def report_tiny(runs, where):
    for case in cases_of(runs, "tiny"):
        say_case(runs, case, where, "-")
        peers.say_ratio(f"{case[1]}, {where}", "read, against a barrier", "slowdown", "<=3",
                        "MPI_Barrier", peers.pairs(runs, runs, case, peers.PEER + 1))


def report_hpio(ranks):
    where = f"{HOSTS} hosts, {ranks} ranks"
    runs = measure(where, ranks, [], [BIN / "bench_hpio", "hpio.bin"], 1)
    goals = {"read and write": (["read", "write"], ">=3"), "read": (["read"], "-"),
             "write": (["write"], "-")}
    say_cases(runs, "hpio", f"hpio, {where}", goals, ">=1.0")
    report_dense(runs, where)
    if ranks == RANKS:
        report_tiny(runs, where)


def report_overlap():
    program = ["env", f"LD_PRELOAD={BIN.parent / 'lib' / 'libweir_mpiio.so'}",
               "WEIR_FAULT=bandwidth:400", "WEIR_COLLECTIVE=always", BIN / "bench_overlap",
               "overlap.bin", *["--quick"] * QUICK, "--system"]
    run = peers.parse(must(2, 4, [], program)[0])
    for case in run:
        peers.say_value(f"{case[1]}, 2 hosts, 4 ranks, paced", f"efficiency, {case[2]}", ">=0.85",
                        "times", "libweir_mpiio", [overlap.efficiency(row) for row in run[case]])


def least_bytes(section):
    """Those of a section, such as "1+8p:16+8p:1, 1:4096:P", that hosts want, each counted once a
    host, and that are not in the host's own part of the file: realms are even."""
    wanted = numpy.zeros((HOSTS, SIDE, SIDE), dtype=bool)
    for rank in range(RANKS):
        rows, columns = (place(text, rank) for text in section.split(", "))
        wanted[rank * HOSTS // RANKS, columns, rows] = True
    wanted = wanted.reshape(HOSTS, -1)
    anywhere = numpy.flatnonzero(wanted.any(axis=0))
    cuts = numpy.linspace(anywhere[0], anywhere[-1] + 1, HOSTS + 1).astype(int)
    own = sum(int(wanted[host, cuts[host]:cuts[host + 1]].sum()) for host in range(HOSTS))
    return (int(wanted.sum()) - own) * ELEMENT


def place(text, rank):
    """1-based and inclusive "lower:upper:stride" as a slice; a number is a sum as in bench_etp."""
    def value(term):
        number, letter = re.fullmatch(r"(\d*)([pP]?)", term).groups()
        return int(number or 1) * {"p": rank, "P": RANKS, "": 1}[letter]

    lower, upper, stride = (sum(map(value, part.split("+"))) for part in text.split(":"))
    return slice(lower - 1, min(upper, SIDE), stride)


def report_bytes():
    """What ranks say they have sent to other hosts in one call."""
    environment = ["env", "WEIR_LOG=debug", "WEIR_COLLECTIVE=always"]
    with open(TABLE, encoding="utf-8") as table:
        sections = {f"table {row['table']} {row['case']}": row
                    for row in csv.DictReader(table, delimiter="\t")}
    for name in BYTES_CASES[:2] if QUICK else BYTES_CASES:
        program = [*environment, BIN / "bench_etp", TABLE, "etp.bin", "--once", name]
        _, errors = must(HOSTS, RANKS, [], program)
        sent = [list(map(int, re.findall(rf"(\d+) bytes to {what}", errors)))
                for what in ("exchange", "agree")]
        if len(sent[0]) != RANKS:
            sys.exit(f"cluster.py: {name}: {len(sent[0])} of {RANKS} ranks say what they sent")
        where = f"{name}, {sections[name]['op']}, {HOSTS} hosts, {RANKS} ranks"
        peers.say_ratio(where, "bytes between hosts", "slowdown", "<=1.1", "the least",
                        [(sum(sent[0]), least_bytes(sections[name]["section"]))], "bytes")
        peers.say_value(where, "bytes to agree, of open and close, too", "-", "bytes", peers.NAME,
                        [sum(sent[1])])


def main():
    try:
        start(HOSTS, HOSTS, [], ["true"])
    except Unable as why:
        peers.say("note", "all", str(why))
        return
    report_etp(f"etp, {HOSTS} hosts, {RANKS} ranks", [], ">=4", ">=3", ">=1.0", 2)
    report_slow_links()
    for ranks in (RANKS,) if QUICK else (RANKS // 2, RANKS):
        report_hpio(ranks)
    report_overlap()
    report_bytes()
    try:
        report_gluster()
    except Unable as why:
        peers.say("note", "GlusterFS", str(why))


if __name__ == "__main__":
    main()
