#!/bin/sh
# Runs the examples in Fortran; restart goes on with other numbers of ranks.
# usage: test_examples.sh FOLDER_OF_PROGRAMS LAUNCHER...
set -eu
programs=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
says() { grep -q "$1" "$work/out" || { echo "no \"$1\" in:"; cat "$work/out"; exit 1; }; }

"$@" 3 "$programs/heat" "$work" >"$work/out"
says '6 steps: 7340032 points right'
"$@" 3 "$programs/restart" "$work/state.npy" 4 >"$work/out"
says '3 ranks, steps 0 to 4, right: T'
"$@" 2 "$programs/restart" "$work/state.npy" 9 >"$work/out"
says '2 ranks, steps 4 to 9, right: T'
"$@" 3 "$programs/overlap" "$work/history.npy" >"$work/out"
says 'waited for'
