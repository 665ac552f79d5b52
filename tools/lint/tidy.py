#!/usr/bin/python3
"""Runs clang-tidy over the files of src in a build folder; skips those already found clean."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOBS = os.cpu_count()
# Of a function so many states are looked at, a third of what clang does by itself: the few functions
# with more take most of the time. WEIR_TEST_LONG=1 looks at all that clang would.
STATES = None if os.environ.get("WEIR_TEST_LONG") else 75000
DIAGNOSTIC = re.compile(r"^(?:(.+?):(\d+):\d+: )?(?:error|warning): (.*)", re.M)


def sources(build):
    """The first compile command of each file of src: a second one in the same run makes
    clang-tidy 14 see uninitialised va_lists."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT / "src"):
            entries.setdefault(path, entry)
    return entries


def shared_state():
    """What every result depends on: the tool, its settings, all headers of the project."""
    version = subprocess.check_output(["clang-tidy", "--version"])
    state = hashlib.sha256(version + str(STATES).encode())
    headers = [*ROOT.glob("src/**/*.h"), *ROOT.glob("include/**/*.h")]
    for path in [ROOT / ".clang-tidy", *sorted(headers)]:
        state.update(f"{path}\0".encode() + path.read_bytes() + b"\0")
    return state


def key_of(state, path, entry):
    key = state.copy()
    key.update(json.dumps(entry, sort_keys=True).encode() + path.read_bytes())
    return key.hexdigest()


def run(folder, path):
    """The findings about one file."""
    # The commands may be gcc's, with warnings clang does not know.
    extra = ["-Wno-unknown-warning-option"]
    if STATES:
        extra += ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={STATES}"]
    tidy = subprocess.run(["clang-tidy", "-p", folder, "--quiet",
                           *[f"--extra-arg={word}" for word in extra], str(path)],
                          capture_output=True, text=True)
    findings = []
    for file, line, text in DIAGNOSTIC.findall(tidy.stdout):
        file = os.path.relpath(file or path, ROOT)
        findings.append(f"{file}:{line or 1}: {text}")
    if tidy.returncode and not findings:
        last = (tidy.stderr.strip().splitlines() or ["no message"])[-1]
        findings.append(f"{os.path.relpath(path, ROOT)}:1: clang-tidy failed: {last}")
    return findings


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tidy.py BUILD_DIR")
    build = Path(sys.argv[1]).resolve()
    if not (build / "compile_commands.json").exists():
        sys.exit(f"{sys.argv[1]}/compile_commands.json:1: missing")
    entries = sources(build)
    if not entries:
        sys.exit(f"{sys.argv[1]}/compile_commands.json:1: names no file of src")
    cache = build / "tidy-cache"
    clean = set(cache.read_text().split()) if cache.exists() else set()
    state = shared_state()
    keys = {path: key_of(state, path, entry) for path, entry in entries.items()}
    todo = [path for path in keys if keys[path] not in clean]
    todo.sort(key=lambda path: path.stat().st_size, reverse=True)  # so that the cores end together
    with ThreadPoolExecutor(JOBS) as pool, tempfile.TemporaryDirectory() as folder:
        Path(folder, "compile_commands.json").write_text(json.dumps(list(entries.values())))
        results = dict(zip(todo, pool.map(lambda path: run(folder, path), todo)))
    passed = [keys[path] for path in keys if not results.get(path)]
    cache.write_text("".join(key + "\n" for key in passed))
    findings = sorted({finding for found in results.values() for finding in found})
    print("\n".join(findings) or "tidy: ok")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
