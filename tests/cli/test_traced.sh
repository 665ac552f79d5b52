#!/bin/sh
# Traces of programs that reach the library through its other doors: Fortran, Python, disk resident arrays.
# usage: test_traced.sh WEIR FOLDER_OF_EXAMPLES FOLDER_OF_PYTHON LAUNCHER...
set -eu
weir=$1 examples=$2 python=$3
shift 3
launcher=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# traced DOOR MOVED COMMAND...: two ranks, who have moved so many bytes at least.
traced() {
    door=$1 moved=$2
    shift 2
    mkdir "$door"
    WEIR_TRACE="$door-trace" $launcher 2 "$@" >"$door/said" 2>&1 || { cat "$door/said"; return 1; }
    "$weir" report "$door-trace" --json >"$door/report.json"
    /usr/bin/python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["ranks"] == r["traces"] == 2 and r["complete"], r
assert sum(r["moved"].values()) >= int(sys.argv[2]) and r["calls"] and r["files"], r' "$door/report.json" $moved
}

cat >read.py <<'END'
import weir

with weir.open("a.npy", comm="world") as a, a.collective:
    n = a.shape[1] // a.ranks
    mine = a[:, n * a.rank : n * a.rank + n]
END
"$weir" create a.npy --shape 400,300 --iota
found=0
if [ -x "$examples/fortran/heat" ]; then
    traced fortran 58720256 "$examples/fortran/heat" "$work"
    found=1
fi
if [ -d "$python/weir" ]; then
    PYTHONPATH=$python traced python 960000 /usr/bin/python3 read.py
    found=1
fi
if [ -x "$examples/dra_matmul" ]; then
    traced dra 7372800 "$examples/dra_matmul" "$work"
    found=1
fi
[ $found = 1 ] || { echo "no other door is built"; exit 77; }
