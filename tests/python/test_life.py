"""Threads, processes, interrupts, and what is forgotten: nothing hangs, nothing crashes."""
import asyncio
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest

import weir


@pytest.fixture
def path(saved):
    return saved(np.arange(1000000.0).reshape(1000, 1000))


def test_requests(path, tmp_path):
    x = np.load(path)
    with weir.open(path, "r+") as a:
        requests = [a.iread(i) for i in range(50)]
        assert all(np.array_equal(r.wait(), x[i]) for i, r in enumerate(requests))
        r = a.iwrite(np.s_[0], np.zeros(1000))
        while not r.test():
            time.sleep(0.001)
        assert r.wait() is None and (a[0] == 0).all() and "over" in repr(r)
        out = np.empty(1000, "f4")
        assert a.iread(3, out).wait(timeout=10) is out and np.array_equal(out, x[3])
        with pytest.raises(ValueError):
            r.wait(-1)
    with weir.open(path, "r", hints="fault=eio:1;map=0;access=list") as a:
        r = a.iread(np.s_[:, 1])
        for _ in range(2):
            with pytest.raises(OSError):
                r.wait()
        assert "failed" in repr(r)


def test_await(path):
    async def both(a):
        first, second = a.iread(1), a.iread(2)
        return await asyncio.gather(wait(first), wait(second))

    async def wait(request):
        return await request
    with weir.open(path) as a:
        x, y = asyncio.run(both(a))
        assert x[0] == 1000 and y[0] == 2000


def test_forgotten(path, tmp_path):
    """Requests, arrays and loops that nobody closes."""
    a = weir.open(path)
    for i in range(20):
        a.iread(np.s_[i:i + 500])
    a.iread(np.s_[[1, 5]])
    del a
    b = weir.create(tmp_path / "b.npy", 5, "f8")
    b[...] = 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del b
        gc.collect()
    assert [w.category for w in told] == [RuntimeWarning]  # it may be half written
    assert not (tmp_path / "b.npy").exists() and len(os.listdir(tmp_path)) == 1
    loop = weir.slabs([weir.open(path)], memory="100K")
    next(loop)
    del loop


def test_closed_before_its_request(path):
    a = weir.open(path)
    r = a.iread(np.s_[:500])
    a.close()
    assert r.wait()[499, 0] == 499000


def test_threads(path):
    """Several threads in one array, and in arrays of their own, while others run Python."""
    x, wrong = np.load(path), []
    shared = weir.open(path)

    def work(number):
        rng = np.random.default_rng(number)
        with weir.open(path) as own:
            for _ in range(150):
                i, a = int(rng.integers(1000)), own if rng.random() < 0.5 else shared
                if not (np.array_equal(a[i], x[i]) and np.array_equal(a[:, i], x[:, i])):
                    wrong.append(i)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    shared.close()
    assert not wrong


def test_lock_is_free(path):
    """Another thread runs while one waits for storage."""
    with weir.open(path, hints="fault=bandwidth:20;map=0") as a:
        turns = [0]

        def count():
            while turns[0] >= 0:
                turns[0] += 1
                time.sleep(0.0005)
        thread = threading.Thread(target=count)
        thread.start()
        a[...]
        seen, turns[0] = turns[0], -10 ** 9
        thread.join()
        assert seen > 10


def test_close_in_use(path):
    """An array that another thread is reading is not closed under it."""
    a = weir.open(path, hints="fault=bandwidth:20;map=0")
    thread = threading.Thread(target=lambda: a[...])
    thread.start()
    time.sleep(0.1)
    with pytest.raises(ValueError, match="in use"):
        a.close()
    thread.join()
    a.close()


class Closing:
    """Closes an array while it is looked at."""

    def __init__(self, array):
        self.array = array

    def __index__(self):
        self.array.close()
        return 3

    def __array__(self, dtype=None):
        self.array.close()
        return np.ones(1000)


def test_closed_from_within(path):
    with weir.open(path, "r+") as a:
        for call in (lambda: a[Closing(a):], lambda: a.write(0, Closing(a)),
                     lambda: a[Closing(a)]):
            with pytest.raises(ValueError, match="in use"):
                call()
        assert a[7, 0] == 7000


def test_loops_and_closing(path, tmp_path):
    """An array that is closed ends the loops over it; their errors are raised then, also of loops
    that are gone."""
    a = weir.open(path)
    loop = weir.slabs([a], memory="100K")
    view = next(loop).inputs[0]
    a.close()
    assert list(loop) == [] and np.isfinite(view.sum())
    weir.create(tmp_path / "b.npy", (1000, 1000), "f8").close()
    for kept in ([], [None]):
        with weir.open(path) as a:
            b = weir.open(tmp_path / "b.npy", "r+", hints="fault=enospc:1")
            loop = weir.slabs([a], [b], memory="100K")
            slab = next(loop)
            slab.outputs[0][...] = 1
            next(loop)
            if kept:
                del loop, slab
            with pytest.raises(OSError):
                b.close()
            assert b.closed
    with pytest.raises(TypeError):
        type(view.base)()


def test_loop_of_two_threads(path):
    with weir.open(path, hints="fault=bandwidth:50;map=0") as a:
        loop, told = weir.slabs([a], memory="1M"), []

        def walk():
            try:
                for _ in loop:
                    pass
            except ValueError as error:
                told.append(str(error))
        threads = [threading.Thread(target=walk) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert told and all("another thread" in text for text in told)


def test_loop_and_fork(path):
    with weir.open(path) as a:
        loop = weir.slabs([a], memory="100K")
        next(loop)
        child = os.fork()
        if child == 0:
            try:
                next(loop)
            except ValueError:
                del loop
                gc.collect()
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert sum(1 for _ in loop) > 1


def _read_row(path):
    with weir.open(path) as a:
        return a[7, 0]


def _use(array):
    try:
        return array[7, 0]
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(path, method):
    with weir.open(path) as a, multiprocessing.get_context(method).Pool(2) as pool:
        assert a[7, 0] == 7000
        assert pool.map(_read_row, [path] * 4) == [7000] * 4
        assert pool.map(_use, [a] * 2) == [7000] * 2  # pickled


def test_fork_keeps_out(path):
    """A child does not use what its parent has open, nor close it."""
    a = weir.open(path, "r+")
    r = a.iread(np.s_[:])
    child = os.fork()
    if child == 0:
        good = "parent" in _use(a)
        try:
            r.wait()
            good = False
        except ValueError:
            pass
        del r, a
        gc.collect()
        good = good and _read_row(path) == 7000
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert r.wait()[7, 0] == 7000
    a.close()


def run(script, *args, **options):
    return subprocess.run([sys.executable, "-X", "dev", "-c", script, *args], capture_output=True,
                          text=True, timeout=60, **options)


EXITS = {
    "array": "a = weir.open(p)",
    "request": "a = weir.open(p); r = [a.iread(slice(i, i + 900)) for i in range(50)]",
    "only requests": "r = [weir.open(p).iread(slice(i, i + 900)) for i in range(50)]",
    "slabs": "a = weir.open(p); s = weir.slabs([a], memory='1M'); v = next(s).inputs",
    "cycle": "a = weir.open(p); l = [a, a.iread(0)]; l.append(l)",
    "thread": "import threading; a = weir.open(p)\n"
              "threading.Thread(target=lambda: [a[:, i] for i in range(300)]).start()",
    "daemon": "import threading, time; a = weir.open(p)\n"
              "threading.Thread(target=lambda: [a[:, i] for i in range(10**6)], daemon=True).start()"
              "\ntime.sleep(0.1)",
    "world": "a = weir.open(p, comm='world'); r = a.iread_all(); a.collective.__enter__()",
    "mpi4py": "from mpi4py import MPI; a = weir.open(p, comm=MPI.COMM_WORLD); r = a.iread_all()",
}


@pytest.mark.parametrize("name", EXITS)
def test_exit(path, name):
    if name == "mpi4py" and "openmpi" not in os.environ.get("WEIR_TEST_LAUNCHER", ""):
        pytest.skip("mpi4py has Open MPI")
    done = run("import sys, weir; p = sys.argv[1]\n" + EXITS[name], path)
    assert done.returncode == 0 and "Fatal" not in done.stderr, done.stderr


def test_new_array_at_exit(tmp_path):
    done = run("import sys, weir; a = weir.create(sys.argv[1], 3, 'f8'); a[...] = 2",
               str(tmp_path / "a.npy"))
    assert done.returncode == 0 and np.load(tmp_path / "a.npy").tolist() == [2] * 3
    done = run("import sys, weir; a = weir.create(sys.argv[1], 3, 'f8', overwrite=True)\na[0] = 5\n"
               "raise KeyError", str(tmp_path / "a.npy"))
    assert done.returncode == 1 and np.load(tmp_path / "a.npy").tolist() == [2] * 3
    assert "not get its name" in done.stderr and os.listdir(tmp_path) == ["a.npy"]


LEFT = """
import sys, weir
with weir.create(sys.argv[1], 100, "f8", comm="world") as a:
    a.write_all(slice(a.rank, None, a.ranks), 1)
    if a.rank == 1:
        1 / 0
    a.write_all(slice(a.rank, None, a.ranks), 2)
"""


STEPS = """
import sys, weir
weir.create(sys.argv[1] + ".other.npy", 4, "f8", comm="world").close()
with weir.open(sys.argv[1] + ".other.npy", comm="world") as a:
    if a.rank == 0:
        a.read_all()
1 / 0 if a.rank else 0
"""


@pytest.mark.parametrize("script", [STEPS, LEFT, LEFT.replace("with weir", "a = weir").replace(
    " as a:", "").replace("\n    ", "\n").replace("1 / 0", "  1 / 0")])
def test_one_rank_ends(tmp_path, script):
    """Ranks that wait for one that has ended by an exception do not wait for ever."""
    launcher = os.environ.get("WEIR_TEST_LAUNCHER")
    if not launcher:
        pytest.skip("no WEIR_TEST_LAUNCHER")
    done = subprocess.run([*launcher.split(), "2", sys.executable, "-c", script,
                           str(tmp_path / "a.npy")], capture_output=True, text=True, timeout=30)
    assert done.returncode != 0, done.stderr
    assert "ZeroDivisionError" in done.stderr or script == STEPS, done.stderr
    assert "all ranks end" in done.stderr and not (tmp_path / "a.npy").exists()


SLOW = """
import sys, time, weir, numpy as np
a = weir.open(sys.argv[1], "r+", hints="fault=bandwidth:8;map=0")
print("ready", flush=True)
try:
    %s
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

LONG = {
    "read": "a.read(dtype='c16')",
    "operator": "weir.transpose(a, sys.argv[1] + '.t.npy', memory='1M')",
    "slabs": "[0 for _ in weir.slabs([a], memory='300K')]",
    "wait": "a.iread().wait()",
}


@pytest.mark.parametrize("name", LONG)
def test_interrupt(saved, name):
    path = saved(np.zeros((1024, 8192)))
    child = subprocess.Popen([sys.executable, "-c", SLOW % LONG[name], path], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n", child.stderr.read()
    assert time.monotonic() - begin < 5
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert not os.path.exists(path + ".t.npy")


def test_no_leaks(path, tmp_path):
    """What many calls leave behind does not grow."""
    def rounds(number):
        for i in range(number):
            with weir.open(path, "r+") as a:
                a[i]
                a[[1, 2]]
                a[[1, 2], [3, 4]]
                a[0] = 1
                a[[3, 3]] = 2
                a.iread(i).wait()
                a.iread([1, 2])
                a.read(np.s_[:2], np.empty((2, 1000), ">f8"))
                for slab in weir.slabs([a], memory="4M"):
                    slab.inputs[0][0]
                weir.reduce(a, memory="4M")
                repr(a), a.attrs
                for wrong in (5000, "x", (0, 0, 0)):
                    try:
                        a[wrong]
                    except IndexError:
                        pass
            try:
                weir.open(path + ".none")
            except OSError:
                pass
    rounds(5)
    gc.collect()
    tracemalloc.start()
    rounds(10)  # until the free lists of the interpreter are full
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    rounds(25)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20000, grown
