#!/usr/bin/python3
"""Checks the limits on the size of lines, functions and files; see exceptions.txt."""
import os
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from rooms import ROOT, strip  # noqa: E402

COLUMNS, FILE_LINES, FUNCTION_LINES, PARAMETERS = 100, 900, 80, 6
EXCEPTIONS = "tools/lint/exceptions.txt"
RULES = {"columns", "file-lines", "function-lines", "parameters", "preprocessor"}
# The only .c files of src with #if: those that meet the system, the processor, or a library that may
# be missing.
CONDITIONAL = re.compile(r"src/(base|front|hdf5)/|src/storage/[^/]*(posix|pool|uring|striped|mem)"
                         r"|src/codec/(blosc|crc32c|deflate|shuffle|zstd)\.c")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)|\b_Alignas\s*\(.*?\)", re.S)


def signature(lines, brace):
    """Name and number of parameters of the function whose opening brace is on lines[brace]."""
    first = brace
    while first > 0 and re.search(r"[^\s;}]\s*$", lines[first - 1]) and lines[first - 1][0] != "#":
        first -= 1
    text = ATTRIBUTE.sub("", " ".join(lines[first:brace]))
    match = re.search(r"(\w+)\s*\((?!\s*\*)|\(\s*\*\s*(\w+)\s*\(", text)
    if not match:
        return None, 0
    depth, commas, inside = 1, 0, ""
    for char in text[match.end():]:
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            break
        commas += char == "," and depth == 1
        inside += char
    return match[1] or match[2], 0 if inside.strip() in ("", "void") else commas + 1


def check_functions(lines):
    """Yields (line, function, rule, text). House style puts only a function's { in column 0."""
    brace = name = None
    for number, line in enumerate(lines):
        if line.startswith("{") and brace is None:
            brace = number
            name, parameters = signature(lines, brace)
            if parameters > PARAMETERS:
                yield number, name, "parameters", f"{name} has {parameters} parameters"
        elif line.startswith("}") and brace is not None:
            length = number - brace - 1
            if length > FUNCTION_LINES:
                yield brace, name, "function-lines", f"{name} has {length} lines"
            brace = None


def check_file(path):
    source = path.read_text(errors="replace")
    lines = source.splitlines()
    if len(lines) > FILE_LINES:
        yield 1, "*", "file-lines", f"{len(lines)} lines, at most {FILE_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(8)) > COLUMNS:
            yield number, "*", "columns", f"{len(line.expandtabs(8))} columns, at most {COLUMNS}"
    code = strip(source).splitlines()
    limits = {"function-lines": FUNCTION_LINES, "parameters": PARAMETERS}
    for number, name, rule, text in check_functions(code):
        yield number + 1, name, rule, f"{text}, at most {limits[rule]}"
    if path.parts[0] == "src" and path.suffix == ".c" and not CONDITIONAL.match(path.as_posix()):
        for number, line in enumerate(code, 1):
            if re.match(r"\s*#\s*(el)?if", line):
                yield number, "*", "preprocessor", "#if belongs in base, front, a backend or a codec"


def read_exceptions():
    """Exceptions by (path, function, rule), each with its line, and the findings about them."""
    exceptions, findings = {}, []
    for number, line in enumerate(Path(EXCEPTIONS).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"([^:\s]+):(\S+)\s+(\S+)\s+\S.*", line)
        if match and match[3] in RULES:
            exceptions[match.groups()] = number
        else:
            findings.append(f"{EXCEPTIONS}:{number}: not 'path:function rule reason'")
    return exceptions, findings


def main():
    os.chdir(ROOT)
    exceptions, findings = read_exceptions()
    used = set()
    for top in ("src", "include", "tests", "bench", "examples", "tools"):
        for path in sorted(Path(top).rglob("*.[ch]")):
            where = path.as_posix()
            for line, name, rule, text in check_file(path):
                keys = {(where, name, rule), (where, "*", rule)} & exceptions.keys()
                used |= keys
                if not keys:
                    findings.append(f"{where}:{line}: {text}")
    for key in exceptions.keys() - used:
        findings.append(f"{EXCEPTIONS}:{exceptions[key]}: no longer needed")
    print("\n".join(findings) or "sizes: ok")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
