#!/usr/bin/python3
"""Runs the benchmark suites of suites.txt and reports their figures.

A suite program prints tab-separated records on stdout:
    figure  case  figure  kind  goal  unit  ours-name  reference-name
    sample  case  figure  ours  reference
    note    case  text
kind: speed (reference / ours), slowdown (ours / reference) or value (ours, no reference).
goal: an operator and a number, judged on the median of the samples, or `-` for none.
"""
import argparse
import math
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # keeps __pycache__ out of the source folder
import report

HERE = pathlib.Path(__file__).resolve().parent
LAUNCH = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n"],
    "mpich": ["mpiexec.mpich", "-n"],
}
MOST_RANKS = {"openmpi": 1024, "mpich": 2}  # MPICH polls: with more ranks than cores it times itself
ENVIRONMENT = {
    "openmpi": {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "WEIR_COSTS_FOLDER": "none"},
    "mpich": {"WEIR_COSTS_FOLDER": "none"},
}
RATIO = {
    "speed": lambda ours, reference: reference / ours,
    "slowdown": lambda ours, reference: ours / reference,
}


class Failed(Exception):
    """Why a suite has no result; from Suite, what is wrong with its output."""


def read_suites(path):
    """{name: (command, title)} in the order of the file."""
    suites = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            parts = [part.strip() for part in line.split("|")]
            if len(parts) != 3 or not all(parts) or parts[0] in suites:
                sys.exit(f"run.py: {path.name}: bad line: {line}")
            suites[parts[0]] = parts[1:]
    return suites


def expand(command, mpi, bin_dir):
    """The argument lists, one for each number of ranks in {mpirun N,N...}; the first word that is
    not a launcher is a program of bin_dir, or a script of this folder."""
    launcher = re.search(r"\{mpirun +([\d,]+)\}", command)
    if launcher:
        return [args for ranks in launcher[1].split(",") if int(ranks) <= MOST_RANKS[mpi]
                for args in expand(command.replace(launcher[0], "\0" + ranks), mpi, bin_dir)]
    args, found = [], False
    for word in command.split():
        if word.startswith("\0"):
            args += LAUNCH[mpi] + [word[1:]]
        else:
            folder = HERE if word.endswith(".py") else bin_dir
            args.append(word if found else str(folder / word))
            found = True
    return [args]


def number(text, positive):
    try:
        value = float(text)
    except ValueError:
        raise Failed(f"not a number: {text}") from None
    if not math.isfinite(value) or (positive and value <= 0):
        raise Failed(f"not a {'positive' if positive else 'finite'} number: {text}")
    return value


class Suite:
    """The records of one suite, checked line by line as they arrive."""

    def __init__(self, name):
        self.name = name
        self.figures = {}  # (case, figure): its declared fields
        self.samples = {}  # (case, figure): [(ours, reference)]
        self.notes = []

    def add(self, line):
        record, *fields = line.split("\t")
        lengths = {"figure": 7, "sample": 4, "note": 2}
        if record not in lengths:
            raise Failed(f"unknown record: {line[:60]}")
        if len(fields) != lengths[record] or not all(fields):
            raise Failed(f"{record} needs {lengths[record]} fields: {line[:60]}")
        getattr(self, "add_" + record)(*fields)

    def add_figure(self, case, figure, kind, goal, unit, ours, reference):
        if (case, figure) in self.figures:
            raise Failed(f"figure declared twice: {case} {figure}")
        if kind != "value" and kind not in RATIO:
            raise Failed(f"unknown kind: {kind}")
        try:
            report.goal_parts(goal)
        except ValueError as error:
            raise Failed(error) from None
        self.figures[case, figure] = {"kind": kind, "goal": goal, "unit": unit,
                                      "ours": ours, "reference": reference}
        self.samples[case, figure] = []

    def add_sample(self, case, figure, ours, reference):
        if (case, figure) not in self.figures:
            raise Failed(f"sample of an undeclared figure: {case} {figure}")
        ratio = self.figures[case, figure]["kind"] in RATIO
        self.samples[case, figure].append(
            (number(ours, ratio), number(reference, True) if ratio else None))

    def add_note(self, case, text):
        self.notes.append((case, text))

    def rows(self):
        if not self.figures and not self.notes:
            raise Failed("no figures")
        rows = []
        for (case, figure), declared in self.figures.items():
            samples = self.samples[case, figure]
            if not samples:
                raise Failed(f"figure without samples: {case} {figure}")
            rows.append({"suite": self.name, "case": case, "figure": figure, **declared,
                         **summary(declared["kind"], declared["goal"], samples)})
        blank = dict.fromkeys(report.COLUMNS, "-")
        rows += [{**blank, "suite": self.name, "case": case, "figure": text, "kind": "note"}
                 for case, text in self.notes]
        return rows


def quantile(ordered, q):
    place = q * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def median(values):
    return quantile(sorted(values), 0.5)


def summary(kind, goal, samples):
    """The statistics of one figure, as the strings of its TSV row."""
    ratio = RATIO.get(kind)
    values = sorted(ratio(*sample) if ratio else sample[0] for sample in samples)
    middle = median(values)
    width = quantile(values, 0.75) - quantile(values, 0.25)
    spread = width / abs(middle) if middle else math.inf if width else 0.0
    stats = {"min": values[0], "median": middle, "max": values[-1], "spread": spread,
             "ours_median": median([ours for ours, _ in samples])}
    if ratio:
        stats["reference_median"] = median([reference for _, reference in samples])
    text = {name: f"{value:.9g}" for name, value in stats.items()}
    return {"reference_median": "-", **text, "n": str(len(values)), "result": judge(goal, middle)}


def judge(goal, value):
    parts = report.goal_parts(goal)
    if parts is None:
        return "-"
    operator, bound = parts
    return "ok" if report.COMPARE[operator](value, bound) else "miss"


def run_command(suite, args, mpi, bin_dir):
    """Adds what one command prints; Failed or OSError say why it cannot be used."""
    problem = None
    # what figures are compared with syncs nothing
    environment = {"WEIR_DURABLE": "disable", **os.environ, **ENVIRONMENT[mpi],
                   "WEIR_BENCH_BIN": str(bin_dir.resolve())}
    with subprocess.Popen(args, stdout=subprocess.PIPE, env=environment, encoding="utf-8",
                          errors="replace") as process:
        for count, line in enumerate(process.stdout, 1):
            line = line.rstrip()
            if problem or not line:
                continue
            try:
                suite.add(line)
            except Failed as error:
                problem = f"output line {count}: {error}"
                continue
            record, case, text = line.split("\t")[:3]
            if record != "sample":
                print(f"{suite.name}: {case}: {text}", file=sys.stderr, flush=True)
    status = process.returncode
    if status:
        raise Failed(f"exit status {status}" if status > 0 else f"killed by signal {-status}")
    if problem:
        raise Failed(problem)


def run_suite(name, commands, mpi, bin_dir):
    suite = Suite(name)
    for args in commands:
        run_command(suite, args, mpi, bin_dir)
    return suite.rows()


def run_all(options, suites):
    """({suite: rows}, [reasons of the suites that failed]); writes the TSV of each good one."""
    results, reasons = {}, []
    for name in [options.suite] if options.suite else suites:
        # A suite that fails must not leave the figures of an earlier run on the page.
        path = options.build / "bench" / f"{name}.tsv"
        path.unlink(missing_ok=True)
        commands = expand(suites[name][0], options.mpi, options.build / "bin")
        commands = [args + ["--quick"] * options.quick for args in commands]
        try:
            results[name] = run_suite(name, commands, options.mpi, options.build / "bin")
            report.write_tsv(path, results[name])
        except Failed as error:
            reasons.append(f"suite {name}: {error}")
        except OSError as error:
            reasons.append(f"suite {name}: {error.filename}: {error.strerror}")
    return results, reasons


def parse_arguments():
    parser = argparse.ArgumentParser(description="Run the benchmark suites of suites.txt.")
    parser.add_argument("--mpi", required=True, choices=LAUNCH, help="MPI flavour of the build")
    parser.add_argument("--build", required=True, type=pathlib.Path, help="build folder")
    parser.add_argument("--suite", metavar="NAME", help="run this suite only")
    parser.add_argument("--quick", action="store_true", help="few repetitions; leaves --docs alone")
    parser.add_argument("--docs", metavar="FILE", type=pathlib.Path, help="page to rewrite")
    parser.add_argument("--strict", action="store_true", help="fail when a goal is missed")
    return parser.parse_args()


def main():
    options = parse_arguments()
    suites = read_suites(HERE / "suites.txt")
    if options.suite and options.suite not in suites:
        sys.exit(f"run.py: no suite {options.suite}; there are: {', '.join(suites)}")
    (options.build / "bench").mkdir(parents=True, exist_ok=True)
    results, reasons = run_all(options, suites)

    titles = {name: title for name, (_, title) in suites.items()}
    measured = report.measured(options.mpi, len(os.sched_getaffinity(0)))
    report.write_page(options.build / "bench", titles, measured, options.quick)
    if options.docs and not options.quick:
        report.update_docs(options.docs, titles, results, options.mpi, measured)
    rows = [row for suite_rows in results.values() for row in suite_rows]
    print(report.plain_table(rows))
    for reason in reasons:
        print(f"run.py: {reason}", file=sys.stderr)
    missed = any(row["result"] == "miss" for row in rows)
    return 1 if reasons or (options.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
