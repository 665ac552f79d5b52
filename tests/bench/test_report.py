#!/usr/bin/python3
"""Tests bench/run.py and bench/report.py on copies, with suite programs that are shell scripts."""
import importlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

GOOD = """\
figure	vector	pack	speed	>=0.9	s	weir	memcpy
sample	vector	pack	1	1
sample	vector	pack	1	4
sample	vector	pack	1	2
sample	vector	pack	2	6
sample	vector	pack	4	20
figure	slow	pack	speed	>=0.9	s	weir	memcpy
sample	slow	pack	2	1
figure	nested	pack	slowdown	<=1.2	s	weir	flat
sample	nested	pack	0.0012	0.001
figure	deep	pack	slowdown	<=1.2	s	weir	flat
sample	deep	pack	1.3	1
figure	seek	time	value	<200	ns	weir	-
sample	seek	time	100	-
sample	seek	time	150	-
figure	seek	limit	value	<200	ns	weir	-
sample	seek	limit	200	-
figure	open	pack	speed	-	s	weir	memcpy
sample	open	pack	1	3
note	a|b <"c">	all of it cached
"""
BAD = {
    "noise": "unknown record",
    "sample\tvector\tpack\t1": "sample needs 4 fields",
    "note\t\ttext": "note needs 2 fields",
    "sample\tother\tpack\t1\t1": "undeclared figure",
    "sample\tvector\tpack\tfast\t1": "not a number",
    "sample\tvector\tpack\t0\t1": "not a positive number",
    "sample\tseek\ttime\tnan\t-": "not a finite number",
    "figure\tvector\tpack\tspeed\t-\ts\ta\tb": "declared twice",
    "figure\tnew\tpack\tswift\t-\ts\ta\tb": "unknown kind",
    "figure\tnew\tpack\tspeed\tfast\ts\ta\tb": "bad goal",
    "figure\tnew\tpack\tspeed\t-\ts\ta\tb": "without samples",
}


class Bench:
    """A copy of the reporter with its own suites, build folder and docs."""

    def __init__(self, source, folder):
        self.folder, self.docs = folder, folder / "docs" / "benchmarks.md"
        self.results = folder / "build" / "bench"
        (folder / "build" / "bin").mkdir(parents=True)
        for name in ("run.py", "report.py"):
            shutil.copy(source / "bench" / name, folder)
        self.suites("one", "two")
        self.program("one", GOOD)
        self.program("two", GOOD)

    def suites(self, *names):
        lines = [f"{name} | {name}.sh | Title of {name}\n" for name in names]
        (self.folder / "suites.txt").write_text("".join(lines))

    def program(self, name, output, status=0):
        path = self.folder / "build" / "bin" / f"{name}.sh"
        path.write_text(f"#!/bin/sh\necho \"$@\" >{path}.args\ncat <<'END'\n{output}END\n"
                        f"exit {status}\n")
        path.chmod(0o755)

    def run(self, *arguments, status=0):
        done = subprocess.run(
            ["/usr/bin/python3", self.folder / "run.py", "--mpi", "openmpi", "--build",
             self.folder / "build", "--docs", self.docs, *arguments],
            capture_output=True, text=True, check=False)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done

    def rows(self, name):
        header, *lines = (self.results / f"{name}.tsv").read_text().splitlines()
        return [dict(zip(header.split("\t"), line.split("\t"))) for line in lines]


def test_statistics_and_goals(bench):
    table = bench.run().stdout.splitlines()
    rows = {(row["case"], row["figure"]): row for row in bench.rows("one")}
    wanted = {"n": "5", "min": "1", "median": "3", "max": "5", "spread": "0.666666667",
              "ours_median": "1", "reference_median": "4", "result": "ok"}
    assert wanted.items() <= rows["vector", "pack"].items(), rows["vector", "pack"]
    wanted = {"median": "125", "ours_median": "125", "reference_median": "-", "result": "ok"}
    assert wanted.items() <= rows["seek", "time"].items(), rows["seek", "time"]
    results = {key: row["result"] for key, row in rows.items() if row["kind"] != "note"}
    assert results == {
        ("vector", "pack"): "ok", ("slow", "pack"): "miss", ("nested", "pack"): "ok",
        ("deep", "pack"): "miss", ("seek", "time"): "ok", ("seek", "limit"): "miss",
        ("open", "pack"): "-"}, results
    assert table[0].split() == ["case", "figure", "goal", "median", "spread", "result"]
    assert len(table) == 1 + 2 * len(results)
    assert table[2].split() == ["slow", "pack", ">=0.9", "0.50", "0.0", "%", "miss"], table[2]


def test_strict_fails_on_a_miss(bench):
    bench.run("--strict", status=1)
    bench.program("two", GOOD.split("figure\tslow")[0])
    bench.run("--strict", "--suite", "two")


def test_page_is_self_contained(bench):
    bench.run("--suite", "one")
    bench.program("two", GOOD.split("figure\tslow")[0])
    bench.run("--suite", "two")
    page = (bench.results / "index.html").read_text()
    assert page.count('<svg class="chart"') == 3  # speed and slowdown of one, speed of two
    assert "Title of one" in page and "Title of two" in page
    assert "a|b &lt;&quot;c&quot;&gt;: all of it cached" in page
    for word in ("http", "src=", "href", "url(", "@import", "<script"):
        assert word not in page, word


def test_failures_spare_the_other_suites(bench):
    bench.run("--quick")
    for line, reason in BAD.items():
        bench.program("one", GOOD + line + "\n")
        errors = bench.run("--quick", status=1).stderr.splitlines()
        assert errors[-1].startswith("run.py: suite one: ") and reason in errors[-1], errors
    for output, status, reason in ((GOOD, 3, "exit status 3"), ("", 0, "no figures")):
        bench.program("one", output, status)
        assert reason in bench.run("--quick", status=1).stderr
    assert not (bench.results / "one.tsv").exists() and bench.rows("two")
    bench.suites("one", "two", "absent")
    assert "suite absent: " in bench.run("--quick", "--suite", "absent", status=1).stderr
    bench.run("--suite", "unknown", status=1)


def test_docs_keep_other_sections(bench):
    bench.run("--suite", "two")
    section = bench.docs.read_text().split("<!-- suite two (openmpi) -->")[1]
    assert "| slow | pack | >=0.9 | 0.50 | 0.50 | 0.0 % | memcpy | miss |" in section
    assert "| seek | time | <200 ns | 100 ns | 125 ns | 20.0 % | - | ok |" in section
    assert "Title of two" in section and "Open MPI on " in section
    old = "<!-- suite {} -->\nby hand\n\n<!-- end -->\n"
    kept = [old.format("one (mpich)"), old.format("two (mpich)"), old.format("retired (openmpi)")]
    bench.docs.write_text("old header\n" + "".join(kept) + bench.docs.read_text())
    bench.run("--suite", "one")
    text = bench.docs.read_text()
    assert text.startswith("# Benchmarks\n") and text.count("# Benchmarks") == 1
    assert "old header" not in text and section.strip() in text
    marks = [line.split()[2:4] for line in text.splitlines() if line.startswith("<!-- suite")]
    assert marks == [["one", "(mpich)"], ["one", "(openmpi)"], ["two", "(mpich)"],
                     ["two", "(openmpi)"], ["retired", "(openmpi)"]], marks
    assert all(section in text for section in kept)
    bench.run()
    assert bench.docs.read_text() == text


def test_quick_leaves_docs_alone(bench):
    bench.run()
    before = bench.docs.read_text()
    bench.program("one", GOOD.replace("vector", "other"))
    bench.run("--quick", "--suite", "one")
    assert bench.docs.read_text() == before
    arguments = bench.folder / "build" / "bin" / "one.sh.args"
    assert arguments.read_text() == "--quick\n"
    bench.run("--suite", "one")
    assert arguments.read_text() == "\n" and bench.docs.read_text() != before


def test_mpirun_is_expanded(bench):
    sys.path.insert(0, str(bench.folder))
    run = importlib.import_module("run")
    bin_dir = pathlib.Path("b", "bin")
    assert run.expand("{mpirun 2,4} prog a", "mpich", bin_dir) == [
        ["mpiexec.mpich", "-n", "2", "b/bin/prog", "a"]]
    launch = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n"]
    assert run.expand("prog {mpirun 2,16}", "openmpi", bin_dir) == [
        ["b/bin/prog", *launch, "2"], ["b/bin/prog", *launch, "16"]]


def test_wide_range_is_logarithmic(bench):
    bench.program("one", "figure\ta\tb\tspeed\t>=2\ts\tw\tr\nsample\ta\tb\t1\t0.03\n"
                         "figure\tc\td\tspeed\t-\ts\tw\tr\nsample\tc\td\t1\t40000\n")
    bench.run("--quick", "--suite", "one")
    assert "logarithmic" in (bench.results / "index.html").read_text()


def main():
    sys.dont_write_bytecode = True
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(Bench(pathlib.Path(sys.argv[1]), pathlib.Path(folder)))


if __name__ == "__main__":
    main()
