#!/usr/bin/python3
"""Runs smoke.py under valgrind: no leak has a line of the library or of the extension in it, and no
error one of the extension: the library's tasks, which have stacks of their own, look like errors to
valgrind. The interpreter and NumPy have some of their own, and a thread that outlasts the program
keeps its stack's bookkeeping.
usage: valgrind.py SOURCE"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

source = Path(sys.argv[1])
if not shutil.which("valgrind"):
    sys.exit("valgrind is missing")
library = {path.name for path in source.glob("src/**/*.c")}
extension = {path.name for path in source.glob("src/front/python/*.c")}
with tempfile.TemporaryDirectory() as folder:
    log = Path(folder, "log")
    done = subprocess.run(
        ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--error-limit=no",
         f"--log-file={log}", "/usr/bin/python3", str(source / "tests/python/smoke.py"), folder],
        env={**os.environ, "PYTHONMALLOC": "malloc"})
    text = re.sub(r"^==\d+== ?", "", log.read_text(), flags=re.M)
blocks = text.split("\n\n")
found = [block for block in blocks if "allocate_dtv" not in block
         and (library if " lost in " in block else extension)
         & set(re.findall(r"\((\w+\.c):\d+\)", block))]
print("\n\n".join(found))
if done.returncode or "ERROR SUMMARY" not in text:
    sys.exit(f"smoke.py: exit status {done.returncode}\n{text[-2000:]}")
print(f"{len(found)} errors and leaks in {len(blocks)} reports")
sys.exit(bool(found))
