#!/usr/bin/python3
"""Arrays in tiles whose makers are killed, run out of space, or are watched while they write: what has
the name is whole, and so is each tile. usage: tiles_life.py WEIR FORMATS_TOOL MPIRUN..."""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

from formats_support import Refused, Tool

WEIR, TOOL, MPIRUN = sys.argv[1], sys.argv[2], sys.argv[3:]


def run(*arguments, ranks=0, **more):
    before = [*MPIRUN, str(ranks)] if ranks else []
    return subprocess.run([*before, WEIR, *map(str, arguments)], capture_output=True, text=True, **more)


def must(*arguments, **more):
    ended = run(*arguments, **more)
    assert not ended.returncode, ended


def names(folder):
    return sorted(p.name for p in folder.iterdir())


# --- killed ---

def kill_maker(folder, new, values):
    """Once it has made some tiles; whether it was not done by then."""
    maker = Tool(TOOL, folder)
    thread = threading.Thread(target=maker.write, args=(random.Random(1), folder / new, values),
                              kwargs={"tile": (2, 2), "codec": "gzip"})
    thread.start()
    while not list(folder.glob("*.partial-*/[c0]*")) and thread.is_alive():
        time.sleep(0.001)
    maker.process.kill()
    thread.join()
    return bool(list(folder.glob("*.partial-*")))


def check_killed(tool, folder):
    rng = random.Random(1)
    values = np.frombuffer(rng.randbytes(64 * 64), "u1").reshape(64, 64)
    for new in ("new.zarr", "new.h5:/x"):
        file = folder / new.partition(":")[0]
        for kept in (False, True):
            if kept:
                tool.write(rng, folder / new, values[:8], tile=(4, 4), codec="gzip")
            assert kill_maker(folder, new, values), "nobody was killed in time"
            assert file.exists() == kept, names(folder)
            if kept:
                assert tool.read(rng, folder / new)[1].tobytes() == values[:8].tobytes()
            for left in folder.glob("*.partial-*"):
                told = run("info", left)
                assert told.returncode == 1 and "is no array" in told.stderr and not told.stdout, told
                shutil.rmtree(left)
        tool.write(rng, folder / new, values, tile=(4, 4), codec="gzip")
        assert tool.read(rng, folder / new)[1].tobytes() == values.tobytes()


def old_file(folder, libver="latest"):
    """Of another program, and what it holds."""
    values = np.arange(5000.).reshape(50, 100)
    with h5py.File(folder / "old.h5", "w", libver=libver) as out:
        out.create_dataset("g/a", data=values, chunks=(10, 10), compression="gzip")
        out["g"].attrs["said"] = "kept"
    return values


def check_old(folder, values, *more):
    """It is as it was, but for names that are no array's, and those."""
    with h5py.File(folder / "old.h5") as there:
        assert there["g/a"][...].tobytes() == values.tobytes() and there["g"].attrs["said"] == "kept"
        found = [name for name in [*there, *there["g"]] if ".partial-" not in name]
        assert sorted(found) == sorted(["g", "a", *more]), found


def check_joining(folder):
    """Who adds a dataset to a file is killed, or interrupted, or told to stop: the rest is intact."""
    values = old_file(folder)
    for codec in ("", "gzip"):
        for end in (signal.SIGKILL, signal.SIGINT):
            maker = subprocess.Popen(
                [WEIR, "create", f"{folder}/old.h5:/g/b", "--shape", "4000,4000", "--random", "1",
                 "--chunk", "100,100", *(["--codec", codec] if codec else [])],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, "WEIR_FAULT": "delay:2000"})
            before = (folder / "old.h5").stat().st_mtime_ns
            while (folder / "old.h5").stat().st_mtime_ns == before and maker.poll() is None:
                time.sleep(0.001)
            time.sleep(0.05)
            maker.send_signal(end)
            assert maker.wait(), "it was not stopped in time"
            check_old(folder, values)
            for left in folder.glob("*.partial-*"):
                shutil.rmtree(left)
    must("create", f"{folder}/old.h5:/g/b", "--shape", "40,40", "--iota", ranks=3)
    check_old(folder, values, "b")
    told = run("create", f"{folder}/old.h5:/g", "--shape", "4")
    assert told.returncode and "something of that name" in told.stderr, told
    check_old(folder, values, "b")


def check_limits(folder):
    """A file that may not grow; one whose free space has old data; one that others may not read."""
    for libver in ("earliest", "latest"):
        for codec in ([], ["--codec", "gzip"]):
            values = old_file(folder, libver)
            told = run("create", f"{folder}/old.h5:/g/b", "--shape", "1600,1000", "--random", "1", "--dtype",
                       "u1", *codec, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                           (1700000, 1700000)))
            assert told.returncode == 1 and "File too large" in told.stderr, told
            check_old(folder, values)
            for left in folder.glob("*.partial-*"):
                shutil.rmtree(left)
    for add in (lambda out: out.attrs.update(said="kept"), lambda out: out.create_group("empty"),
                lambda out: out.update(soft=h5py.SoftLink("/x")), lambda out: out.update(y=3)):
        with h5py.File(folder / "one.h5", "w") as out:
            out["x"] = np.arange(5)
            add(out)
        before = (folder / "one.h5").read_bytes()
        told = run("create", f"{folder}/one.h5:/x", "--shape", "4", "--overwrite")
        assert told.returncode == 1 and "other data" in told.stderr, told
        assert (folder / "one.h5").read_bytes() == before
    with h5py.File(folder / "free.h5", "w", fs_strategy="fsm", fs_persist=True, fs_threshold=1) as out:
        out["a"], out["b"], out["c"] = np.full(9000, 7.25), np.full(200, 3.), np.full(9000, 7.25)
        del out["a"]
    must("create", f"{folder}/free.h5:/new", "--shape", "90,90", ranks=2)
    with h5py.File(folder / "free.h5") as there:
        assert there["new"].id.get_offset() < there["b"].id.get_offset(), "no space was used again"
        assert not there["new"][...].any() and (there["b"][...] == 3).all()


# --- watched ---

def check_watched(folder, shard):
    """Ranks write rows 2 to 6 of all tiles of 8 rows again and again, one reads them: in each tile they
    are what was written together, and the rest never changes."""
    rng, path = random.Random(2), folder / "watched.zarr"
    for part in ("writer", "reader"):
        (folder / part).mkdir(exist_ok=True)
    writer, reader = Tool(TOOL, folder / "writer"), Tool(TOOL, folder / "reader")
    values = np.zeros((8, 64), "i8") - 1
    writer.write(rng, path, values, tile=(8, 8), shard=shard, codec="zstd")
    over, seen = threading.Event(), set()

    def write():
        for k in range(150):
            writer.change(random.Random(k), path, "2:6:1,0:64:1", np.full((4, 64), k, "i8"))
        over.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not over.is_set():
        got = reader.read(rng, path, most=1)[1]
        assert (got[:2] == -1).all() and (got[6:] == -1).all(), got
        for tile in range(8):
            inside = got[2:6, tile * 8:tile * 8 + 8]
            assert (inside == inside[0, 0]).all(), inside
            seen.add(int(inside[0, 0]))
    thread.join()
    assert len(seen) > 3 and (reader.read(rng, path)[1][2:6] == 149).all(), seen
    shutil.rmtree(path)


# --- a full disk ---

def mount(folder):
    """A file system of 2 MiB, in this process's own name space."""
    folder.mkdir()
    return not subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder],
                              stderr=subprocess.DEVNULL).returncode


def check_full(folder):
    full = folder / "full"
    if not mount(full):
        print("nothing can be mounted: a full disk is not tried")
        return
    try:
        fill_disk(folder, full)
    finally:
        subprocess.run(["umount", full], check=True)


def fill_disk(folder, full):
    """By random bytes, which do not compress, beside an old array, which is intact."""
    tool, rng = Tool(TOOL, folder), random.Random(3)
    values = np.frombuffer(rng.randbytes(4 << 20), "u1").reshape(1024, 4096)
    small = values[:32, :64]
    tool.write(rng, folder / "values.zarr", values, tile=(64, 1024), codec="gzip")
    for new in ("new.zarr", "new.h5:/x"):
        for old, ranks in ((False, 0), (True, 3)):
            if old:
                tool.write(rng, full / new, small, tile=(16, 16), codec="gzip")
            before = names(full)
            told = run("convert", folder / "values.zarr", full / new, "--quiet", "--overwrite", ranks=ranks)
            lines = [line for line in told.stderr.splitlines() if line.startswith("weir ")]
            assert told.returncode and len(lines) == 1 and "No space left" in lines[0], told
            try:
                tool.write(rng, full / new, values, tile=(64, 1024), codec="gzip")
            except Refused as refused:
                assert "No space left" in str(refused) or "write" in str(refused), refused
            else:
                raise AssertionError("there was space")
            assert names(full) == before, (before, names(full))
            assert not old or tool.read(rng, full / new)[1].tobytes() == small.tobytes()
            must("create", full / "after.zarr", "--shape", "64,64", "--random", "1", "--dtype", "u1")
            shutil.rmtree(full / "after.zarr")
        tool.write(rng, full / new, small, tile=(16, 16), codec="gzip")
    with h5py.File(full / "new.h5") as there:
        assert there["x"][...].tobytes() == small.tobytes()
    kept = old_file(full)
    for codec in ([], ["--codec", "gzip"]):
        told = run("convert", folder / "values.zarr", f"{full}/old.h5:/g/b", "--quiet", *codec, ranks=3)
        assert told.returncode and "No space left" in told.stderr, told
        check_old(full, kept)
    for path in full.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    kept = old_file(full)
    told = run("create", full / "old.h5:/g/b", "--shape", "1200,1000", "--random", "1", "--dtype", "u1",
               "--codec", "gzip")
    assert told.returncode and "did not get its name" in told.stderr, told  # it fits once
    check_old(full, kept)
    assert list(full.glob("*.partial-*/0.0")) and "partial" not in str(list(h5py.File(full / "old.h5")["g"]))


def main():
    if "LIFE_INSIDE" not in os.environ and not subprocess.run(
            ["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        os.execvpe("unshare", ["unshare", "-m", *sys.orig_argv], {**os.environ, "LIFE_INSIDE": "yes"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_full(folder)
        (folder / "killed").mkdir()
        check_killed(Tool(TOOL, folder), folder / "killed")
        (folder / "joining").mkdir()
        check_joining(folder / "joining")
        check_limits(folder / "joining")
        check_watched(folder, None)
        check_watched(folder, (8, 24))


main()
