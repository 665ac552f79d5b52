#!/usr/bin/python3
"""Checks the laws about who may include and call what: src/rooms.txt and LAWS below."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = "src/rooms.txt"

CALL = r"(?<![\w.>])(?:%s)\s*\("
CLI = r"src/front/cli/"
# (what, where it is allowed, complaint); both are regular expressions, paths are from the root.
LAWS = [
    # who has started the command is no tunable
    (r"\b(?:secure_getenv|getenv|environ|__environ)\b",
     r"src/base/tunables[^/]*\.c$|src/front/cli/(launched|quick_start|run_environment|terminal)\.c$",
     "only the tunables table reads the environment"),
    # EAF has a call that prints, which is what it is for
    (CALL % "v?f?printf|puts|putchar|perror", CLI + r"|src/front/eaf/eaf\.c$",
     "the library never prints"),
    (CALL % "v?dprintf", CLI + r"|src/base/log\.c$", "only the log sink prints"),
    # an interpreter that ends by an exception ends the ranks that would wait for it
    (CALL % "exit|_exit|_Exit|quick_exit|abort|P?MPI_Abort", CLI + r"|src/front/python/python_module",
     "the library never exits"),
    (CALL % "u?sleep|(?:clock_)?nanosleep|sched_yield|thrd_sleep|thrd_yield",
     r"src/base/wait\.c$", "only the wait primitive sleeps or yields"),
]
MPI_H = re.compile(r"src/transport/mpi|src/weir_mpi\.[ch]$|src/front/(?:mpiio|dra|eaf|cli)/"
                   r"|include/weir/weir\.h$")
INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.M)
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)

findings = []


def find(path, line, text):
    findings.append(f"{path}:{line}: {text}")


def strip(source, strings=True):
    """The source with comments, and strings if wanted, blanked; lines stay where they are."""
    def blank(match):
        text = match.group()
        if text[0] == "/":
            return re.sub(r"[^\n]", " ", text)
        return text[0] + " " * (len(text) - 2) + text[0] if strings else text
    return TOKEN.sub(blank, source)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def read_table():
    rooms, headers = {}, {}
    for number, line in enumerate(Path(TABLE).read_text().splitlines(), 1):
        name, colon, rest = line.split("#")[0].partition(":")
        name, names = name.strip(), rest.split()
        if not name:
            continue
        for other in names:
            if other not in rooms and other != "public":
                find(TABLE, number, f"'{other}' is not a room defined above this line")
        is_header = name.startswith("header ")
        if not colon or name in rooms or is_header and len(names) != 1:
            find(TABLE, number, "neither 'room: rooms' (once) nor 'header weir/x.h: room'")
        elif is_header:
            headers[name.split()[1]] = names[0]
        else:
            rooms[name] = set(names)
    return rooms, headers


def target(path, name, headers):
    """The room an include leads to, its file, and whether that is a public header."""
    if "/" not in name and (path.parent / name).exists():
        name = (path.parent / name).relative_to(path.parts[0]).as_posix()
    if name.startswith("weir/"):
        return headers.get(name), Path("include", name), True
    return os.path.dirname(name) or ".", Path("src", name), False


def check_include(path, room, name, rooms, headers):
    """What is wrong with an include of ours, or None."""
    to, file, public = target(path, name, headers)
    if to is None or not file.exists():
        return f'"{name}" is no header of a room, of this folder or of include/weir'
    if path.parts[0] == "include" and not public:
        return f'"{name}" is not installed, so a public header cannot include it'
    allowed = rooms.get(room, {"public"})
    if to == room or to in allowed or public and "public" in allowed:
        return None
    return f'{room} may not include "{name}" ({to})'


def check_file(path, rooms, headers):
    where = path.as_posix()
    if path.parts[0] == "include":
        room = headers.get(path.relative_to("include").as_posix())
        if room is None:
            return find(where, 1, f"public header without a 'header' line in {TABLE}")
    else:
        room = path.parent.relative_to("src").as_posix()
        if room not in rooms:
            return find(where, 1, f"{path.parent} is not a room of {TABLE}")
    source = path.read_text(errors="replace")
    for match in INCLUDE.finditer(strip(source, strings=False)):
        quote, name = match.groups()
        line = line_of(source, match.start(1))
        if name == "mpi.h" and not MPI_H.match(where):
            find(where, line, "<mpi.h> is not allowed here")
        elif name != "mpi.h" and (quote == '"' or name.startswith("weir/")
                                  or os.path.dirname(name) in rooms):
            wrong = check_include(path, room, name, rooms, headers)
            if wrong:
                find(where, line, wrong)
    code = strip(source)
    for law, allowed, complaint in LAWS:
        if not re.match(allowed, where):
            for match in re.finditer(law, code):
                word = match.group().rstrip("( \t\n")
                find(where, line_of(code, match.start()), f"{word}: {complaint}")


def check_names(rooms):
    seen = {}
    for top in ("src", "tests", "bench", "examples"):
        for path in sorted(Path(top).rglob("*")):
            where = path.as_posix()
            if "__pycache__" in path.parts:
                continue
            if path.is_dir():
                room = path.relative_to(top).as_posix()
                if top == "src" and any(path.rglob("*.[ch]")) and not any(
                        (r + "/").startswith(room + "/") for r in rooms):
                    find(where, 1, f"folder is not a room of {TABLE}")
            elif path.name != "CMakeLists.txt" and seen.setdefault(path.name, where) != where:
                find(where, 1, f"has the same name as {seen[path.name]}")


def main():
    os.chdir(ROOT)
    rooms, headers = read_table()
    for top in ("src", "include"):
        for path in sorted(Path(top).rglob("*.[ch]")):
            check_file(path, rooms, headers)
    check_names(rooms)
    print("\n".join(findings) or "rooms: ok")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
